//! A file that is named in two ways.

use super::attachments::{answer, text_file};
use super::*;

#[test]
fn a_file_that_is_named_by_two_paths_is_attached_once() {
    let mut chat = chat();
    let named = |name: &str| {
        let mut read = text_file("notes.txt");
        let attachment = Arc::make_mut(&mut read.attachment);
        attachment.name = name.to_owned();
        attachment.path = Some("/a/notes.txt".into());
        read
    };
    chat.keys("/attach notes.txt<Enter>");
    answer(&mut chat, Ok(named("notes.txt")));
    chat.input(UiInput::Paste("/a/notes.txt ".into()));
    answer(&mut chat, Ok(named("/a/notes.txt")));
    assert_eq!(chat.model.attachments.files().len(), 1);
    assert_eq!(chat.notice(), "This file is already attached.");
}
