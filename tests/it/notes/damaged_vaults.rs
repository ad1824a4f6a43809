//! Vaults, files and answers of embedding models that are damaged, large or change during use.

use super::*;
use humble::notes::{Vault, update_index};
use humble::search::{HybridQuery, Index, Matching, SearchTerms};
use std::time::{Duration, Instant};

const EMBED: &str = "/api/embed";

async fn remark(notes: &NotesFixture, query: &str) -> String {
    let arguments = json!({ "query": query });
    let found = notes.call("search_notes", arguments).await.expect("found");
    found["remarks"][0].as_str().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn a_missing_vault_is_reported_and_never_created() {
    let notes = NotesFixture::new(&[]);
    fs::remove_dir(&notes.vault).expect("removed");
    let expected = "The notes folder VAULT cannot be used: the folder does not exist.";
    for (tool, arguments) in [
        ("search_notes", json!({ "query": "x" })),
        ("summarize_notes", json!({ "mode": "topic", "topic": "x" })),
    ] {
        assert_eq!(notes.failure(tool, arguments).await, expected);
    }
    let why = notes.failure("create_note", json!({ "topic": "x" })).await;
    assert_eq!(why, format!("The note was not created. {expected}"));
    assert!(!notes.vault.exists());
    assert_eq!(notes.server.requests().len(), 0, "the model is not asked");
}

#[tokio::test]
async fn a_large_note_is_left_out_and_the_others_are_found() {
    let notes = NotesFixture::new(&[("small.md", "apples")]);
    let large = fs::File::create(notes.vault.join("large.md")).expect("created");
    large.set_len(50 << 20).expect("grown");
    assert_eq!(notes.found("apples").await, ["small.md"]);
    let expected = "large.md was left out: it is larger than 4 MB.";
    assert_eq!(remark(&notes, "apples").await, expected);
    let arguments = json!({ "mode": "current_note", "note_path": "large.md" });
    let why = notes.failure("summarize_notes", arguments).await;
    assert!(
        why.starts_with("The note large.md cannot be read: "),
        "{why}"
    );
}

#[tokio::test]
async fn arbitrary_bytes_in_notes_and_names_do_no_harm() {
    let notes = NotesFixture::new(&[("a.md", "apples")]);
    let all_bytes: Vec<u8> = (1..=255).cycle().take(100_000).collect();
    fs::write(notes.vault.join("latin1.md"), all_bytes).expect("written");
    fs::write(
        notes.vault.join("picture.md"),
        [0x89, b'P', b'N', b'G', 0, 0],
    )
    .expect("written");
    fs::create_dir(notes.vault.join("folder.md")).expect("created");
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::ffi::OsStrExt;
        let name = std::ffi::OsStr::from_bytes(b"caf\xe9.md");
        fs::write(notes.vault.join(name), "apples and pears").expect("written");
    }
    assert_eq!(
        notes.found("apples").await.first().map(String::as_str),
        Some("a.md")
    );
    #[cfg(target_os = "linux")]
    {
        fs::remove_file(notes.vault.join("picture.md")).expect("removed");
        let remark = remark(&notes, "apples").await;
        let why = "caf\u{fffd}.md was left out: its name is not UTF-8.";
        assert!(remark.contains(why), "{remark}");
        fs::write(notes.vault.join("picture.md"), [0, 0]).expect("written");
    }
    let remark = remark(&notes, "apples").await;
    assert!(
        remark.contains("picture.md: it is not text")
            || remark.contains("files or folders were left out"),
        "{remark}"
    );
}

#[tokio::test]
async fn decomposed_names_and_texts_match_composed_input() {
    let decomposed = "\u{1106}\u{1166}\u{1106}\u{1169}";
    let notes = NotesFixture::new(&[]);
    write(&notes.vault, &format!("{decomposed}.md"), "순서");
    write(&notes.vault, "b.md", &format!("{decomposed}장"));
    let mut found = notes.found("메모").await;
    found.sort();
    assert_eq!(found, ["b.md".to_owned(), format!("{decomposed}.md")]);
    notes
        .server
        .queue_reply("/api/chat", ollama_text(&["요약"]));
    let arguments = json!({ "mode": "current_note", "note_path": "메모.md" });
    let summary = notes.call("summarize_notes", arguments).await;
    assert_eq!(summary.expect("summarized")["summary"], "요약");
}

#[cfg(unix)]
#[tokio::test]
async fn cyclic_links_are_not_followed() {
    use std::os::unix::fs::symlink;
    let notes = NotesFixture::new(&[("a/b/c.md", "apples")]);
    symlink(&notes.vault, notes.vault.join("a/b/up")).expect("linked");
    symlink("self.md", notes.vault.join("self.md")).expect("linked");
    symlink("two.md", notes.vault.join("one.md")).expect("linked");
    symlink("one.md", notes.vault.join("two.md")).expect("linked");
    assert_eq!(notes.found("apples").await, ["a/b/c.md"]);
    for path in ["self.md", "one.md"] {
        let arguments = json!({ "mode": "current_note", "note_path": path });
        let why = notes.failure("summarize_notes", arguments).await;
        assert!(
            why.starts_with(&format!("The note {path} cannot be read: ")),
            "{why}"
        );
    }
}

