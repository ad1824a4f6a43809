//! Notes through the built-in tools, on real folders, with a scripted model server.

mod damaged_index;
mod damaged_vaults;
mod embedding;
#[cfg(target_os = "linux")]
mod exchanged_folders;
mod failures;
mod small_contexts;
mod vectors;

use crate::support::model_server::{self, ModelServer};
use humble::app::built_in_tools;
use humble::config::{Home, read_settings_with};
use humble::provider::Provider;
use humble::serve::{BuiltInTools, ProgressReporter, ToolFailure};
use model_server::{Reply, ollama_text};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

struct NotesFixture {
    _folder: TempDir,
    vault: PathBuf,
    server: ModelServer,
    tools: BuiltInTools,
}

impl NotesFixture {
    fn new(notes: &[(&str, &str)]) -> Self {
        Self::with_settings(notes, json!({}))
    }

    /// `extra` is merged into the `notes` section of the settings.
    fn with_settings(notes: &[(&str, &str)], extra: Value) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let root = fs::canonicalize(folder.path()).expect("a path");
        let (home, vault) = (Home::at(root.join("home")), root.join("vault"));
        fs::create_dir_all(home.root()).expect("created");
        fs::create_dir_all(&vault).expect("created");
        for (path, text) in notes {
            write(&vault, path, text);
        }
        let server = ModelServer::start();
        let mut section = json!({ "vault": vault });
        for (key, value) in extra.as_object().expect("an object") {
            section[key] = value.clone();
        }
        let model = json!({
            "name": "writer", "provider": "ollama", "baseUrl": server.url(), "active": true,
        });
        let config = json!({ "models": [model], "notes": section });
        fs::write(home.config(), config.to_string()).expect("written");
        let loaded = read_settings_with(&home, &|_| None);
        assert_eq!(loaded.banners, []);
        let tools = built_in_tools(&home, loaded.value.built_in_tools(), Provider::new());
        Self {
            _folder: folder,
            vault,
            server,
            tools,
        }
    }

    /// Calls a tool with these arguments and the path of the vault.
    async fn call(&self, tool: &str, mut arguments: Value) -> Result<Value, String> {
        arguments["vault_path"] = json!(self.vault);
        self.call_exactly(tool, arguments).await
    }

    /// Calls a tool with only these arguments.
    async fn call_exactly(&self, tool: &str, arguments: Value) -> Result<Value, String> {
        let Value::Object(arguments) = arguments else {
            panic!("not an object");
        };
        let (progress, cancelled) = (ProgressReporter::ignored(), CancellationToken::new());
        let result = self.tools.call(tool, &arguments, progress, cancelled).await;
        result.map_err(|failure| match failure {
            ToolFailure::Failed(why) => why,
            other => panic!("{other:?}"),
        })
    }

    /// The notes that a search finds, as paths below the vault.
    async fn found(&self, query: &str) -> Vec<String> {
        let result = self.call("search_notes", json!({ "query": query })).await;
        let result = result.expect("a result");
        let paths = result["results"].as_array().expect("results").iter();
        let vault = format!("{}/", self.vault.display());
        paths
            .map(|note| {
                note["filePath"]
                    .as_str()
                    .expect("a path")
                    .replace(&vault, "")
            })
            .collect()
    }

    /// The error of a failing call, with `VAULT` in place of the vault's path.
    async fn failure(&self, tool: &str, arguments: Value) -> String {
        let failure = self.call(tool, arguments).await.expect_err("no failure");
        failure.replace(&self.vault.display().to_string(), "VAULT")
    }
}

fn write(vault: &Path, path: &str, text: &str) {
    let path = vault.join(path);
    fs::create_dir_all(path.parent().expect("a folder")).expect("created");
    fs::write(path, text).expect("written");
}

