//! The last run's unsent text while a private conversation is open.

use crate::domain::{UnsentPrompt, UnsentText};
use crate::tui::update::tests::draft::load_draft;
use crate::tui::update::tests::*;

const TWO_SET_ASIDE: &str =
    "2 queued prompts of the last run are set aside until private mode ends.";

fn draft(queue: &[&str], message: &str) -> UnsentText {
    UnsentText {
        queue: queue.iter().map(|text| UnsentPrompt::from(*text)).collect(),
        ..UnsentText::from(message)
    }
}

/// Turns private mode on through the list of commands, so that the message stays.
fn begin_private(chat: &mut ChatHarness) {
    chat.keys("<Ctrl+p>private<Enter>");
    chat.engine_event(Event::PrivateChanged(true));
}

fn queued(chat: &ChatHarness) -> Vec<String> {
    let prompts = chat.model.composer.queue.prompts();
    prompts.map(|prompt| prompt.text.clone()).collect()
}

/// The commands that change the draft on disk.
fn saves(chat: &mut ChatHarness) -> Vec<Command> {
    let mut commands = chat.wait(10_000).commands();
    commands.retain(|command| {
        matches!(
            command,
            Command::SaveDraft(_) | Command::SaveSetAsideDraft(_)
        )
    });
    commands
}

#[test]
fn a_private_conversation_does_not_send_the_last_runs_queue() {
    let mut chat = chat();
    load_draft(&mut chat, draft(&["one", "two"], ""));
    chat.keys("/private<Enter>secret<Enter>");
    // Private mode is not confirmed yet.
    assert_eq!(chat.prompts(), ["secret"]);
    chat.model_answers("1")
        .engine_event(Event::PrivateChanged(true))
        .keys("<Enter>hidden<Enter>")
        .model_answers("2")
        .keys("<Enter>");
    assert_eq!(chat.prompts(), ["hidden"]);
    assert_eq!(queued(&chat), [""; 0]);
    chat.quits();
    assert_eq!(saves(&mut chat), [], "the draft stays on disk as it is");
}

#[test]
fn the_last_runs_queue_returns_when_private_mode_ends() {
    for opens_another in [true, false] {
        let mut chat = chat();
        load_draft(&mut chat, draft(&["one", "two"], ""));
        chat.keys("/private<Enter>")
            .engine_event(Event::PrivateChanged(true));
        let screen = chat.screen();
        assert!(screen.contains(TWO_SET_ASIDE), "{screen}");
        chat.keys("secret<Enter>").model_answers("1");
        let screen = chat.screen();
        assert!(screen.contains(TWO_SET_ASIDE), "{screen}");
        if opens_another {
            chat.engine_event(Event::PrivateChanged(false));
            chat.engine_event(Event::SessionOpened(Arc::new(Session::new("m"))));
        } else {
            chat.keys("/private off<Enter>")
                .engine_event(Event::PrivateChanged(false));
        }
        assert_eq!(queued(&chat), ["one", "two"], "{opens_another}");
        assert!(!chat.screen().contains("set aside"), "{}", chat.screen());
        assert!(chat.model.composer.queue.is_paused);
        let restored = "Restored 2 queued prompts; the queue is paused.";
        let is_shown = (0..4).any(|_| {
            chat.wait(10_000);
            chat.notice().starts_with(restored)
        });
        assert!(is_shown, "{opens_another}");
        chat.sent.clear();
        chat.keys("<Enter>");
        assert_eq!(chat.prompts(), ["one"]);
    }
}

#[test]
fn a_private_conversation_sets_aside_an_edited_prompt_of_the_last_run() {
    let mut chat = chat();
    load_draft(&mut chat, draft(&["one", "two"], ""));
    chat.keys("<Up><Enter>!");
    begin_private(&mut chat);
    assert_eq!((chat.message().as_str(), queued(&chat).len()), ("", 0));
    chat.engine_event(Event::PrivateChanged(false))
        .engine_event(Event::SessionOpened(Arc::new(Session::new("m"))));
    assert_eq!(queued(&chat), ["one", "two!"]);
}

#[test]
fn unsent_text_of_a_private_conversation_is_removed_from_disk() {
    let mut chat = chat();
    load_draft(&mut chat, draft(&["one"], ""));
    chat.keys("<Enter>two<Enter>three");
    chat.wait(10_000).sent.clear();
    begin_private(&mut chat);
    // The queue of this conversation goes on, but is no longer saved.
    assert_eq!(
        saves(&mut chat),
        [Command::SaveDraft(UnsentText::default())]
    );
    assert_eq!(queued(&chat), ["two"]);
    chat.keys("!<Ctrl+c>").quits();
    assert_eq!(saves(&mut chat), []);
}

#[test]
fn the_last_runs_message_stays_on_disk_until_the_private_conversation_sends_it() {
    let mut chat = chat();
    let unsent = draft(&["one"], "message");
    load_draft(&mut chat, unsent.clone());
    chat.wait(10_000).sent.clear();
    begin_private(&mut chat);
    assert_eq!(saves(&mut chat), [Command::SaveDraft(unsent)]);
    chat.keys("!").quits();
    assert_eq!(saves(&mut chat), [], "the edit is private");
    chat.keys("<Enter>");
    let set_aside = Command::SaveSetAsideDraft(draft(&["one"], ""));
    assert_eq!(saves(&mut chat), [set_aside]);
}

#[test]
fn a_draft_that_arrives_in_a_private_conversation_is_restored_after_it() {
    let mut chat = chat();
    chat.keys("/private<Enter>");
    load_draft(&mut chat, draft(&["one"], "message"));
    chat.engine_event(Event::PrivateChanged(true));
    assert_eq!((chat.message().as_str(), queued(&chat).len()), ("", 0));
    chat.engine_event(Event::PrivateChanged(false))
        .engine_event(Event::SessionOpened(Arc::new(Session::new("m"))));
    assert_eq!(chat.message(), "message");
    assert_eq!(queued(&chat), ["one"]);
}

#[test]
fn a_rejected_switch_to_private_mode_puts_the_queue_back() {
    let mut chat = chat();
    load_draft(&mut chat, draft(&["one"], ""));
    chat.keys("/private<Enter>").sent.clear();
    let command = Box::new(Command::SetPrivate(true));
    chat.input(UiInput::CommandRejected(command));
    assert_eq!(queued(&chat), ["one"]);
    let saved = Command::SaveDraft(draft(&["one"], ""));
    assert!(saves(&mut chat).contains(&saved));
}
