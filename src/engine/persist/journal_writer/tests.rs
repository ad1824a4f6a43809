//! When a journal goes and when it stays, on disks that take, refuse and dawdle.

use super::*;
use crate::domain::{PieceId, Usage};
use crate::store::{JournaledTurn, OrphanedJournal};
use jiff::Timestamp;
use std::fs;
use tempfile::TempDir;
use tokio::runtime::Builder;
use tokio::time::{advance, timeout};

const FIRST: Epoch = Epoch(1);
const OTHER: Epoch = Epoch(2);

struct Desk {
    home: TempDir,
    writer: JournalWriter,
}

fn desk() -> Desk {
    let home = TempDir::new().expect("a scratch folder");
    let journals = Arc::new(Journals::new(home.path().join("journal")));
    let writer = JournalWriter::new(journals);
    Desk { home, writer }
}

fn turn(prompt: &str) -> Record {
    Record::Turn {
        prompt: prompt.to_owned(),
        model: "m".to_owned(),
        session: None,
        started: Timestamp::UNIX_EPOCH.to_string(),
        before: 0,
        at: Timestamp::UNIX_EPOCH.to_string(),
    }
}

fn answer(text: &str) -> Record {
    Record::answer(text, Usage::default(), Timestamp::UNIX_EPOCH)
}

impl Desk {
    /// A turn of this conversation that was answered; the save with `until` has it.
    fn answers(&mut self, epoch: Epoch, until: Ticket) {
        self.writer.begin(epoch, turn("q"));
        self.writer.answered(answer("a"), until);
    }

    async fn works(&mut self) {
        while !self.writer.is_idle() {
            assert_eq!(self.writer.step().await, Step::Written);
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
    fn left(self) -> Vec<JournaledTurn> {
        let Self { home, writer } = self;
        drop(writer);
        let found = Journals::new(home.path().join("journal")).left();
        let turns = found.into_iter().map(|found| match found {
            OrphanedJournal::Left { turns, .. } => turns,
            OrphanedJournal::Foreign(notice) => panic!("{notice:?}"),
        });
        turns.flatten().collect()
    }
}

#[tokio::test(start_paused = true)]
async fn a_journal_stays_until_the_save_that_has_its_answer() {
    let mut desk = desk();
    desk.answers(FIRST, Ticket::NEVER);
    desk.works().await;
    desk.writer.saved(FIRST, Ticket::default());
    desk.works().await;
    assert_eq!(desk.files(), 1, "an earlier save has no such answer");
    desk.writer.saved(OTHER, Ticket::NEVER);
    desk.works().await;
    assert_eq!(desk.files(), 1, "nor has one of another conversation");
    desk.writer.saved(FIRST, Ticket::NEVER);
    desk.works().await;
    assert_eq!(desk.files(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_journal_of_a_conversation_that_was_left_waits_for_its_own_save() {
    let mut desk = desk();
    desk.answers(FIRST, Ticket::NEVER);
    desk.answers(OTHER, Ticket::NEVER);
    desk.works().await;
    assert_eq!(desk.files(), 2);
    desk.writer.saved(OTHER, Ticket::NEVER);
    desk.works().await;
    assert_eq!(desk.files(), 1);
    let turns = desk.left();
    assert_eq!(turns.len(), 1, "the one of the first conversation");
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_is_stopped_takes_no_unsaved_answer_along() {
    let mut desk = desk();
    desk.answers(FIRST, Ticket::NEVER);
    desk.writer.begin(FIRST, turn("r"));
    desk.writer.ended(None);
    desk.works().await;
    let turns = desk.left();
    let told: Vec<_> = turns
        .iter()
        .map(|turn| (turn.prompt.as_str(), turn.answer.is_some(), turn.ended))
        .collect();
    assert_eq!(told, [("q", true, false), ("r", false, true)]);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_is_stopped_and_needs_nothing_leaves_nothing() {
    let mut desk = desk();
    desk.writer.begin(FIRST, turn("q"));
    desk.works().await;
    assert_eq!(desk.files(), 1);
    desk.writer.ended(None);
    desk.works().await;
    assert_eq!(desk.files(), 0);
}

#[tokio::test(start_paused = true)]
async fn what_the_disk_refused_is_written_as_soon_as_it_takes_it() {
    let mut desk = desk();
    desk.block();
    desk.writer.begin(FIRST, turn("q"));
    let delta = TurnEvent::Delta {
        piece: PieceId(1),
        kind: PieceKind::Text,
        text: "아직".to_owned(),
    };
    desk.writer.note(&delta);
    let step = desk.writer.step().await;
    assert!(matches!(step, Step::Failed(_)), "{step:?}");
    desk.unblock();
    desk.works().await;
    let turns = desk.left();
    let told: Vec<_> = turns
        .iter()
        .map(|turn| (turn.prompt.as_str(), turn.words()))
        .collect();
    assert_eq!(told, [("q", "아직".to_owned())]);
}

#[tokio::test(start_paused = true)]
async fn a_disk_that_refuses_holds_no_answer_back() {
    let mut desk = desk();
    desk.block();
    desk.answers(FIRST, Ticket::NEVER);
    assert!(desk.writer.holds());
    let step = desk.writer.step().await;
    assert!(matches!(step, Step::Failed(_)), "{step:?}");
    assert!(!desk.writer.holds());
    assert!(!desk.writer.has_all(), "it is in no journal");
}

#[test]
fn a_disk_that_dawdles_holds_an_answer_back_for_a_moment_only() {
    let mut runtime = Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true);
    let runtime = runtime.max_blocking_threads(1).build().expect("a runtime");
    let (open, gate) = std::sync::mpsc::channel::<()>();
    runtime.block_on(async {
        // The one thread that writes is busy until the gate opens.
        let busy = tokio::task::spawn_blocking(move || gate.recv());
        let mut desk = desk();
        desk.answers(FIRST, Ticket::NEVER);
        let patience = HOLD_MAX + Duration::from_millis(1);
        let step = timeout(patience, desk.writer.step());
        let (step, ()) = tokio::join!(step, advance(patience));
        assert_eq!(step, Ok(Step::Slow));
        assert!(!desk.writer.holds());
        drop(open);
        busy.await.expect("no panic").expect_err("nothing was sent");
        desk.works().await;
        assert_eq!(desk.files(), 1);
    });
}
