//! When journals are removed and kept, on disks that work, fail or are slow.

use super::*;
use crate::domain::{PieceId, Usage};
use crate::store::{JournaledTurn, OrphanedJournal};
use jiff::Timestamp;
use std::fs;
use tempfile::TempDir;
use tokio::runtime::Builder;
use tokio::time::{advance, timeout};

const FIRST: ConversationSeq = ConversationSeq(1);
const OTHER: ConversationSeq = ConversationSeq(2);

struct JournalFixture {
    home: TempDir,
    writer: JournalWriter,
}

fn fixture() -> JournalFixture {
    let home = TempDir::new().expect("a scratch folder");
    let journals = Arc::new(Journals::new(home.path().join("journal")));
    let writer = JournalWriter::new(journals);
    JournalFixture { home, writer }
}

fn turn(prompt: &str) -> JournalRecord {
    JournalRecord::Turn {
        prompt: prompt.to_owned(),
        attachments: Vec::new(),
        model: "m".to_owned(),
        session: None,
        started: Timestamp::UNIX_EPOCH.to_string(),
        before: 0,
        at: Timestamp::UNIX_EPOCH.to_string(),
    }
}

fn answer(text: &str) -> JournalRecord {
    JournalRecord::from_answer(text, Usage::default(), Timestamp::UNIX_EPOCH, false)
}

impl JournalFixture {
    /// Adds a turn with an answer that the save `until` will contain.
    fn add_answered_turn(&mut self, conversation: ConversationSeq, until: SaveSeq) {
        self.writer.begin(conversation, turn("q"));
        self.writer.record_answer(answer("a"), until);
    }

    async fn finish_writes(&mut self) {
        while !self.writer.is_idle() {
            assert_eq!(self.writer.next_event().await, JournalEvent::Written);
        }
    }

    /// Puts a file in place of the folder, so that not even root can write into it.
    fn make_unwritable(&self) {
        fs::write(self.home.path().join("journal"), "").expect("written");
    }

    fn make_writable(&self) {
        fs::remove_file(self.home.path().join("journal")).expect("removed");
    }

    fn journal_count(&self) -> usize {
        let folder = fs::read_dir(self.home.path().join("journal"));
        let names = folder
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter(|name| name.ends_with(".jsonl")).count()
    }

    /// The turns that the next start would find.
    fn into_recovered_turns(self) -> Vec<JournaledTurn> {
        let Self { home, writer } = self;
        drop(writer);
        let journals = Journals::new(home.path().join("journal")).claim_orphaned();
        let turns = journals.into_iter().map(|journal| match journal {
            OrphanedJournal::Recoverable { turns, .. } => turns,
            OrphanedJournal::Unrecognized(notice) => panic!("{notice:?}"),
        });
        turns.flatten().collect()
    }
}

#[tokio::test(start_paused = true)]
async fn a_stopped_answer_does_not_hold_back_the_end_of_its_turn() {
    for is_stopped in [false, true] {
        let mut fixture = fixture();
        fixture.writer.begin(FIRST, turn("q"));
        let (usage, at) = (Usage::default(), Timestamp::UNIX_EPOCH);
        let answer = JournalRecord::from_answer("a", usage, at, is_stopped);
        fixture.writer.record_answer(answer, SaveSeq::NEVER);
        assert_eq!(fixture.writer.is_holding_events(), !is_stopped);
        fixture.finish_writes().await;
    }
}

#[tokio::test(start_paused = true)]
async fn journal_is_kept_until_its_answer_is_saved() {
    let mut fixture = fixture();
    fixture.add_answered_turn(FIRST, SaveSeq::NEVER);
    fixture.finish_writes().await;
    fixture
        .writer
        .handle_session_saved(FIRST, SaveSeq::default());
    fixture.finish_writes().await;
    assert_eq!(
        fixture.journal_count(),
        1,
        "an earlier save lacks the answer"
    );
    fixture.writer.handle_session_saved(OTHER, SaveSeq::NEVER);
    fixture.finish_writes().await;
    assert_eq!(
        fixture.journal_count(),
        1,
        "a save of another conversation lacks it too"
    );
    fixture.writer.handle_session_saved(FIRST, SaveSeq::NEVER);
    fixture.finish_writes().await;
    assert_eq!(fixture.journal_count(), 0);
}

#[tokio::test(start_paused = true)]
async fn journal_of_another_conversation_waits_for_its_own_save() {
    let mut fixture = fixture();
    fixture.add_answered_turn(FIRST, SaveSeq::NEVER);
    fixture.add_answered_turn(OTHER, SaveSeq::NEVER);
    fixture.finish_writes().await;
    assert_eq!(fixture.journal_count(), 2);
    fixture.writer.handle_session_saved(OTHER, SaveSeq::NEVER);
    fixture.finish_writes().await;
    assert_eq!(fixture.journal_count(), 1);
    let turns = fixture.into_recovered_turns();
    assert_eq!(turns.len(), 1, "the turn of the first conversation");
}