#[cfg(unix)]
#[tokio::test]
async fn in_a_folder_with_only_links_the_error_explains_why_they_are_left_out() {
    use std::os::unix::fs::symlink;
    let search = json!({ "query": "apples" });
    let notes = NotesFixture::new(&[]);
    let outside = notes.vault.parent().expect("a folder").join("outside");
    write(&outside, "a.md", "apples");
    symlink(&outside, notes.vault.join("folder")).expect("linked");
    let empty = "There are no Markdown notes in VAULT.";
    let folders = "Links to folders are not followed.";
    let why = notes.failure("search_notes", search.clone()).await;
    assert_eq!(why, format!("{empty} {folders}"));
    symlink(outside.join("a.md"), notes.vault.join("a.md")).expect("linked");
    let file = "a.md was left out: it is a link to a file outside the notes folder.";
    let why = notes.failure("search_notes", search.clone()).await;
    assert_eq!(why, format!("{empty} {file} {folders}"));
    fs::remove_file(outside.join("a.md")).expect("removed");
    let file = "a.md was left out: it is a link to a file that does not exist.";
    let why = notes.failure("search_notes", search).await;
    assert_eq!(why, format!("{empty} {file} {folders}"));
}

#[tokio::test]
async fn a_file_in_place_of_the_folder_is_reported_before_the_model_is_asked() {
    let notes = NotesFixture::new(&[]);
    // A folder without permissions would not fail for root, which may run the tests.
    let inner = notes.vault.join("inner");
    fs::write(&inner, "a file").expect("written");
    let arguments = json!({ "vault_path": inner, "topic": "x" });
    let why = notes.call_exactly("create_note", arguments).await;
    let why = why.expect_err("refused");
    assert!(why.ends_with("it is not a folder."), "{why}");
    assert_eq!(notes.server.requests().len(), 0, "the model is not asked");
}

#[tokio::test]
async fn a_note_deleted_during_indexing_is_skipped() {
    let notes = NotesFixture::new(&[("a.md", "apples"), ("b.md", "apples too")]);
    let vault = Vault::open(&notes.vault).expect("a vault");
    let mut index = Index::open(&notes.vault.join("../index.sqlite")).expect("opened");
    let was_deleted = std::cell::Cell::new(false);
    // The check for cancellation runs between listing the folder and reading the first note.
    let report = update_index(&vault, &mut index, &|| {
        if !was_deleted.replace(true) {
            fs::remove_file(notes.vault.join("a.md")).expect("removed");
        }
        false
    });
    let report = report.expect("indexed");
    assert_eq!(report.notes, 1);
    assert_eq!(
        report.skipped,
        [("a.md".to_owned(), "there is no such file".to_owned())].into()
    );
}

#[tokio::test]
async fn a_change_in_the_number_of_dimensions_replaces_the_vectors() {
    let extra = json!({ "embedModel": "mini" });
    let notes = NotesFixture::with_settings(&[("a.md", "cats"), ("b.md", "dogs")], extra);
    notes.server.queue_reply(EMBED, vectors(&[[1.0, 0.0]]));
    let both = vectors(&[[1.0, 0.0], [0.0, 1.0]]);
    notes.server.queue_reply(EMBED, both);
    assert_eq!(notes.found("felines").await, ["a.md"]);
    // The same name now means a different model. The vector of the query reveals that.
    let three =
        |vectors: &[[f32; 3]]| Reply::json(200, &json!({ "model": "mini", "embeddings": vectors }));
    notes.server.queue_reply(EMBED, three(&[[1.0, 0.0, 0.0]]));
    let both = three(&[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]);
    notes.server.queue_reply(EMBED, both);
    assert_eq!(notes.found("felines").await, ["a.md"]);
    assert_eq!(
        notes.server.bodies(EMBED).len(),
        4,
        "both notes were embedded again"
    );
}

#[tokio::test]
async fn after_an_invalid_embedding_reply_only_words_are_compared() {
    for (reply, expected) in [
        (
            vectors(&[[1.0, 0.0], [1.0, 0.0]]),
            "The embedding model `mini` returned 2 vectors for 1 text.",
        ),
        (
            Reply::json(200, &json!({ "embeddings": [[]] })),
            "The embedding model `mini` returned an empty vector.",
        ),
        (
            vectors(&[[0.0, 0.0]]),
            "The embedding model `mini` returned a vector of zeros",
        ),
        (
            Reply::json(200, &json!({ "embeddings": [[1e300, 1.0]] })),
            "or of numbers that are too large.",
        ),
        (Reply::json(200, &json!("no")), "mini"),
    ] {
        let extra = json!({ "embedModel": "mini" });
        let notes = NotesFixture::with_settings(&[("a.md", "cats"), ("b.md", "dogs")], extra);
        notes.server.queue_reply(EMBED, reply);
        let arguments = json!({ "query": "cats" });
        let found = notes.call("search_notes", arguments).await.expect("found");
        assert_eq!(
            found["results"].as_array().map(Vec::len),
            Some(1),
            "{expected}"
        );
        let remark = found["remarks"][0].as_str().expect("a remark");
        assert!(remark.starts_with("Only words were compared. "), "{remark}");
        assert!(remark.contains(expected), "{remark}");
    }
}

