//! Journals on disk: who holds them, and what is made of those that nobody does.

use super::*;
use humble::store::{JournalRecord, JournaledTurn, Journals, OrphanedJournal};

fn journals(folder: &TempDir) -> Journals {
    Journals::new(folder.path().join("journal"))
}

fn turn(prompt: &str) -> JournalRecord {
    JournalRecord::Turn {
        prompt: prompt.to_owned(),
        model: "m".to_owned(),
        session: None,
        started: "2026-01-01T00:00:00Z".to_owned(),
        before: 0,
        at: "2026-01-01T00:00:00Z".to_owned(),
    }
}

fn words(piece: u64, text: &str) -> JournalRecord {
    JournalRecord::Text {
        piece,
        thinking: false,
        text: text.to_owned(),
    }
}

fn left(journals: &Journals) -> Vec<JournaledTurn> {
    let turns = journals
        .claim_orphaned()
        .into_iter()
        .map(|found| match found {
            OrphanedJournal::Recoverable { turns, .. } => turns,
            OrphanedJournal::Unrecognized(notice) => panic!("{notice:?}"),
        });
    turns.flatten().collect()
}

#[test]
fn a_journal_is_offered_only_when_nobody_holds_it() {
    let folder = tempfile::tempdir().unwrap();
    let journals = journals(&folder);
    assert_eq!(left(&journals), []);
    let mut journal = journals.create(&turn("한글"), &ended()).unwrap();
    journal.append(&words(1, "안녕")).unwrap();
    journal.append(&words(2, "let me see")).unwrap();
    journal.append(&words(1, "하세요")).unwrap();
    let thinking = JournalRecord::Reclassified {
        piece: 2,
        thinking: true,
    };
    journal.append(&thinking).unwrap();
    let restored = JournalRecord::Restored {
        piece: 1,
        text: "안녕, {…} 하세요".to_owned(),
    };
    journal.append(&restored).unwrap();
    assert_eq!(left(&journals), [], "it is held");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let path = folder.path().join("journal/20251016_162030.jsonl");
        let mode = fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    drop(journal);
    let found = left(&journals);
    assert_eq!(found.len(), 1);
    assert_eq!(
        (found[0].prompt.as_str(), found[0].answer_text()),
        ("한글", "안녕, {…} 하세요".to_owned())
    );
    assert_eq!(found[0].thinking_text(), "let me see");
}

#[test]
fn of_programs_that_start_at_once_exactly_one_gets_each_journal() {
    let folder = tempfile::tempdir().unwrap();
    let journals = journals(&folder);
    for number in 0..10 {
        journals
            .create(&turn(&number.to_string()), &ended())
            .unwrap();
    }
    let all: Vec<Vec<OrphanedJournal>> = std::thread::scope(|scope| {
        let starts: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| journals.claim_orphaned()))
            .collect();
        starts
            .into_iter()
            .map(|start| start.join().unwrap())
            .collect()
    });
    let mut prompts: Vec<String> = all
        .iter()
        .flatten()
        .map(|found| match found {
            OrphanedJournal::Recoverable { turns, .. } => turns[0].prompt.clone(),
            OrphanedJournal::Unrecognized(notice) => panic!("{notice:?}"),
        })
        .collect();
    prompts.sort();
    let expected: Vec<String> = (0..10).map(|number| number.to_string()).collect();
    assert_eq!(prompts, expected);
}

#[test]
fn a_journal_cut_anywhere_tells_what_came_before_the_cut() {
    let folder = tempfile::tempdir().unwrap();
    let journals = journals(&folder);
    let mut journal = journals.create(&turn("q"), &ended()).unwrap();
    journal.append(&words(1, "가나다")).unwrap();
    journal.append(&JournalRecord::Ended).unwrap();
    drop(journal);
    let path = folder.path().join("journal/20251016_162030.jsonl");
    let whole = fs::read(&path).unwrap();
    let first = whole.iter().position(|byte| *byte == b'\n').unwrap();
    for end in 0..=whole.len() {
        fs::write(&path, &whole[..end]).unwrap();
        let found = journals.claim_orphaned();
        match &found[..] {
            [OrphanedJournal::Unrecognized(_)] if end < first => {}
            [OrphanedJournal::Recoverable { turns, .. }] if end >= first => {
                assert!(
                    ["", "가나다"].contains(&turns[0].answer_text().as_str()),
                    "{end}"
                );
            }
            other => panic!("cut at {end}: {other:?}"),
        }
    }
    // What is appended behind a torn record is not spoilt by it.
    fs::write(&path, &whole[..first + 9]).unwrap();
    let Some(OrphanedJournal::Recoverable { mut journal, .. }) = journals.claim_orphaned().pop()
    else {
        panic!("it is a journal")
    };
    journal.append(&words(1, "more")).unwrap();
    drop(journal);
    assert_eq!(left(&journals)[0].answer_text(), "more");
}

#[cfg(unix)]
#[test]
fn a_pipe_or_a_folder_in_the_place_of_a_journal_holds_nobody_up() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("journal/a.jsonl")).unwrap();
    let pipe = folder.path().join("journal/b.jsonl");
    let made = std::process::Command::new("mkfifo")
        .arg(&pipe)
        .status()
        .unwrap();
    assert!(made.success());
    let found = journals(&folder).claim_orphaned();
    assert_eq!(found.len(), 2);
    for found in found {
        let OrphanedJournal::Unrecognized(notice) = found else {
            panic!("{found:?}")
        };
        assert!(
            notice.what.ends_with("it is not a regular file."),
            "{}",
            notice.what
        );
    }
}

#[test]
fn how_many_journals_are_not_looked_at_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let journals = journals(&folder);
    for number in 0..66 {
        let prompt = format!("prompt {number}");
        journals.create(&turn(&prompt), &ended()).unwrap();
    }
    let mut told = Vec::new();
    for found in journals.claim_orphaned() {
        if let OrphanedJournal::Unrecognized(notice) = found {
            told.push(notice.what);
        }
    }
    let place = folder.path().join("journal");
    let place = place.display();
    let expected = format!("2 of the 66 journals in {place} were not looked at.");
    assert_eq!(told, [expected]);
}

#[test]
fn a_removed_journal_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let journals = journals(&folder);
    journals.create(&turn("q"), &ended()).unwrap().remove();
    assert_eq!(left(&journals), []);
    assert_eq!(names_in(&folder.path().join("journal")), BTreeSet::new());
}