#[tokio::test]
async fn a_note_written_by_the_model_is_found_and_summarized() {
    let notes = NotesFixture::new(&[("old/router.md", "# 공유기\n비밀번호는 서랍에 있다.")]);
    notes.server.queue_reply(
        "/api/chat",
        ollama_text(&["```markdown\n# 양자 역학\n\n", "입자와 파동.\n```"]),
    );
    let created = notes
        .call("create_note", json!({ "topic": "양자 역학" }))
        .await;
    let path = notes.vault.join("양자-역학.md");
    let text = "# 양자 역학\n\n입자와 파동.\n";
    let expected =
        json!({ "filePath": path, "title": "양자 역학", "preview": "입자와 파동.", "text": text });
    assert_eq!(created, Ok(expected));
    assert_eq!(fs::read_to_string(&path).expect("a file"), text);

    assert_eq!(notes.found("파동").await, ["양자-역학.md"]);
    assert_eq!(notes.found("비밀번호").await, ["old/router.md"]);

    let summary = ollama_text(&["Particles and waves."]);
    notes.server.queue_reply("/api/chat", summary);
    let arguments = json!({ "mode": "topic", "topic": "파동" });
    let summarized = notes
        .call("summarize_notes", arguments)
        .await
        .expect("a summary");
    assert_eq!(summarized["summary"], "Particles and waves.");
    assert_eq!(summarized["sourceFiles"], json!([path]));
    let bodies = notes.server.bodies("/api/chat");
    let prompt = bodies[1]["messages"][0]["content"]
        .as_str()
        .expect("a prompt");
    assert_eq!(
        prompt,
        "Summarize the following notes about 파동.\n\n# 양자 역학\n입자와 파동.\n\nSummary:"
    );

    let summary = ollama_text(&["It is in the drawer."]);
    notes.server.queue_reply("/api/chat", summary);
    let arguments = json!({ "mode": "current_note", "note_path": "old/router" });
    let summarized = notes
        .call("summarize_notes", arguments)
        .await
        .expect("a summary");
    assert_eq!(summarized["title"], "공유기");
    assert_eq!(summarized["summary"], "It is in the drawer.");
}

#[tokio::test]
async fn changed_new_and_deleted_notes_are_detected() {
    let notes = NotesFixture::new(&[("a.md", "apples"), ("b.md", "pears"), ("c.txt", "apples")]);
    assert_eq!(notes.found("apples").await, ["a.md"]);
    write(&notes.vault, "a.md", "plums, not the other fruit");
    write(&notes.vault, "deep/er/c.MD", "apples again");
    write(&notes.vault, ".trash/d.md", "apples in a hidden folder");
    fs::remove_file(notes.vault.join("b.md")).expect("removed");
    assert_eq!(notes.found("apples").await, ["deep/er/c.MD"]);
    assert_eq!(notes.found("plums").await, ["a.md"]);
    assert_eq!(notes.found("pears").await, Vec::<String>::new());
}

#[tokio::test]
async fn taken_names_get_a_number_and_no_note_is_replaced() {
    let notes = NotesFixture::new(&[("cats.md", "mine"), ("cats-2.md", "mine too")]);
    notes
        .server
        .queue_reply("/api/chat", ollama_text(&["They purr."]));
    let created = notes
        .call("create_note", json!({ "topic": "Cats" }))
        .await
        .expect("created");
    assert_eq!(created["filePath"], json!(notes.vault.join("cats-3.md")));
    assert_eq!(created["text"], "# Cats\n\nThey purr.\n");
    assert_eq!(
        fs::read_to_string(notes.vault.join("cats.md")).expect("a file"),
        "mine"
    );
}

