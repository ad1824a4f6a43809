//! A message that is cleared with Ctrl+C or replaced from the history is not lost, nor is a removed
//! file.

use crate::domain::UnsentText;
use crate::tui::update::tests::attachments::{answer, image, sent_files};
use crate::tui::update::tests::*;

/// Takes the texts that were added to the history file.
fn saved(chat: &mut ChatHarness) -> Vec<String> {
    let text = |command| match command {
        Command::AddToHistory(text) => Some(text),
        _ => None,
    };
    chat.commands().into_iter().filter_map(text).collect()
}

fn chat_with_history() -> ChatHarness {
    let mut chat = chat();
    chat.keys("the third one<Enter>").model_answers("1");
    chat.commands();
    chat
}

fn attach_image(chat: &mut ChatHarness) {
    chat.keys("/attach a.png<Enter>");
    answer(chat, Ok(image("a.png")));
}

fn file_names(chat: &ChatHarness) -> Vec<&str> {
    let files = chat.model.attachments.files().iter();
    files.map(|file| file.name.as_str()).collect()
}

#[test]
fn undo_restores_the_draft_that_a_found_prompt_replaced() {
    let mut chat = chat_with_history();
    chat.keys("precious draft<Ctrl+r>third<Enter>");
    assert_eq!(chat.message(), "the third one");
    chat.keys("<Ctrl+_>");
    assert_eq!(chat.message(), "precious draft");
}

#[test]
fn down_leads_from_a_found_prompt_to_the_draft() {
    let mut chat = chat();
    for prompt in ["the first one", "the second one", "the third one"] {
        chat.keys(prompt).keys("<Enter>").model_answers("1");
    }
    chat.keys("precious draft<Ctrl+r>first<Enter>");
    assert_eq!(chat.message(), "the first one");
    chat.keys("<Down>");
    assert_eq!(chat.message(), "precious draft");
    chat.keys("<Ctrl+r>second<Enter><Up>");
    assert_eq!(chat.message(), "the first one", "the prompt before it");
    chat.keys("<Down><Down><Down>");
    assert_eq!(chat.message(), "precious draft");
    chat.keys("<Ctrl+r>second<Enter>!<Down>");
    assert_eq!(chat.message(), "precious draft", "after an edit");
    chat.keys("<Up><Ctrl+r>second<Enter><Down>");
    assert_eq!(chat.message(), "precious draft", "after a recalled prompt");
}

#[test]
fn leaving_the_search_keeps_the_draft_and_the_cursor() {
    let mut chat = chat_with_history();
    chat.keys("precious draft<Left><Left><Ctrl+r>third<Esc><Esc>");
    assert!(chat.model.layer.is_none());
    chat.keys("X");
    assert_eq!(chat.message(), "precious draXft");
}

#[test]
fn a_cleared_message_is_saved_in_the_history() {
    let mut chat = chat_with_history();
    chat.keys("unsent<Ctrl+c>");
    assert_eq!(saved(&mut chat), ["unsent"]);
    // A recalled prompt is in the history file already.
    chat.keys("<Up><Up>");
    assert_eq!(chat.message(), "the third one");
    chat.keys("<Ctrl+c>");
    assert_eq!(saved(&mut chat), [""; 0]);
}

#[test]
fn a_cleared_private_message_is_not_saved() {
    let mut pending = chat();
    pending.keys("/private<Enter>secret<Ctrl+c>");
    assert_eq!(saved(&mut pending), [""; 0]);
    let mut confirmed = chat();
    confirmed
        .keys("/private<Enter>")
        .engine_event(Event::PrivateChanged(true));
    confirmed.keys("secret<Ctrl+c>");
    assert_eq!(saved(&mut confirmed), [""; 0]);
}

#[test]
fn text_replaced_before_private_mode_is_confirmed_is_not_saved() {
    let replaced = |request: &str| {
        let mut chat = chat();
        chat.keys("old<Enter>").model_answers("1").keys(request);
        saved(chat.keys("secret<Home><Up><Enter>"))
    };
    assert_eq!(replaced("/private<Enter>"), [""; 0]);
    assert_eq!(replaced(""), ["secret"], "in an ordinary conversation");
}

#[test]
fn clearing_the_message_clears_its_files_and_undo_restores_both() {
    let mut chat = chat();
    attach_image(&mut chat);
    chat.keys("look<Ctrl+c>");
    assert_eq!((chat.message(), file_names(&chat)), (String::new(), vec![]));
    chat.keys("<Ctrl+_>");
    assert_eq!(chat.message(), "look");
    assert_eq!(file_names(&chat), ["a.png"]);
    chat.keys("<Ctrl+c>other<Enter>");
    assert_eq!(sent_files(&mut chat), [[""; 0]]);
}

#[test]
fn ctrl_c_clears_files_without_a_message_instead_of_quitting() {
    let mut chat = chat();
    attach_image(&mut chat);
    chat.wait(2_000).keys("<Ctrl+c>");
    assert_eq!(file_names(&chat), [""; 0]);
    assert!(!chat.sent.contains(&UiEffect::Quit));
    chat.keys("<Ctrl+_>");
    assert_eq!(file_names(&chat), ["a.png"]);
}

#[test]
fn a_restored_draft_is_cleared_into_the_history() {
    let mut chat = chat();
    chat.engine_event(Event::HistoryLoaded {
        prompts: Arc::default(),
        draft: Some(UnsentText::from("old")),
    });
    chat.keys("<Ctrl+c>");
    assert_eq!(chat.message(), "");
    assert_eq!(saved(&mut chat), ["old"]);
}

#[test]
fn a_draft_that_a_recalled_prompt_replaced_is_kept_when_the_prompt_is_sent() {
    for keys in [
        "precious draft<Up><Enter>",
        "precious draft<Up> again<Enter>",
        "precious draft<Ctrl+r>third<Enter><Enter>",
    ] {
        let mut chat = chat_with_history();
        chat.keys(keys);
        assert_eq!(chat.message(), "", "{keys}");
        assert_eq!(saved(&mut chat), ["precious draft"], "{keys}");
        chat.model_answers("1").keys("<Up><Up>");
        assert_eq!(chat.message(), "precious draft", "{keys}");
    }
}

#[test]
fn a_private_draft_that_a_recalled_prompt_replaced_is_not_saved() {
    let mut chat = chat_with_history();
    chat.keys("/private<Enter>")
        .engine_event(Event::PrivateChanged(true));
    chat.keys("precious draft<Up><Up><Enter>");
    assert_eq!(saved(&mut chat), [""; 0]);
}

#[test]
fn undo_brings_back_each_removed_file() {
    let mut chat = chat();
    chat.keys("Look: ");
    for path in ["/a/one.png", "/a/two.png"] {
        chat.input(UiInput::Paste(format!("{path}\n")));
        answer(&mut chat, Ok(image(path)));
    }
    let count = |chat: &ChatHarness| chat.model.attachments.files().len();
    assert_eq!(count(&chat), 2);
    chat.keys("<Alt+x><Alt+x>");
    assert_eq!(count(&chat), 0);
    chat.keys("<Ctrl+_><Ctrl+_>");
    assert_eq!((count(&chat), chat.message().as_str()), (2, "Look: "));
    chat.keys("<Ctrl+_>");
    assert_eq!((count(&chat), chat.message().as_str()), (2, ""));
}
