//! Prompts that wait for the running turn: selecting, editing, moving and deleting them.

use crate::tui::update::tests::*;

fn queued(prompts: &[&str]) -> ChatHarness {
    let mut chat = chat();
    chat.keys("one<Enter>");
    for prompt in prompts {
        chat.keys(prompt).keys("<Enter>");
    }
    chat.sent.clear();
    chat
}

fn queue(chat: &ChatHarness) -> Vec<&str> {
    let prompts = chat.model.composer.queue.prompts();
    prompts.map(|prompt| prompt.text.as_str()).collect()
}

#[test]
fn queued_prompt_is_edited_in_place() {
    let mut chat = queued(&["two", "three"]);
    chat.keys("<Up><Up><Enter>");
    assert_eq!(chat.message(), "two");
    assert!(chat.screen().contains("editing"), "{}", chat.screen());
    chat.keys("!<Enter>");
    assert_eq!(
        (chat.message().as_str(), queue(&chat)),
        ("", vec!["two!", "three"])
    );
    assert!(chat.model.running_turn().is_some() && chat.prompts().is_empty());
    chat.model_answers("1");
    assert_eq!(chat.prompts(), ["two!"]);
    chat.model_answers("2");
    assert_eq!(chat.prompts(), ["three"]);
}

#[test]
fn escape_discards_the_edit_of_a_queued_prompt() {
    let mut chat = queued(&["두 번째", "three"]);
    chat.keys("<Up><Up><Enter> more<Esc>");
    assert_eq!(
        (chat.message().as_str(), queue(&chat)),
        ("", vec!["두 번째", "three"])
    );
    assert!(chat.notice().contains("unchanged"), "{}", chat.notice());
}

#[test]
fn prompt_being_edited_is_not_sent_until_it_is_put_back() {
    let mut chat = queued(&["two", "three"]);
    chat.keys("<Up><Up><Enter>").model_answers("1");
    assert!(chat.prompts().is_empty());
    chat.keys("!<Enter>");
    assert_eq!(chat.prompts(), ["two!"]);
    let mut chat = queued(&["two"]);
    chat.keys("<Up><Enter>").model_answers("1").keys("<Esc>");
    assert_eq!(chat.prompts(), ["two"]);
}

#[test]
fn delete_removes_the_selected_queued_prompt() {
    let mut chat = queued(&["two", "three", "four"]);
    chat.keys("<Up><Up><Delete>");
    assert_eq!(queue(&chat), ["two", "four"]);
    assert!(chat.model.running_turn().is_some());
    assert!(!chat.commands().contains(&Command::Interrupt));
}

#[test]
fn alt_up_and_alt_down_move_the_selected_queued_prompt() {
    let mut chat = queued(&["two", "three", "four"]);
    chat.keys("<Up><Alt+Up><Alt+Up><Alt+Up>");
    assert_eq!(queue(&chat), ["four", "two", "three"]);
    chat.keys("<Alt+Down>");
    assert_eq!(queue(&chat), ["two", "four", "three"]);
}

#[test]
fn typing_or_leaving_the_rows_of_the_queue_returns_to_the_message() {
    let mut chat = queued(&["two"]);
    chat.keys("<Up>하");
    assert_eq!((chat.message().as_str(), queue(&chat)), ("하", vec!["two"]));
    let mut chat = queued(&["two"]);
    chat.keys("<Up>delete it");
    assert_eq!(chat.message(), "delete it");
    assert_eq!(queue(&chat), ["two"]);
    let mut chat = queued(&["two"]);
    chat.keys("<Up><Down>dd");
    assert_eq!(chat.message(), "dd");
    let mut chat = queued(&["two"]);
    chat.keys("<Up><Esc>d");
    assert_eq!((chat.message().as_str(), queue(&chat)), ("d", vec!["two"]));
}

#[test]
fn a_queued_prompt_cannot_become_a_command_and_a_blank_one_is_removed() {
    let mut chat = queued(&["two"]);
    chat.keys("<Up><Enter><Ctrl+u>/new x<Enter>");
    assert!(
        chat.notice().contains("cannot be queued"),
        "{}",
        chat.notice()
    );
    assert_eq!(chat.message(), "/new x");
    chat.keys("<Ctrl+u><Enter>");
    assert_eq!(
        queue(&chat),
        Vec::<&str>::new(),
        "a blank prompt is removed"
    );
}

#[test]
fn three_rows_are_shown_and_the_selected_one_is_among_them() {
    let mut chat = queued(&["two", "three", "four", "five", "six"]);
    let screen = chat.screen();
    let is_shown = |screen: &str, text: &str| screen.lines().any(|row| row.contains(text));
    for shown in ["two", "three", "four", "+2 more queued"] {
        assert!(is_shown(&screen, shown), "{shown}\n{screen}");
    }
    assert!(!is_shown(&screen, "five"), "{screen}");
    let screen = chat.keys("<Up>").screen();
    assert!(
        is_shown(&screen, "▌  six") || is_shown(&screen, "▌ six"),
        "{screen}"
    );
    assert!(is_shown(&screen, "Alt+Up/Alt+Down move"), "{screen}");
}

