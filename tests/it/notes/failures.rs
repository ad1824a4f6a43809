//! Paths, disks, processes and models' answers that fail while notes are read and written.

use super::*;
use humble::notes::{Vault, update_index};
use humble::search::{HybridQuery, Index, Matching, SearchTerms};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[tokio::test]
async fn a_truncated_note_is_not_saved_and_a_truncated_summary_has_a_remark() {
    let notes = NotesFixture::new(&[("tea.md", "Tea is hot.")]);
    notes.server.queue_reply(CHAT, cut_off("# Coff"));
    let why = notes
        .failure("create_note", json!({ "topic": "coffee" }))
        .await;
    let expected = "The note was not created. The model reached its token limit before the note \
                    was complete, so nothing was saved.";
    assert_eq!(why, expected);
    assert_eq!(names(&notes.vault), ["tea.md"]);
    notes.server.queue_reply(CHAT, cut_off("Tea is"));
    let arguments = json!({ "mode": "current_note", "note_path": "tea.md" });
    let summary = notes
        .call("summarize_notes", arguments)
        .await
        .expect("a summary");
    assert_eq!(summary["summary"], "Tea is");
    let remark = "The summary is incomplete: the model reached its token limit.";
    assert_eq!(summary["remarks"], json!([remark]));
}

#[tokio::test]
async fn an_answer_that_is_only_a_tool_call_is_neither_a_note_nor_a_summary() {
    let notes = NotesFixture::new(&[("tea.md", "Tea is hot.")]);
    let call = r#"{"server": "humble", "name": "get_time", "arguments": {}}"#;
    for (tool, arguments, why) in [
        (
            "create_note",
            json!({ "topic": "coffee" }),
            "The note was not created. The answer is only a tool call.",
        ),
        (
            "summarize_notes",
            json!({ "mode": "current_note", "note_path": "tea.md" }),
            "The answer is only a tool call.",
        ),
    ] {
        notes.server.queue_reply(CHAT, ollama_text(&[call]));
        assert_eq!(notes.failure(tool, arguments).await, why);
    }
    assert_eq!(names(&notes.vault), ["tea.md"]);
}

#[tokio::test]
async fn hidden_folders_and_files_are_neither_written_nor_read() {
    let notes = NotesFixture::new(&[(".obsidian/a.md", "apples"), ("b/.trash/c.md", "apples")]);
    for folder in [".obsidian", "b/.trash"] {
        let vault = notes.vault.join(folder);
        for (tool, mut arguments) in [
            ("create_note", json!({ "topic": "x" })),
            ("search_notes", json!({ "query": "apples" })),
        ] {
            arguments["vault_path"] = json!(vault);
            let why = notes
                .call_exactly(tool, arguments)
                .await
                .expect_err("refused");
            assert!(why.contains("is a hidden folder"), "{folder} {tool}: {why}");
        }
        assert_eq!(names(&vault).len(), 1);
    }
    let arguments = json!({ "mode": "current_note", "note_path": ".obsidian/a.md" });
    let why = notes.failure("summarize_notes", arguments).await;
    assert_eq!(
        why,
        "The note .obsidian/a.md cannot be read: hidden files are not notes."
    );
    assert_eq!(notes.server.requests().len(), 0);
}