#[tokio::test]
async fn nothing_outside_the_vault_is_read_or_written() {
    let notes = NotesFixture::new(&[("a.md", "inside")]);
    let outside = notes.vault.parent().expect("a folder").join("outside");
    write(&outside, "secret.md", "secret words");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(outside.join("secret.md"), notes.vault.join("link.md"))
            .expect("linked");
        std::os::unix::fs::symlink(&outside, notes.vault.join("folder")).expect("linked");
        std::os::unix::fs::symlink(&notes.vault, notes.vault.join("loop")).expect("linked");
    }
    assert_eq!(notes.found("secret words").await, Vec::<String>::new());
    let mut refused = Vec::new();
    for path in [
        "../outside/secret.md",
        "link.md",
        "folder/secret.md",
        "/etc/passwd",
    ] {
        let arguments = json!({ "mode": "current_note", "note_path": path });
        refused.push(notes.failure("summarize_notes", arguments).await);
    }
    assert_eq!(
        refused,
        [
            "The note ../outside/secret.md cannot be read: `..` is not allowed in the path of a note.",
            "The note link.md cannot be read: it lies outside the notes folder.",
            "The note folder/secret.md cannot be read: it lies outside the notes folder.",
            "The note /etc/passwd cannot be read: it lies outside the notes folder.",
        ]
    );
    for vault in [
        outside.display().to_string(),
        "..".to_owned(),
        "/".to_owned(),
        "folder".to_owned(),
    ] {
        let arguments = json!({ "vault_path": vault, "query": "secret" });
        let why = notes
            .call_exactly("search_notes", arguments)
            .await
            .expect_err("refused");
        assert!(why.contains("is not in the notes folder"), "{vault}: {why}");
        let arguments = json!({ "vault_path": vault, "topic": "secret" });
        let why = notes
            .call_exactly("create_note", arguments)
            .await
            .expect_err("refused");
        assert!(why.contains("is not in the notes folder"), "{vault}: {why}");
    }
    notes
        .server
        .queue_reply("/api/chat", ollama_text(&["text"]));
    let created = notes
        .call("create_note", json!({ "topic": "../outside/x" }))
        .await
        .expect("created");
    assert_eq!(created["filePath"], json!(notes.vault.join("outside-x.md")));
}

#[tokio::test]
async fn missing_and_invalid_arguments_of_note_tools_are_named() {
    let notes = NotesFixture::new(&[]);
    let missing = notes
        .call_exactly("search_notes", json!({ "query": "x" }))
        .await;
    let hint = format!(
        "Missing required parameter: vault_path. The notes folder is {}",
        notes.vault.display()
    );
    assert_eq!(missing, Err(hint));
    for (tool, arguments, expected) in [
        (
            "create_note",
            json!({}),
            "Missing required parameter: topic",
        ),
        (
            "search_notes",
            json!({ "query": "x" }),
            "There are no Markdown notes in VAULT.",
        ),
        (
            "search_notes",
            json!({ "query": "x", "limit": 0 }),
            "`limit` must be a whole number from 1 to 100, not 0.",
        ),
        (
            "summarize_notes",
            json!({}),
            "Missing required parameter: mode",
        ),
        (
            "summarize_notes",
            json!({ "mode": "all" }),
            "`mode` is \"all\", expected \"current_note\" or \"topic\".",
        ),
        (
            "summarize_notes",
            json!({ "mode": "topic" }),
            "Missing required parameter: topic",
        ),
        (
            "summarize_notes",
            json!({ "mode": "current_note" }),
            "Missing required parameter: note_path",
        ),
        (
            "summarize_notes",
            json!({ "mode": "current_note", "note_path": "none.md" }),
            "The note none.md cannot be read: there is no such note.",
        ),
    ] {
        assert_eq!(
            notes.failure(tool, arguments.clone()).await,
            expected,
            "{tool} {arguments}"
        );
    }
}

#[tokio::test]
async fn notes_without_usable_text_are_reported() {
    let notes = NotesFixture::new(&[]);
    write(&notes.vault, "empty.md", "");
    write(&notes.vault, "binary.md", "a\0b");
    for (path, expected) in [
        ("empty.md", "The note empty.md is empty."),
        (
            "binary.md",
            "The note binary.md cannot be read: it is not text.",
        ),
    ] {
        let arguments = json!({ "mode": "current_note", "note_path": path });
        assert_eq!(notes.failure("summarize_notes", arguments).await, expected);
    }
    let arguments = json!({ "mode": "topic", "topic": "dragons" });
    let none = notes.failure("summarize_notes", arguments).await;
    assert_eq!(none, "No note in VAULT mentions \"dragons\".");
    let found = notes
        .call("search_notes", json!({ "query": "x" }))
        .await
        .expect("searched");
    assert_eq!(
        found["remarks"][0],
        "binary.md was left out: it is not text."
    );
}

fn vectors(vectors: &[[f32; 2]]) -> Reply {
    Reply::json(200, &json!({ "model": "mini", "embeddings": vectors }))
}