#[test]
fn queue_is_saved_with_each_change_and_removed_once_sent() {
    let mut chat = chat();
    chat.keys("one<Enter>");
    let drafts = |chat: &mut ChatHarness| -> Vec<String> {
        let draft = |command| match command {
            Command::SaveDraft(draft) => {
                let texts: Vec<&str> = draft.queue.iter().map(|prompt| &*prompt.text).collect();
                Some(texts.join(" "))
            }
            _ => None,
        };
        chat.commands().into_iter().filter_map(draft).collect()
    };
    chat.keys("two<Enter>three<Enter>");
    assert_eq!(drafts(&mut chat), ["two", "two three"]);
    chat.keys("<Up><Delete>");
    assert_eq!(drafts(&mut chat), ["two"]);
    chat.model_answers("1");
    assert_eq!(drafts(&mut chat), [""]);
}

#[test]
fn private_queue_is_never_saved() {
    let mut chat = chat();
    chat.keys("/private<Enter>")
        .engine_event(Event::PrivateChanged(true));
    chat.keys("one<Enter>two<Enter>").keys("<Up><Delete>");
    let is_draft = |command: &Command| matches!(command, Command::SaveDraft(_));
    assert!(!chat.commands().iter().any(is_draft));
}

#[test]
fn a_queued_prompt_that_starts_does_not_move_the_chat() {
    let mut chat = queued(&["two"]);
    let long: Vec<String> = (0..60).map(|line| format!("line {line}\n")).collect();
    chat.model_says(&long.join("\n")).screen();
    chat.keys("<PgUp><PgUp>");
    let before = chat.screen();
    let first_row = before.lines().nth(1).expect("a row").to_owned();
    chat.model_answers("end");
    assert_eq!(chat.prompts(), ["two"]);
    let after = chat.screen();
    assert_eq!(after.lines().nth(1), Some(first_row.as_str()), "{after}");
    assert!(after.contains("new line"), "{after}");
    // The user's own prompt scrolls to the end.
    chat.model_answers("2").keys("three<Enter>");
    assert!(chat.screen().contains("three"), "{}", chat.screen());
}

fn open_new_conversation(chat: &mut ChatHarness) {
    chat.keys("/new<Enter>");
    let session = Session::new("m1".to_owned());
    chat.engine_event(Event::SessionOpened(Arc::new(session)));
}

#[test]
fn queued_prompts_of_the_last_conversation_go_to_the_history_unjoined() {
    let mut chat = queued(&["two", "three"]);
    chat.turn_ends(TurnEnd::Cancelled);
    open_new_conversation(&mut chat);
    assert_eq!((chat.message(), queue(&chat)), (String::new(), vec![]));
    let notice = "2 queued prompts of the last conversation are in the history. Ctrl+R finds them.";
    assert_eq!(chat.notice(), notice);
    chat.keys("<Up>");
    assert_eq!(chat.message(), "three");
    chat.keys("<Up>");
    assert_eq!(chat.message(), "two");
}

#[test]
fn one_queued_prompt_of_the_last_conversation_goes_into_an_empty_message_only() {
    let mut chat = queued(&["two"]);
    chat.turn_ends(TurnEnd::Cancelled);
    open_new_conversation(&mut chat);
    assert_eq!(chat.message(), "two");
    assert_eq!(
        chat.notice(),
        "Moved the queued prompt back to the message."
    );
    let mut chat = queued(&["two"]);
    chat.turn_ends(TurnEnd::Cancelled).keys("draft");
    let session = Session::new("m1".to_owned());
    chat.engine_event(Event::SessionOpened(Arc::new(session)));
    assert_eq!(chat.message(), "draft");
    let notice = "The queued prompt of the last conversation is in the history. Ctrl+R finds it.";
    assert_eq!(chat.notice(), notice);
}

#[test]
fn a_queued_prompt_never_replaces_typed_words() {
    for typed in [
        UiInput::Paste("typed words".into()),
        UiInput::Burst("typed words".into()),
    ] {
        let mut chat = queued(&["two", "three"]);
        chat.keys("<Up>").input(typed).keys("<Enter>");
        assert_eq!(queue(&chat), ["two", "three", "typed words"]);
        assert_eq!(chat.message(), "");
    }
    let mut chat = queued(&["two", "three"]);
    chat.keys("<Up>typed words<Enter>");
    assert_eq!(queue(&chat), ["two", "three", "typed words"]);
}

#[test]
fn words_typed_into_a_queued_prompt_can_be_recalled_after_escape() {
    let mut chat = queued(&["two"]);
    chat.keys("<Up><Enter> and more<Esc>");
    assert_eq!(queue(&chat), ["two"]);
    assert_eq!(chat.message(), "");
    chat.model_answers("1").model_answers("2").keys("<Up>");
    let prompts = chat.model.composer.history().prompts();
    assert!(
        prompts.iter().any(|prompt| prompt == "two and more"),
        "{prompts:?}"
    );
}
