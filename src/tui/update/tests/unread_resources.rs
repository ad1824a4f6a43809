//! Server resources that cannot be read, and resources whose URIs have hidden characters.

use super::attachments::{answer, finds, requested, sent_files, text_file};
use super::mentions::finds_mentioned;
use crate::domain::attachment::AttachmentSource;
use crate::domain::{Server, ServerContent, ServerResource, ServerStatus};
use crate::fixtures;
use crate::tui::update::tests::*;

const REASON: &str = "Resource `note://rain` of server `seoul` could not be loaded: \
    no answer within 60 s.";

fn seoul(uri: &str) -> Server {
    let mut server = fixtures::server("seoul", Vec::new());
    server.content = Arc::new(ServerContent {
        resources: vec![ServerResource {
            uri: uri.to_owned(),
            name: "rain".to_owned(),
            title: None,
            description: None,
            mime_type: None,
            bytes: None,
        }],
        ..ServerContent::default()
    });
    server
}

fn chat_with_resource(uri: &str) -> ChatHarness {
    let mut chat = chat();
    chat.engine_event(Event::ServersListed(vec![seoul(uri)]));
    chat
}

/// A chat in which `keys` tried to send a message whose resource could not be read.
fn failed_to_read(keys: &str) -> ChatHarness {
    let mut chat = chat_with_resource("note://rain");
    chat.keys(keys);
    finds_mentioned(&mut chat, &[]);
    answer(&mut chat, Err(Notice::failure(REASON)));
    chat
}

#[test]
fn the_message_keeps_the_mention_of_a_resource_that_cannot_be_read() {
    let mut chat = failed_to_read("Sum up @seoul:note://rain please<Enter>");
    assert_eq!(chat.message(), "Sum up @seoul:note://rain please");
    let notice = format!("{REASON} Enter sends the message without it.");
    assert_eq!(chat.notice(), notice);
    // The user may come back later than a notice usually stays.
    chat.wait(600_000);
    assert_eq!(chat.notice(), notice);
    chat.keys("<Enter>");
    assert_eq!(chat.notice(), "");
    assert_eq!(sent_files(&mut chat), [Vec::<String>::new()]);
    assert_eq!(chat.message(), "");
}

#[test]
fn a_completed_mention_is_read_again_before_the_message_is_sent_without_it() {
    let mut chat = chat_with_resource("note://rain");
    chat.keys("Sum up @seoul:note");
    finds(&mut chat, &[]);
    chat.keys("<Enter>");
    answer(&mut chat, Err(Notice::failure(REASON)));
    assert_eq!(chat.notice(), REASON, "Enter tries again");
    chat.keys("<Enter>");
    finds_mentioned(&mut chat, &[]);
    answer(&mut chat, Err(Notice::failure(REASON)));
    assert!(sent_files(&mut chat).is_empty());
    let notice = format!("{REASON} Enter sends the message without it.");
    assert_eq!(chat.notice(), notice);
    chat.keys("<Enter>");
    assert_eq!(sent_files(&mut chat), [Vec::<String>::new()]);
}

#[test]
fn the_notice_counts_the_pasted_mentions_that_could_not_be_read() {
    let mut chat = chat();
    let server = |id: &str| Server {
        id: id.into(),
        ..seoul("note://rain")
    };
    chat.engine_event(Event::ServersListed(vec![server("seoul"), server("busan")]));
    chat.input(UiInput::Paste(
        "@seoul:note://rain @busan:note://rain".into(),
    ));
    chat.keys("<Enter>");
    finds_mentioned(&mut chat, &[]);
    let requests = requested(&mut chat);
    let endings = ["it.", "it and another unread file."];
    for ((query, _), ending) in requests.into_iter().zip(endings) {
        let result = Err(Notice::failure(REASON));
        chat.engine_event(Event::AttachmentRead { query, result });
        let notice = format!("{REASON} Enter sends the message without {ending}");
        assert_eq!(chat.notice(), notice);
    }
    chat.keys("<Enter>");
    assert_eq!(sent_files(&mut chat), [Vec::<String>::new()]);
}

#[test]
fn a_notice_about_an_ended_server_does_not_replace_the_reason_for_an_unread_resource() {
    let mut chat = failed_to_read("Sum up @seoul:note://rain please<Enter>");
    let notice = chat.notice();
    let mut died = seoul("note://rain");
    let failure = Notice::failure("Server `seoul` ended.").with_headline("exited with status 3");
    died.status = ServerStatus::Failed(failure);
    chat.engine_event(Event::ServerChanged(died));
    assert_eq!(chat.notice(), notice);
    chat.wait(2_000);
    chat.keys("x");
    assert!(
        chat.notice().starts_with("seoul: exited with status 3"),
        "{}",
        chat.notice()
    );
    assert_eq!(chat.message(), "Sum up @seoul:note://rain pleasex");
    // The changed message is looked at again.
    chat.keys("<Enter>");
    finds_mentioned(&mut chat, &[]);
    assert_eq!(requested(&mut chat).len(), 1);
}

#[test]
fn the_reason_why_a_chosen_resource_was_not_read_stays_until_the_next_key() {
    let mut chat = chat_with_resource("note://rain");
    chat.keys("/resource<Enter><Enter>").keys("Sum it up");
    answer(&mut chat, Err(Notice::failure(REASON)));
    assert_eq!(chat.notice(), REASON);
    chat.wait(30_000);
    assert_eq!(chat.notice(), REASON);
    chat.keys("!");
    assert_eq!(
        (chat.notice(), chat.message()),
        (String::new(), "Sum it up!".to_owned())
    );
}

#[test]
fn the_exact_uri_is_requested_and_its_hidden_characters_are_shown() {
    let uri = "note://\u{1b}[2J\u{202e}txt.exe/%E2%82%AC%0a";
    let shown = "@seoul:note://⟨ESC⟩[2J⟨U+202E⟩txt.exe/%E2%82%AC%0a";
    let source = AttachmentSource::Resource {
        server: "seoul".into(),
        uri: uri.to_owned(),
    };
    let mut chat = chat_with_resource(uri);
    chat.keys("/resource<Enter>");
    let screen = chat.screen();
    assert!(screen.contains(&shown[1..]["seoul:".len()..]), "{screen}");
    chat.keys("<Enter>");
    let mut read = text_file("seoul:x");
    let attachment = Arc::make_mut(&mut read.attachment);
    attachment.name = format!("seoul:{uri}");
    assert_eq!(answer(&mut chat, Ok(read.clone())), source);
    let screen = chat.screen();
    assert!(screen.contains(&format!("@ {}", &shown[1..])), "{screen}");

    // From the list of `@`: the message holds the visible form, which stands for the resource.
    let mut chat = chat_with_resource(uri);
    chat.keys("see @note");
    finds(&mut chat, &[]);
    chat.keys("<Enter>");
    assert_eq!(chat.message(), format!("see {shown} "));
    assert_eq!(answer(&mut chat, Ok(read)), source);
    chat.keys("<Enter>");
    assert_eq!(sent_files(&mut chat), [[format!("seoul:{uri}")]]);

    // Pasted in its visible form.
    let mut chat = chat_with_resource(uri);
    chat.keys("see ").input(UiInput::Paste(shown.into()));
    chat.keys("<Enter>");
    finds_mentioned(&mut chat, &[]);
    let requests = requested(&mut chat);
    assert_eq!(requests.last().map(|(_, source)| source), Some(&source));
}