#[tokio::test]
async fn impossible_paths_are_explained_in_each_argument() {
    let notes = NotesFixture::new(&[("a.md", "apples")]);
    let long = "a".repeat(300);
    for (path, expected) in [
        ("a\0b", "the path contains a NUL character"),
        (&*long, "the path is too long"),
    ] {
        let arguments = json!({ "mode": "current_note", "note_path": path });
        let why = notes.failure("summarize_notes", arguments).await;
        assert!(
            why.ends_with(&format!("cannot be read: {expected}.")),
            "{why}"
        );
        assert!(why.len() < 300 && !why.contains('\0'), "{why}");
        for (tool, mut arguments) in [
            ("create_note", json!({ "topic": "x" })),
            ("search_notes", json!({ "query": "x" })),
            ("summarize_notes", json!({ "mode": "topic", "topic": "x" })),
        ] {
            arguments["vault_path"] = json!(path);
            let why = notes
                .call_exactly(tool, arguments)
                .await
                .expect_err("refused");
            assert!(
                why.ends_with(&format!("cannot be used: {expected}.")),
                "{why}"
            );
            assert!(why.len() < 400 && !why.contains('\0'), "{why}");
        }
    }
    for path in ["..", "../..", "/", "/etc", "a/../..", "~/.."] {
        let arguments = json!({ "vault_path": path, "mode": "topic", "topic": "x" });
        let why = notes.call_exactly("summarize_notes", arguments).await;
        assert!(why.is_err(), "{path}: {why:?}");
    }
    // A topic is not used as a path.
    notes.server.queue_reply(CHAT, ollama_text(&["text"]));
    let topic = json!({ "topic": "../../etc/\0passwd" });
    let created = notes.call("create_note", topic).await.expect("created");
    assert_eq!(
        created["filePath"],
        json!(notes.vault.join("etc-passwd.md"))
    );
}

#[tokio::test]
async fn a_topic_that_names_a_file_summarizes_that_note() {
    let notes = NotesFixture::new(&[("lists/장보기-list.md", "milk"), ("b.md", "list md")]);
    notes.server.queue_reply(CHAT, ollama_text(&["Milk."]));
    let arguments = json!({ "mode": "topic", "topic": "장보기-list.md" });
    let summary = notes
        .call("summarize_notes", arguments)
        .await
        .expect("a summary");
    let path = notes.vault.join("lists/장보기-list.md");
    assert_eq!(summary["sourceFiles"], json!([path]));
    let body = &notes.server.bodies(CHAT)[0];
    let prompt = "Summarize the following note.\n\nmilk\n\nSummary:";
    assert_eq!(body["messages"][0]["content"], prompt);
}

/// A small file system that fills up. Needs permission to mount.
#[cfg(target_os = "linux")]
struct SmallDisk(PathBuf);

#[cfg(target_os = "linux")]
impl SmallDisk {
    fn mount(path: &Path, options: &str) -> Option<Self> {
        let status = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "tmpfs"])
            .arg(path)
            .stderr(Stdio::null())
            .status();
        let is_mounted = status.is_ok_and(|status| status.success());
        is_mounted.then(|| Self(path.to_path_buf()))
    }

    fn make_read_only(&self) {
        let mut command = Command::new("mount");
        let status = command.args(["-o", "remount,ro"]).arg(&self.0).status();
        assert!(status.is_ok_and(|status| status.success()));
    }
}

#[cfg(target_os = "linux")]
impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_or_read_only_disk_is_reported_and_leaves_no_partial_note() {
    let notes = NotesFixture::new(&[]);
    let Some(disk) = SmallDisk::mount(&notes.vault, "size=64k") else {
        eprintln!("skipped: file systems cannot be mounted here");
        return;
    };
    let filler = vec![b'x'; 60 << 10];
    fs::write(notes.vault.join("filler.txt"), filler).expect("written");
    let long = "tea ".repeat(5_000);
    notes.server.queue_reply(CHAT, ollama_text(&[&long]));
    let why = notes
        .failure("create_note", json!({ "topic": "tea" }))
        .await;
    let full = "The note was not created. VAULT/tea.md cannot be written: the disk is full.";
    assert_eq!(why, full);
    assert_eq!(names(&notes.vault), ["filler.txt"]);
    disk.make_read_only();
    let requests = notes.server.requests().len();
    let why = notes
        .failure("create_note", json!({ "topic": "tea" }))
        .await;
    let read_only =
        "The note was not created. VAULT cannot be written: the file system is read-only.";
    assert_eq!(why, read_only);
    assert_eq!(
        notes.server.requests().len(),
        requests,
        "the model is not asked"
    );
}

