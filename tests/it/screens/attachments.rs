//! Snapshots of attached files, files listed for completion, and queued prompts.

use super::at_two_sizes;
use crate::support::attachment_files::{attach, png};
use crate::support::screen_harness::ScreenHarness;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use humble::domain::attachment::{
    AttachmentKind, FoundFile, FoundFiles, ImageFormat, ReadAttachment,
};
use humble::domain::{Attachment, ImageSupport, PieceKind, QueryId};
use humble::protocol::Event;
use humble::tui::UiInput;
use std::sync::Arc;

fn text_file(name: &str, tokens: u64) -> ReadAttachment {
    let folder = tempfile::tempdir().expect("a folder");
    let mut attachment = Attachment::clone(&attach(folder.path(), name, b"text"));
    attachment.bytes = tokens * 4;
    ReadAttachment {
        attachment: Arc::new(attachment),
        may_hold_secrets: name == ".env",
        tokens,
    }
}

fn image(name: &str) -> ReadAttachment {
    let folder = tempfile::tempdir().expect("a folder");
    let mut attachment = Attachment::clone(&attach(folder.path(), name, &png()));
    attachment.bytes = 1_340_000;
    attachment.kind = AttachmentKind::Image {
        format: ImageFormat::Png,
        width: Some(1_280),
        height: Some(720),
    };
    ReadAttachment {
        tokens: attachment.image_tokens(),
        attachment: Arc::new(attachment),
        may_hold_secrets: false,
    }
}

/// Attaches a file with `/attach`. The id of its query is unknown here, so every id gets the answer,
/// and the screen ignores all but one.
fn attach_file(story: &mut ScreenHarness, read: ReadAttachment) {
    let name = read.attachment.name.clone();
    story.types(&format!("/attach {name}")).key(KeyCode::Enter);
    for id in 0..200 {
        let (query, result) = (QueryId(id), Ok(read.clone()));
        story.event(Event::AttachmentRead { query, result });
    }
}

#[test]
fn files_with_the_message() {
    insta::assert_snapshot!(at_two_sizes(|story| {
        attach_file(story, text_file("회의록 3월.md", 1_250));
        attach_file(story, image("screenshot.png"));
        story.types("Compare @screenshot.png with the minutes.");
    }));
}

#[test]
fn files_with_warnings() {
    insta::assert_snapshot!(at_two_sizes(|story| {
        attach_file(story, text_file(".env", 40));
        attach_file(story, text_file("long.log", 40_000));
        attach_file(story, image("screenshot.png"));
        let model = humble::domain::ModelRef {
            name: "qwen3:4b".into(),
            provider: humble::domain::ProviderKind::Ollama,
            model: "qwen3:4b".into(),
        };
        let support = ImageSupport::No;
        story.event(Event::ImageSupportChecked { model, support });
        story.types("Look.").key(KeyCode::Enter);
    }));
}

#[test]
fn files_of_a_sent_prompt() {
    insta::assert_snapshot!(at_two_sizes(|story| {
        attach_file(story, text_file("회의록 3월.md", 1_250));
        attach_file(story, image("screenshot.png"));
        story.prompt("What was decided?");
        story.stream_delta(1, PieceKind::Text, "Nothing yet.");
    }));
}

#[test]
fn a_path_is_typed() {
    insta::assert_snapshot!(at_two_sizes(|story| {
        story.types("see @ma");
        let file = |path: &str| FoundFile {
            path: path.to_owned(),
            is_folder: path.ends_with('/'),
        };
        let found = Arc::new(FoundFiles {
            files: ["src/main.rs", "docs/markdown/", "문서/마감.md"]
                .map(file)
                .to_vec(),
            is_partial: false,
        });
        for id in 0..200 {
            let (query, found) = (QueryId(id), Arc::clone(&found));
            story.event(Event::FilesFound { query, found });
        }
    }));
}

#[test]
fn a_queued_prompt_is_selected() {
    insta::assert_snapshot!(at_two_sizes(|story| {
        story.prompt("One");
        for prompt in ["Two, while one runs", "셋", "Four", "Five", "Six"] {
            story.types(prompt).key(KeyCode::Enter);
        }
        story.key(KeyCode::Up).key(KeyCode::Up);
        let up = KeyEvent::new(KeyCode::Up, KeyModifiers::ALT);
        story.advance_clock(30).input(UiInput::Key(up));
    }));
}
