//! The message editor: sending, pasting, queueing, commands, quitting.

use crate::tui::update::tests::*;

#[test]
fn a_prompt_is_on_screen_before_it_is_sent() {
    let mut chat = chat();
    chat.keys("hello<Enter>");
    assert!(chat.model.chat.transcript.wait().is_some());
    assert!(
        matches!(&chat.model.chat.transcript.entries()[0].body, Body::Prompt { text, .. } if text == "hello")
    );
    assert_eq!(chat.prompts(), ["hello"]);
}

#[test]
fn a_prompt_written_in_one_go_is_sent() {
    let mut chat = chat();
    chat.at_once("hello\n").wait(20);
    assert_eq!(chat.prompts(), ["hello"]);
}

#[test]
fn a_paste_that_comes_as_keys_is_not_sent() {
    let mut chat = chat();
    chat.at_once("one\ntwo\n").wait(20).at_once("").wait(20);
    assert_eq!(
        (chat.prompts().len(), chat.message().as_str()),
        (0, "one\ntwo\n")
    );
}

#[test]
fn a_paste_cut_behind_a_line_end_is_not_sent() {
    let mut chat = chat();
    chat.at_once("some text\n").at_once("more text").wait(20);
    assert_eq!(
        (chat.prompts().len(), chat.message().as_str()),
        (0, "some text\nmore text")
    );
}

#[test]
fn a_paste_is_not_sent() {
    let mut chat = chat();
    chat.input(Input::Paste("one\r\ntwo\n".into()));
    assert_eq!(
        (chat.prompts().len(), chat.message().as_str()),
        (0, "one\ntwo\n")
    );
}

#[test]
fn a_prompt_during_a_turn_waits_for_its_end() {
    let mut chat = chat();
    chat.keys("one<Enter>two<Enter>");
    assert_eq!(chat.prompts(), ["one"]);
    chat.answers("1");
    assert_eq!(chat.prompts(), ["two"]);
}

#[test]
fn a_queued_prompt_can_be_taken_back() {
    let mut chat = chat();
    chat.keys("one<Enter>two<Enter><Up>");
    assert_eq!(chat.message(), "two");
    assert!(chat.model.composer.queue.prompts.is_empty());
}

#[test]
fn an_interrupt_pauses_the_queue_until_enter() {
    let mut chat = chat();
    chat.keys("one<Enter>two<Enter><Ctrl+c>");
    assert!(chat.commands().contains(&Command::Interrupt));
    chat.ends(TurnEnd::Cancelled);
    assert!(chat.prompts().is_empty());
    chat.keys("<Enter>");
    assert_eq!(chat.prompts(), ["two"]);
}

#[test]
fn up_brings_an_interrupted_prompt_back() {
    let mut chat = chat();
    chat.keys("one<Enter><Ctrl+c>")
        .ends(TurnEnd::Cancelled)
        .keys("<Up>");
    assert_eq!(chat.message(), "one");
}

#[test]
fn ctrl_c_at_rest_leaves_and_keeps_what_was_typed() {
    let mut chat = chat();
    chat.keys("draft<Ctrl+c>");
    let kept = Effect::Send(Command::KeepDraft("draft".into()));
    assert_eq!(chat.sent, [kept, Effect::Quit]);
}

#[test]
fn ctrl_c_right_after_a_turn_asks_again() {
    let mut chat = chat();
    chat.keys("one<Enter>").answers("1").keys("<Ctrl+c>");
    assert_eq!(chat.notice(), "Ctrl+C again to quit");
    assert!(!chat.sent.contains(&Effect::Quit));
    chat.keys("<Ctrl+c>");
    assert!(chat.sent.contains(&Effect::Quit));
}

#[test]
fn an_unknown_command_is_not_sent_and_the_nearest_is_named() {
    let mut chat = chat();
    chat.keys("/sesions<Enter>");
    assert_eq!(
        chat.notice(),
        "Unknown command /sesions. Did you mean /sessions?"
    );
    assert!(chat.commands().is_empty());
}

#[test]
fn commands_complete_with_tab() {
    let mut chat = chat();
    chat.keys("/set-t<Tab>auto<Enter>");
    let auto = crate::domain::ToolMode::Auto;
    assert_eq!(chat.commands(), [Command::SetToolMode(auto)]);
}

#[test]
fn a_command_that_found_no_room_ends_its_turn() {
    let mut chat = chat();
    chat.keys("one<Enter>");
    let Some(Effect::Send(command)) = chat.sent.pop() else {
        panic!("a prompt was submitted");
    };
    chat.input(Input::Unsent(Box::new(command)));
    assert_eq!(chat.model.running(), None);
}

#[test]
fn a_draft_of_the_last_run_is_offered() {
    let mut chat = chat();
    let prompts = Arc::new(vec!["old".to_owned()]);
    let draft = Some("draft".to_owned());
    chat.engine(Event::HistoryLoaded { prompts, draft });
    assert_eq!(chat.message(), "draft");
    chat.keys("<Ctrl+u><Up>");
    assert_eq!(chat.message(), "old");
}