#[tokio::test(start_paused = true)]
async fn stopping_a_turn_keeps_earlier_unsaved_answers() {
    let mut fixture = fixture();
    fixture.add_answered_turn(FIRST, SaveSeq::NEVER);
    fixture.writer.begin(FIRST, turn("r"));
    fixture.writer.end_turn(None);
    fixture.finish_writes().await;
    let turns = fixture.into_recovered_turns();
    let recovered: Vec<_> = turns
        .iter()
        .map(|turn| {
            (
                turn.prompt.as_str(),
                turn.answer.is_some(),
                turn.has_ended_unanswered,
            )
        })
        .collect();
    assert_eq!(recovered, [("q", true, false), ("r", false, true)]);
}

#[tokio::test(start_paused = true)]
async fn stopping_the_only_turn_removes_the_journal() {
    let mut fixture = fixture();
    fixture.writer.begin(FIRST, turn("q"));
    fixture.finish_writes().await;
    assert_eq!(fixture.journal_count(), 1);
    fixture.writer.end_turn(None);
    fixture.finish_writes().await;
    assert_eq!(fixture.journal_count(), 0);
}

#[tokio::test(start_paused = true)]
async fn failed_writes_are_retried_until_the_disk_recovers() {
    let mut fixture = fixture();
    fixture.make_unwritable();
    fixture.writer.begin(FIRST, turn("q"));
    let delta = TurnEvent::Delta {
        piece: PieceId(1),
        kind: PieceKind::Text,
        text: "아직".to_owned(),
    };
    fixture.writer.record_event(&delta);
    let event = fixture.writer.next_event().await;
    assert!(matches!(event, JournalEvent::Failed(_)), "{event:?}");
    fixture.make_writable();
    fixture.finish_writes().await;
    let turns = fixture.into_recovered_turns();
    let recovered: Vec<_> = turns
        .iter()
        .map(|turn| (turn.prompt.as_str(), turn.answer_text()))
        .collect();
    assert_eq!(recovered, [("q", "아직".to_owned())]);
}

#[tokio::test(start_paused = true)]
async fn failing_disk_does_not_delay_an_answer() {
    let mut fixture = fixture();
    fixture.make_unwritable();
    fixture.add_answered_turn(FIRST, SaveSeq::NEVER);
    assert!(fixture.writer.is_holding_events());
    let event = fixture.writer.next_event().await;
    assert!(matches!(event, JournalEvent::Failed(_)), "{event:?}");
    assert!(!fixture.writer.is_holding_events());
    assert!(
        !fixture.writer.contains(FIRST, SaveSeq::NEVER),
        "the answer is in no journal"
    );
}

#[tokio::test(start_paused = true)]
async fn a_journal_contains_only_the_answers_of_its_own_conversation() {
    let mut fixture = fixture();
    let save = SaveSeq::default();
    fixture.add_answered_turn(FIRST, save);
    assert!(!fixture.writer.contains(FIRST, save), "not written yet");
    fixture.finish_writes().await;
    assert!(fixture.writer.contains(FIRST, save));
    assert!(!fixture.writer.contains(OTHER, save));
    assert!(
        !fixture.writer.contains(FIRST, SaveSeq::NEVER),
        "a later save contains a change that is not in the journal"
    );
    fixture.writer.begin(OTHER, turn("running"));
    fixture.finish_writes().await;
    assert!(fixture.writer.contains(FIRST, save), "in its own journal");
    assert!(!fixture.writer.contains(OTHER, save));
}

#[test]
fn slow_disk_delays_an_answer_only_briefly() {
    let mut runtime = Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true);
    let runtime = runtime.max_blocking_threads(1).build().expect("a runtime");
    let (sender, receiver) = std::sync::mpsc::channel::<()>();
    runtime.block_on(async {
        // The only blocking thread is busy until the sender is dropped.
        let busy = tokio::task::spawn_blocking(move || receiver.recv());
        let mut fixture = fixture();
        fixture.add_answered_turn(FIRST, SaveSeq::NEVER);
        let wait_max = HOLD_TIME_MAX + Duration::from_millis(1);
        let event = timeout(wait_max, fixture.writer.next_event());
        let (event, ()) = tokio::join!(event, advance(wait_max));
        assert_eq!(event, Ok(JournalEvent::Slow));
        assert!(!fixture.writer.is_holding_events());
        drop(sender);
        busy.await.expect("no panic").expect_err("nothing was sent");
        fixture.finish_writes().await;
        assert_eq!(fixture.journal_count(), 1);
    });
}
