//! Earlier prompts and the draft of the last run.

use humble::domain::{EditedPrompt, SessionId, UnsentFile, UnsentPrompt, UnsentText};
use humble::files;
use humble::store::PromptHistory;
use std::collections::BTreeSet;
use std::fs;
use tempfile::TempDir;

fn history(folder: &TempDir) -> PromptHistory {
    let path = |name: &str| folder.path().join(name);
    PromptHistory::new(path("history"), path("draft"))
}

#[test]
fn prompts_load_oldest_first_without_consecutive_duplicates() {
    let folder = tempfile::tempdir().unwrap();
    let history = history(&folder);
    assert_eq!(history.load(10), [""; 0]);
    for prompt in ["one", "두 줄\n이다", "두 줄\n이다", "", "one", "\u{0}\"\\"] {
        history.append(prompt).unwrap();
    }
    assert_eq!(history.load(10), ["one", "두 줄\n이다", "one", "\u{0}\"\\"]);
    assert_eq!(history.load(2), ["one", "\u{0}\"\\"]);
    assert_eq!(history.load(0), [""; 0]);
}

#[test]
fn a_torn_last_line_is_ignored_and_corrupts_no_later_prompt() {
    let folder = tempfile::tempdir().unwrap();
    let history = history(&folder);
    let path = folder.path().join("history");
    fs::write(&path, b"\"whole\"\nnot json\n5\n\"torn \xed\x95").unwrap();
    assert_eq!(history.load(10), ["whole"]);
    history.append("next").unwrap();
    assert_eq!(history.load(10), ["whole", "next"]);
}

#[test]
fn the_history_file_size_is_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let history = history(&folder);
    let path = folder.path().join("history");
    let lines: String = (0..300_000)
        .map(|number| format!("\"{number}\"\n"))
        .collect();
    fs::write(&path, &lines).unwrap();
    history.append(&"x".repeat(70_000)).unwrap();
    assert_eq!(
        fs::metadata(&path).unwrap().len(),
        lines.len() as u64,
        "the prompt is too long to store"
    );
    let long = "한".repeat(20_000);
    history.append(&long).unwrap();
    assert_eq!(history.load(2), ["299999".to_owned(), long.clone()]);
    let longer = lines.repeat(2);
    fs::write(&path, &longer).unwrap();
    history.append(&long).unwrap();
    assert!(fs::metadata(&path).unwrap().len() <= 1024 * 1024);
    assert_eq!(history.load(2), ["299999".to_owned(), long]);
}

#[test]
fn concurrent_programs_lose_no_prompts() {
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for program in ["a", "b"] {
            let history = history(&folder);
            scope.spawn(move || {
                for number in 0..50 {
                    history.append(&format!("{program}{number}")).unwrap();
                }
            });
        }
    });
    let prompts: BTreeSet<String> = history(&folder).load(1000).into_iter().collect();
    assert_eq!(prompts.len(), 100);
}

#[test]
fn a_draft_belongs_to_one_program_until_it_exits_or_clears_it() {
    let folder = tempfile::tempdir().unwrap();
    let start = || history(&folder);
    let first = start();
    assert_eq!(first.claim_draft(), None);
    first.save_draft(&"쓰다 만\n글".into()).unwrap();
    assert_eq!(first.claim_draft(), Some("쓰다 만\n글".into()));
    assert_eq!(first.claim_draft(), None);
    assert_eq!(start().claim_draft(), None);
    // The first program ends without sending the draft, as if it were killed.
    drop(first);
    let next = start();
    assert_eq!(next.claim_draft(), Some("쓰다 만\n글".into()));
    next.save_draft(&UnsentText::default()).unwrap();
    assert_eq!(start().claim_draft(), None);
}

fn file(name: &str, path: Option<&str>) -> UnsentFile {
    UnsentFile {
        name: name.to_owned(),
        path: path.map(str::to_owned),
    }
}

#[test]
fn a_draft_that_stores_files_as_bare_names_is_read() {
    let draft = r#"{"message":"x","queue":["y"],"files":["cat.png"]}"#;
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("draft"), draft).unwrap();
    let expected = UnsentText {
        queue: vec!["y".into()],
        files: vec![file("cat.png", None)],
        ..UnsentText::from("x")
    };
    assert_eq!(history(&folder).claim_draft(), Some(expected));
}

#[test]
fn all_parts_of_unsent_text_are_restored() {
    let folder = tempfile::tempdir().unwrap();
    let whole = UnsentText {
        message: "쓰다 만\n글".to_owned(),
        edit_of: Some(EditedPrompt {
            session: SessionId::new("20260101_090000_One.json"),
            title: "One".to_owned(),
            turn: 2,
            prompt: "글".to_owned(),
        }),
        others: vec!["an edit".to_owned()],
        queue: vec![
            "one".into(),
            UnsentPrompt {
                text: "two\n\nlines".to_owned(),
                files: vec![file("clipboard.png", None)],
            },
        ],
        files: vec![file("cat.png", Some("/a/cat.png"))],
    };
    let json_like_text: UnsentText = r#"{"message":"x","queue":["y"]}"#.into();
    for draft in [whole, json_like_text] {
        history(&folder).save_draft(&draft).unwrap();
        assert_eq!(history(&folder).claim_draft(), Some(draft));
    }
}

#[test]
fn clearing_a_draft_leaves_another_programs_draft_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (history(&folder), history(&folder));
    first.save_draft(&"one".into()).unwrap();
    assert_eq!(first.claim_draft(), Some("one".into()));
    second.save_draft(&"two".into()).unwrap();
    first.save_draft(&UnsentText::default()).unwrap();
    assert_eq!(history(&folder).claim_draft(), Some("two".into()));
}

#[test]
fn a_multi_line_record_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records");
    assert!(files::append_line(&path, "a\nb", 0o600).is_err());
    files::append_line(&path, "a", 0o600).unwrap();
    files::append_line(&path, "b", 0o600).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "a\nb\n");
}