#[tokio::test]
async fn a_deleted_note_is_no_longer_found_and_cannot_be_summarized() {
    let notes = NotesFixture::new(&[("a.md", "apples"), ("b.md", "apples")]);
    assert_eq!(notes.found("apples").await.len(), 2);
    fs::remove_file(notes.vault.join("a.md")).expect("removed");
    assert_eq!(notes.found("apples").await, ["b.md"]);
    let arguments = json!({ "mode": "current_note", "note_path": "a.md" });
    let why = notes.failure("summarize_notes", arguments).await;
    assert_eq!(why, "The note a.md cannot be read: there is no such note.");
}

/// Starts a search of the vault in another process, and kills it while it fills the index.
fn kill_while_indexing(home: &Path, vault: &Path) {
    let is_indexing = || {
        let files = fs::read_dir(home.join("cache"))
            .into_iter()
            .flatten()
            .flatten();
        let mut sizes = files.filter_map(|file| {
            let is_log = file.file_name().to_string_lossy().ends_with("-wal");
            is_log.then(|| file.metadata().map_or(0, |metadata| metadata.len()))
        });
        sizes.any(|size| size > 200_000)
    };
    let mut child = Command::new(env!("CARGO_BIN_EXE_humble"))
        .args(["serve", "--home"])
        .arg(home)
        .arg("--vault")
        .arg(vault)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("started");
    let mut stdin = child.stdin.take().expect("piped");
    for message in [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" } } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
            "name": "search_notes", "arguments": { "vault_path": vault, "query": "pears" } } }),
    ] {
        use std::io::Write;
        writeln!(stdin, "{message}").expect("written");
    }
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_indexing() {
        assert!(Instant::now() < deadline, "indexing did not start");
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().expect("killed");
    child.wait().expect("ended");
}

#[test]
fn an_index_whose_writer_was_killed_is_completed() {
    // The program is killed while it indexes; SQLite keeps the committed batches.
    let folder = tempfile::tempdir().expect("a folder");
    let (home, vault) = (folder.path().join("home"), folder.path().join("vault"));
    for number in 0..3_000 {
        write(
            &vault,
            &format!("{number}.md"),
            &"pears and plums ".repeat(40),
        );
    }
    let vault = fs::canonicalize(vault).expect("a path");
    kill_while_indexing(&home, &vault);
    let files = fs::read_dir(home.join("cache"))
        .expect("a folder")
        .flatten();
    let paths = files.map(|file| file.path());
    let path = paths
        .into_iter()
        .find(|path| {
            path.extension()
                .is_some_and(|extension| extension == "sqlite")
        })
        .expect("an index");
    let mut index = Index::open(&path).expect("opened");
    let vault = Vault::open(&vault).expect("a vault");
    let report = update_index(&vault, &mut index, &|| false).expect("indexed");
    assert_eq!((report.notes, report.skipped.len()), (3_000, 0));
    assert!(report.updated < 3_000, "nothing was kept");
    assert_eq!(index.counts().expect("counted"), (3_000, 3_000));
    let query = HybridQuery {
        terms: &SearchTerms::parse("plums"),
        matching: Matching::Any,
        vector: None,
        limit: 10,
        one_per_document: true,
    };
    assert_eq!(index.search(&query).expect("searched").len(), 10);
}

const CHAT: &str = "/api/chat";

/// A reply that reached the token limit.
fn cut_off(text: &str) -> Reply {
    let part = json!({ "model": "writer", "message": { "role": "assistant", "content": text },
        "done": false });
    let end = json!({ "model": "writer", "message": { "role": "assistant", "content": "" },
        "done": true, "done_reason": "length" });
    Reply::status(200).chunk(format!("{part}\n{end}\n"))
}

/// The names of a folder's entries, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}
