//! When a journal goes and when it stays, on disks that take, refuse and dawdle.

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
        model: "m".to_owned(),
        session: None,
        started: Timestamp::UNIX_EPOCH.to_string(),
        before: 0,
        at: Timestamp::UNIX_EPOCH.to_string(),
    }
}

fn answer(text: &str) -> JournalRecord {
    JournalRecord::from_answer(text, Usage::default(), Timestamp::UNIX_EPOCH)
}

impl JournalFixture {
    /// A turn of this conversation that was answered; the save with `until` has it.
    fn add_answered_turn(&mut self, epoch: ConversationSeq, until: SaveSeq) {
        self.writer.begin(epoch, turn("q"));
        self.writer.record_answer(answer("a"), until);
    }

    async fn finish_writes(&mut self) {
        while !self.writer.is_idle() {
            assert_eq!(self.writer.next_event().await, JournalEvent::Written);
        }
    }

    /// A file in the place of the folder: not even the superuser writes there.
    fn block(&self) {
        fs::write(self.home.path().join("journal"), "").expect("written");
    }

    fn unblock(&self) {
        fs::remove_file(self.home.path().join("journal")).expect("removed");
    }

    fn files(&self) -> usize {
        let folder = fs::read_dir(self.home.path().join("journal"));
        let names = folder.into_iter().flatten().flatten();
        let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter(|name| name.ends_with(".jsonl")).count()
    }

    /// What the next start would find.
    fn into_recovered_turns(self) -> Vec<JournaledTurn> {
        let Self { home, writer } = self;
        drop(writer);
        let found = Journals::new(home.path().join("journal")).claim_orphaned();
        let turns = found.into_iter().map(|found| match found {
            OrphanedJournal::Recoverable { turns, .. } => turns,
            OrphanedJournal::Unrecognized(notice) => panic!("{notice:?}"),
        });
        turns.flatten().collect()
    }
}

#[tokio::test(start_paused = true)]
async fn journal_is_kept_until_its_answer_is_saved() {
    let mut desk = fixture();
    desk.add_answered_turn(FIRST, SaveSeq::NEVER);
    desk.finish_writes().await;
    desk.writer.session_saved(FIRST, SaveSeq::default());
    desk.finish_writes().await;
    assert_eq!(desk.files(), 1, "an earlier save has no such answer");
    desk.writer.session_saved(OTHER, SaveSeq::NEVER);
    desk.finish_writes().await;
    assert_eq!(desk.files(), 1, "nor has one of another conversation");
    desk.writer.session_saved(FIRST, SaveSeq::NEVER);
    desk.finish_writes().await;
    assert_eq!(desk.files(), 0);
}

#[tokio::test(start_paused = true)]
async fn journal_of_another_conversation_waits_for_its_own_save() {
    let mut desk = fixture();
    desk.add_answered_turn(FIRST, SaveSeq::NEVER);
    desk.add_answered_turn(OTHER, SaveSeq::NEVER);
    desk.finish_writes().await;
    assert_eq!(desk.files(), 2);
    desk.writer.session_saved(OTHER, SaveSeq::NEVER);
    desk.finish_writes().await;
    assert_eq!(desk.files(), 1);
    let turns = desk.into_recovered_turns();
    assert_eq!(turns.len(), 1, "the one of the first conversation");
}

#[tokio::test(start_paused = true)]
async fn stopping_a_turn_keeps_earlier_unsaved_answers() {
    let mut desk = fixture();
    desk.add_answered_turn(FIRST, SaveSeq::NEVER);
    desk.writer.begin(FIRST, turn("r"));
    desk.writer.end_turn(None);
    desk.finish_writes().await;
    let turns = desk.into_recovered_turns();
    let told: Vec<_> = turns
        .iter()
        .map(|turn| {
            (
                turn.prompt.as_str(),
                turn.answer.is_some(),
                turn.ended_unanswered,
            )
        })
        .collect();
    assert_eq!(told, [("q", true, false), ("r", false, true)]);
}

#[tokio::test(start_paused = true)]
async fn stopping_the_only_turn_removes_the_journal() {
    let mut desk = fixture();
    desk.writer.begin(FIRST, turn("q"));
    desk.finish_writes().await;
    assert_eq!(desk.files(), 1);
    desk.writer.end_turn(None);
    desk.finish_writes().await;
    assert_eq!(desk.files(), 0);
}

#[tokio::test(start_paused = true)]
async fn failed_writes_are_retried_until_the_disk_recovers() {
    let mut desk = fixture();
    desk.block();
    desk.writer.begin(FIRST, turn("q"));
    let delta = TurnEvent::Delta {
        piece: PieceId(1),
        kind: PieceKind::Text,
        text: "아직".to_owned(),
    };
    desk.writer.record_event(&delta);
    let step = desk.writer.next_event().await;
    assert!(matches!(step, JournalEvent::Failed(_)), "{step:?}");
    desk.unblock();
    desk.finish_writes().await;
    let turns = desk.into_recovered_turns();
    let told: Vec<_> = turns
        .iter()
        .map(|turn| (turn.prompt.as_str(), turn.answer_text()))
        .collect();
    assert_eq!(told, [("q", "아직".to_owned())]);
}

#[tokio::test(start_paused = true)]
async fn failing_disk_does_not_delay_an_answer() {
    let mut desk = fixture();
    desk.block();
    desk.add_answered_turn(FIRST, SaveSeq::NEVER);
    assert!(desk.writer.is_holding_events());
    let step = desk.writer.next_event().await;
    assert!(matches!(step, JournalEvent::Failed(_)), "{step:?}");
    assert!(!desk.writer.is_holding_events());
    assert!(
        !desk.writer.has_all_answers_on_disk(),
        "it is in no journal"
    );
}

#[test]
fn slow_disk_delays_an_answer_only_briefly() {
    let mut runtime = Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true);
    let runtime = runtime.max_blocking_threads(1).build().expect("a runtime");
    let (open, gate) = std::sync::mpsc::channel::<()>();
    runtime.block_on(async {
        // The one thread that writes is busy until the gate opens.
        let busy = tokio::task::spawn_blocking(move || gate.recv());
        let mut desk = fixture();
        desk.add_answered_turn(FIRST, SaveSeq::NEVER);
        let patience = HOLD_MAX + Duration::from_millis(1);
        let step = timeout(patience, desk.writer.next_event());
        let (step, ()) = tokio::join!(step, advance(patience));
        assert_eq!(step, Ok(JournalEvent::Slow));
        assert!(!desk.writer.is_holding_events());
        drop(open);
        busy.await.expect("no panic").expect_err("nothing was sent");
        desk.finish_writes().await;
        assert_eq!(desk.files(), 1);
    });
}
