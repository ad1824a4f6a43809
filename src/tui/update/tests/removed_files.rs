//! Removing one of several attached files, and bringing it back.

use super::attachments::{answer, image};
use crate::tui::update::tests::*;

fn with_files(paths: &[&str]) -> ChatHarness {
    let mut chat = chat();
    for path in paths {
        chat.input(UiInput::Paste(format!("{path}\n")));
        answer(&mut chat, Ok(image(path)));
    }
    chat
}

fn names(chat: &ChatHarness) -> Vec<&str> {
    let files = chat.model.attachments.files().iter();
    files
        .map(|file| file.name.rsplit('/').next().unwrap_or_default())
        .collect()
}

#[test]
fn undo_brings_a_removed_file_back_after_the_text_that_was_typed_since() {
    for before in ["", "Look: ", "abc"] {
        let mut chat = with_files(&["/a/one.png"]);
        chat.keys(before).keys("<Alt+x>sec");
        assert_eq!(names(&chat), [""; 0]);
        // Undo takes a word at a time, so it may also take what was typed before.
        for _ in 0..10 {
            if names(&chat) == ["one.png"] {
                break;
            }
            chat.keys("<Ctrl+_>");
        }
        assert_eq!(names(&chat), ["one.png"], "{before}");
        assert!(before.starts_with(&chat.message()), "{before}");
        chat.keys("<Ctrl+_><Ctrl+_><Ctrl+_>");
        assert_eq!(names(&chat), ["one.png"], "only once: {before}");
    }
}

#[test]
fn a_file_removed_from_a_message_that_was_sent_does_not_come_back() {
    let mut chat = with_files(&["/a/one.png"]);
    chat.keys("<Alt+x>hello<Enter>")
        .model_answers("1")
        .wait(2_000);
    chat.keys("x<Ctrl+_><Ctrl+_><Ctrl+_>");
    assert_eq!(names(&chat), [""; 0]);
}

#[test]
fn the_palette_asks_which_of_several_files_to_remove() {
    let mut chat = with_files(&["/a/one.png", "/a/two.png", "/a/three.png"]);
    chat.keys("my draft<Ctrl+p>remove attached<Enter>");
    let screen = chat.screen();
    assert!(screen.contains("Remove a file"), "{screen}");
    chat.keys("2");
    assert_eq!(names(&chat), ["one.png", "three.png"]);
    assert_eq!(chat.message(), "my draft");
    chat.keys("<Alt+x>");
    assert_eq!(names(&chat), ["one.png"], "the key takes the last one");
    chat.keys("<Ctrl+p>remove attached<Enter>");
    assert_eq!(names(&chat), [""; 0], "no choice between one");
}

#[test]
fn the_detach_command_completes_the_attached_files() {
    let mut chat = with_files(&["/a/one.png", "/b/one.png", "/a/two.png"]);
    chat.keys("/detach ");
    let screen = chat.screen();
    for row in ["1  ", "2  ", "3  "] {
        assert!(screen.contains(row), "{screen}");
    }
    chat.keys("two<Tab><Enter>");
    assert_eq!(names(&chat), ["one.png", "one.png"]);
}