#[tokio::test]
async fn after_invalid_vectors_of_notes_only_words_are_compared() {
    for (reply, expected) in [
        (vectors(&[[1.0, 0.0]]), "returned 1 vector for 2 texts."),
        (
            Reply::json(200, &json!({ "embeddings": [[1], [1, 2]] })),
            "returned vectors of different dimensions.",
        ),
    ] {
        let extra = json!({ "embedModel": "mini" });
        let notes = NotesFixture::with_settings(&[("a.md", "cats"), ("b.md", "dogs")], extra);
        notes.server.queue_reply(EMBED, vectors(&[[1.0, 0.0]]));
        notes.server.queue_reply(EMBED, reply);
        let arguments = json!({ "query": "cats" });
        let found = notes.call("search_notes", arguments).await.expect("found");
        let why = format!("The embedding model `mini` {expected}");
        let missing = "2 excerpts of notes have no vector yet; only words were compared there.";
        assert_eq!(found["remarks"], json!([why, missing]));
        assert_eq!(found["results"].as_array().map(Vec::len), Some(1));
    }
}

#[tokio::test]
async fn in_a_vault_of_thousands_of_notes_an_edit_is_found_within_a_second() {
    let notes = NotesFixture::new(&[]);
    for number in 0..2_500 {
        write(
            &notes.vault,
            &format!("{}/{number}.md", number % 50),
            "pears",
        );
    }
    assert_eq!(notes.found("apples").await, Vec::<String>::new());
    write(&notes.vault, "7/7.md", "apples");
    let start = Instant::now();
    while notes.found("apples").await != ["7/7.md"] {
        assert!(start.elapsed() < Duration::from_secs(1), "not found");
    }
    write(&notes.vault, "new folder/a.md", "plums");
    fs::remove_file(notes.vault.join("7/7.md")).expect("removed");
    let start = Instant::now();
    while notes.found("plums").await.is_empty() || !notes.found("apples").await.is_empty() {
        assert!(start.elapsed() < Duration::from_secs(1), "not up to date");
    }
}

#[test]
fn two_programs_index_one_vault_at_the_same_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let vault = folder.path().join("vault");
    for number in 0..600 {
        write(&vault, &format!("{number}.md"), "pears");
    }
    let vault = Vault::open(&vault).expect("a vault");
    let path = folder.path().join("index.sqlite");
    let note_counts = std::thread::scope(|scope| {
        let index = || {
            let mut index = Index::open(&path).expect("opened");
            update_index(&vault, &mut index, &|| false).expect("indexed")
        };
        let threads = [scope.spawn(index), scope.spawn(index)];
        threads.map(|thread| thread.join().expect("no panic").notes)
    });
    assert_eq!(note_counts, [600, 600]);
    let mut index = Index::open(&path).expect("opened");
    assert_eq!(index.counts().expect("counted"), (600, 600));
    let query = HybridQuery {
        terms: &SearchTerms::parse("pears"),
        matching: Matching::Any,
        vector: None,
        limit: 1_000,
        one_per_document: false,
    };
    // A search ranks at most 200 candidates.
    assert_eq!(index.search(&query).expect("searched").len(), 200);
}

#[tokio::test]
async fn scalars_are_converted_where_possible_and_other_values_are_refused() {
    let notes = NotesFixture::new(&[("a.md", "# Tea"), ("b.md", "# Tea too\n2024 true")]);
    for (limit, count) in [(json!("1"), 1), (json!("5"), 2), (json!(1.0), 1)] {
        let arguments = json!({ "query": "tea", "limit": limit });
        let found = notes.call("search_notes", arguments).await.expect("found");
        assert_eq!(
            found["results"].as_array().map(Vec::len),
            Some(count),
            "{limit}"
        );
    }
    for query in [json!(2024), json!(true)] {
        let arguments = json!({ "query": query });
        let found = notes.call("search_notes", arguments).await.expect("found");
        assert_eq!(
            found["results"].as_array().map(Vec::len),
            Some(1),
            "{query}"
        );
    }
    for (arguments, why) in [
        (
            json!({ "query": "tea", "limit": "five" }),
            "`limit` must be a whole number from 1 to 100, not \"five\".",
        ),
        (
            json!({ "query": [5] }),
            "`query` must be a string such as \"router password\".",
        ),
    ] {
        let refused = notes.call("search_notes", arguments).await;
        assert_eq!(refused, Err(why.to_owned()));
    }
}
