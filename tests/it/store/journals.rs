//! Journals on disk: locking, and recovery of orphaned journals.

use super::*;
use humble::store::{JournalRecord, JournaledTurn, Journals, OrphanedJournal};

fn journals(folder: &TempDir) -> Journals {
    Journals::new(folder.path().join("journal"))
}

fn turn_record(prompt: &str) -> JournalRecord {
    JournalRecord::Turn {
        prompt: prompt.to_owned(),
        attachments: Vec::new(),
        model: "m".to_owned(),
        session: None,
        started: "2026-01-01T00:00:00Z".to_owned(),
        before: 0,
        at: "2026-01-01T00:00:00Z".to_owned(),
    }
}

fn text_record(piece: u64, text: &str) -> JournalRecord {
    JournalRecord::Text {
        piece,
        thinking: false,
        text: text.to_owned(),
    }
}

fn orphaned_turns(journals: &Journals) -> Vec<JournaledTurn> {
    let turns = journals
        .claim_orphaned()
        .into_iter()
        .map(|journal| match journal {
            OrphanedJournal::Recoverable { turns, .. } => turns,
            OrphanedJournal::Unrecognized(notice) => panic!("{notice:?}"),
        });
    turns.flatten().collect()
}

#[test]
fn a_journal_is_offered_only_while_it_is_unlocked() {
    let folder = tempfile::tempdir().unwrap();
    let journals = journals(&folder);
    assert_eq!(orphaned_turns(&journals), []);
    let mut journal = journals.create(&turn_record("한글"), &now()).unwrap();
    journal.append(&text_record(1, "안녕")).unwrap();
    journal.append(&text_record(2, "let me see")).unwrap();
    journal.append(&text_record(1, "하세요")).unwrap();
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
    assert_eq!(orphaned_turns(&journals), [], "the journal is locked");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let path = folder.path().join("journal/20251016_162030.jsonl");
        let mode = fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    drop(journal);
    let turns = orphaned_turns(&journals);
    assert_eq!(turns.len(), 1);
    assert_eq!(
        (turns[0].prompt.as_str(), turns[0].answer_text()),
        ("한글", "안녕, {…} 하세요".to_owned())
    );
    assert_eq!(turns[0].thinking_text(), "let me see");
}

#[test]
fn each_journal_is_claimed_by_exactly_one_of_several_programs() {
    let folder = tempfile::tempdir().unwrap();
    let journals = journals(&folder);
    for number in 0..10 {
        journals
            .create(&turn_record(&number.to_string()), &now())
            .unwrap();
    }
    let claims: Vec<Vec<OrphanedJournal>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| journals.claim_orphaned()))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    let mut prompts: Vec<String> = claims
        .iter()
        .flatten()
        .map(|journal| match journal {
            OrphanedJournal::Recoverable { turns, .. } => turns[0].prompt.clone(),
            OrphanedJournal::Unrecognized(notice) => panic!("{notice:?}"),
        })
        .collect();
    prompts.sort();
    let expected: Vec<String> = (0..10).map(|number| number.to_string()).collect();
    assert_eq!(prompts, expected);
}

#[test]
fn a_truncated_journal_yields_the_records_before_the_cut() {
    let folder = tempfile::tempdir().unwrap();
    let journals = journals(&folder);
    let mut journal = journals.create(&turn_record("q"), &now()).unwrap();
    journal.append(&text_record(1, "가나다")).unwrap();
    journal.append(&JournalRecord::Ended).unwrap();
    drop(journal);
    let path = folder.path().join("journal/20251016_162030.jsonl");
    let whole = fs::read(&path).unwrap();
    let mut line_ends = (0..whole.len()).filter(|index| whole[*index] == b'\n');
    let (first_line_end, second_line_end) = (line_ends.next().unwrap(), line_ends.next().unwrap());
    for end in 0..=whole.len() {
        fs::write(&path, &whole[..end]).unwrap();
        let orphans = journals.claim_orphaned();
        match &orphans[..] {
            [OrphanedJournal::Unrecognized(_)] if end < first_line_end => {}
            [OrphanedJournal::Recoverable { turns, .. }] if end >= first_line_end => {
                let expected = if end < second_line_end {
                    ""
                } else {
                    "가나다"
                };
                assert_eq!(turns[0].answer_text(), expected, "{end}");
            }
            other => panic!("cut at {end}: {other:?}"),
        }
    }
    // A record appended after a partial one can be read.
    fs::write(&path, &whole[..first_line_end + 9]).unwrap();
    let Some(OrphanedJournal::Recoverable { mut journal, .. }) = journals.claim_orphaned().pop()
    else {
        panic!("expected a journal")
    };
    journal.append(&text_record(1, "more")).unwrap();
    drop(journal);
    assert_eq!(orphaned_turns(&journals)[0].answer_text(), "more");
}

#[cfg(unix)]
#[test]
fn pipes_and_folders_named_like_journals_do_not_block_the_start() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("journal/a.jsonl")).unwrap();
    let pipe = folder.path().join("journal/b.jsonl");
    let status = std::process::Command::new("mkfifo")
        .arg(&pipe)
        .status()
        .unwrap();
    assert!(status.success());
    let orphans = journals(&folder).claim_orphaned();
    assert_eq!(orphans.len(), 2);
    for orphan in orphans {
        let OrphanedJournal::Unrecognized(notice) = orphan else {
            panic!("{orphan:?}")
        };
        assert!(
            notice.what.ends_with("it is not a regular file."),
            "{}",
            notice.what
        );
    }
}

#[test]
fn a_journal_that_cannot_be_read_is_not_said_to_be_something_else() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("journal")).unwrap();
    let path = folder.path().join("journal/a.jsonl");
    // Larger than a journal may be, without taking up the space.
    let file = fs::File::create(&path).unwrap();
    file.set_len(300 << 20).unwrap();
    let orphans = journals(&folder).claim_orphaned();
    let [OrphanedJournal::Unrecognized(notice)] = &orphans[..] else {
        panic!("{orphans:?}")
    };
    let start = format!("The turn journal {} could not be read: ", path.display());
    assert!(notice.what.starts_with(&start), "{}", notice.what);
}

#[test]
fn the_number_of_skipped_journals_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let journals = journals(&folder);
    for number in 0..66 {
        let prompt = format!("prompt {number}");
        journals.create(&turn_record(&prompt), &now()).unwrap();
    }
    let mut messages = Vec::new();
    for orphan in journals.claim_orphaned() {
        if let OrphanedJournal::Unrecognized(notice) = orphan {
            messages.push(notice.what);
        }
    }
    let path = folder.path().join("journal");
    let expected = format!("2 of the 66 journals in {} were skipped.", path.display());
    assert_eq!(messages, [expected]);
}

#[test]
fn a_removed_journal_is_not_offered() {
    let folder = tempfile::tempdir().unwrap();
    let journals = journals(&folder);
    journals.create(&turn_record("q"), &now()).unwrap().remove();
    assert_eq!(orphaned_turns(&journals), []);
    assert_eq!(file_names(&folder.path().join("journal")), BTreeSet::new());
}
