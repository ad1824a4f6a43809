//! Mentions of files: a mention and its file are removed together, and the file of a mention that was
//! typed in full is attached when the message is sent.

use super::attachments::{answer, finds, image, requested, sent_files, text_file};
use crate::domain::ImageSupport;
use crate::domain::attachment::AttachmentSource;
use crate::tui::update::tests::*;

/// Answers the search for mentioned files. Returns the paths that were looked for.
pub(super) fn finds_mentioned(chat: &mut ChatHarness, files: &[&str]) -> Vec<String> {
    finds_and_misses(chat, files, &[])
}

/// The same for a search that reports some paths as missing files.
fn finds_and_misses(chat: &mut ChatHarness, files: &[&str], missing: &[&str]) -> Vec<String> {
    let search = |command| match command {
        Command::FindMentioned(query, paths) => Some((query, paths)),
        _ => None,
    };
    let (query, paths) = (chat.commands().into_iter())
        .find_map(search)
        .expect("a search");
    let owned = |paths: &[&str]| paths.iter().map(ToString::to_string).collect();
    chat.engine_event(Event::MentionedFound {
        query,
        files: owned(files),
        missing: owned(missing),
    });
    paths
}

fn completed(before: &str) -> ChatHarness {
    let mut chat = chat();
    chat.keys(before).keys("@a");
    finds(&mut chat, &["a.txt"]);
    chat.keys("<Enter>");
    answer(&mut chat, Ok(text_file("a.txt")));
    assert_eq!(chat.model.attachments.files().len(), 1);
    chat
}

fn file_names(chat: &ChatHarness) -> Vec<&str> {
    let files = chat.model.attachments.files().iter();
    files.map(|file| file.name.as_str()).collect()
}

#[test]
fn a_file_is_removed_and_restored_with_its_mention() {
    for (delete, undo) in [
        ("<Backspace><Backspace>", "t "),
        ("<Ctrl+u>", "<Ctrl+y>"),
        ("<Ctrl+u>", "<Ctrl+_>"),
        ("<Ctrl+w>", "<Ctrl+y>"),
    ] {
        let mut chat = completed("see ");
        chat.keys(delete);
        assert_eq!(file_names(&chat), [""; 0], "{delete}");
        assert!(!chat.screen().contains("tokens"), "{}", chat.screen());
        chat.keys(undo);
        assert_eq!(file_names(&chat), ["a.txt"], "{delete} {undo}");
        assert_eq!(chat.message(), "see @a.txt ");
    }
    // Text around the mention may change.
    let mut chat = completed("see ");
    chat.keys("<Backspace>, 그리고<Home>x");
    assert_eq!(chat.message(), "xsee @a.txt, 그리고");
    assert_eq!(file_names(&chat), ["a.txt"]);
}

#[test]
fn removing_a_file_removes_its_mention() {
    let mut chat = completed("see ");
    chat.keys("and @b @a.txt, too<Home><Alt+x>");
    assert_eq!(chat.message(), "see and @b , too");
    assert_eq!(chat.notice(), "Removed a.txt. Ctrl+_ brings it back.");
    chat.keys("<Ctrl+_>");
    assert!(chat.message().contains("@a.txt"), "{}", chat.message());
    assert_eq!(file_names(&chat), ["a.txt"]);
    // Removing a file that the text does not mention leaves the text unchanged.
    let mut chat = chat_with("/attach b.txt<Enter>");
    answer(&mut chat, Ok(text_file("b.txt")));
    chat.keys("see b.txt<Alt+x>");
    assert_eq!(chat.message(), "see b.txt");
    assert_eq!(file_names(&chat), [""; 0]);
}

fn chat_with(keys: &str) -> ChatHarness {
    let mut chat = chat();
    chat.keys(keys);
    chat
}

#[test]
fn a_mention_typed_in_full_is_attached_and_sent_with_one_enter() {
    let mut chat = chat_with("Read @todo.txt, please.<Enter>");
    assert_eq!(chat.message(), "Read @todo.txt, please.");
    let paths = finds_mentioned(&mut chat, &["todo.txt"]);
    assert_eq!(paths, ["todo.txt,", "todo.txt"]);
    assert!(
        chat.model.running_turn().is_none(),
        "it is still being read"
    );
    let source = answer(&mut chat, Ok(text_file("todo.txt")));
    assert_eq!(source, AttachmentSource::Path("todo.txt".into()));
    assert_eq!(sent_files(&mut chat), [["todo.txt"]]);
    assert_eq!(chat.message(), "");
}

#[test]
fn a_mention_of_no_file_is_text() {
    let mut chat = chat_with("@anna hi<Enter>");
    finds_mentioned(&mut chat, &[]);
    assert_eq!(chat.prompts(), ["@anna hi"]);
    // The answer to an earlier text is too late.
    chat.model_answers("1").keys("@anna hi<Enter>");
    chat.keys("!");
    finds_mentioned(&mut chat, &[]);
    assert_eq!(chat.message(), "@anna hi!");
    assert_eq!(chat.prompts(), [""; 0]);
}

#[test]
fn a_mention_typed_in_full_gets_the_same_checks_as_a_completed_one() {
    let mut chat = chat_with("Read @.env<Enter>");
    finds_mentioned(&mut chat, &[".env"]);
    answer(&mut chat, Ok(text_file(".env")));
    assert!(
        chat.notice().contains("may hold secrets"),
        "{}",
        chat.notice()
    );
    assert!(sent_files(&mut chat).is_empty());
    chat.keys("<Enter>");
    assert_eq!(sent_files(&mut chat), [[".env"]]);

    let mut chat = chat_with("See @b.png<Enter>");
    finds_mentioned(&mut chat, &["b.png"]);
    let (query, _) = requested(&mut chat).pop().expect("a request");
    let result = Ok(image("b.png"));
    chat.engine_event(Event::AttachmentRead { query, result });
    assert!(chat.model.running_turn().is_none(), "it may take no images");
    let model = chat.model.engine.selected.clone().expect("a model");
    let support = ImageSupport::No;
    chat.engine_event(Event::ImageSupportChecked { model, support });
    assert!(
        chat.notice().contains("takes no images"),
        "{}",
        chat.notice()
    );
    assert!(sent_files(&mut chat).is_empty());

    let mut chat = chat_with("See @big.txt<Enter>");
    finds_mentioned(&mut chat, &["big.txt"]);
    answer(&mut chat, Err(Notice::warning("big.txt is too large.")));
    let notice = "big.txt is too large. Enter sends the message without it.";
    assert_eq!(chat.notice(), notice);
    assert_eq!(chat.message(), "See @big.txt");
    chat.keys("<Enter>");
    assert_eq!(sent_files(&mut chat), [Vec::<String>::new()], "as text");
}

#[test]
fn a_pasted_mention_is_shown_before_it_is_sent() {
    let mut chat = chat();
    chat.input(UiInput::Paste("Fix this, see @notes/secret.md".into()));
    chat.keys(".<Enter>");
    finds_mentioned(&mut chat, &["notes/secret.md"]);
    answer(&mut chat, Ok(text_file("notes/secret.md")));
    assert!(sent_files(&mut chat).is_empty());
    let notice = "The message mentions notes/secret.md, now attached. Enter sends it.";
    assert_eq!(chat.notice(), notice);
    assert_eq!(file_names(&chat), ["notes/secret.md"]);
    chat.keys("<Enter>");
    assert_eq!(sent_files(&mut chat), [["notes/secret.md"]]);
}

#[test]
fn mentions_in_commands_and_edited_answers_are_not_looked_up() {
    let mut chat = chat_with("/find @a.txt<Enter>");
    assert!(!chat.commands().iter().any(is_search));
    let mut chat = chat_with("one<Enter>");
    chat.model_answers("See @a.txt").keys("<Tab><Up>e<Enter>");
    assert!(!chat.commands().iter().any(is_search));
}

fn is_search(command: &Command) -> bool {
    matches!(command, Command::FindMentioned(..))
}

#[test]
fn one_blank_follows_a_completed_mention() {
    let mut chat = completed("see ");
    chat.keys(" now");
    assert_eq!(chat.message(), "see @a.txt now");
    // A blank that is there already is used.
    let mut chat = chat_with("see  now<Alt+b><Left>@a");
    finds(&mut chat, &["a.txt"]);
    chat.keys("<Enter>and ");
    assert_eq!(chat.message(), "see @a.txt and now");
    // None is sent at the end.
    let mut chat = completed("see ");
    chat.keys("<Enter>");
    assert_eq!(chat.prompts(), ["see @a.txt"]);
}

#[test]
fn escape_closes_the_list_of_files_and_the_mention_stays_text() {
    let mut chat = chat();
    chat.keys("@a");
    finds(&mut chat, &["a.txt"]);
    chat.keys("<Esc>");
    assert!(!chat.screen().contains("a.txt"), "{}", chat.screen());
    chat.keys("<Enter>");
    finds_mentioned(&mut chat, &[]);
    assert_eq!(sent_files(&mut chat), [Vec::<String>::new()]);
}

#[test]
fn an_edited_prompt_keeps_the_file_that_it_mentions_until_the_mention_goes() {
    let mut chat = completed("see ");
    chat.keys("<Enter>").model_answers("1");
    chat.sent.clear();
    chat.keys("/edit<Enter> again<Enter>").model_answers("2");
    assert_eq!(sent_files(&mut chat), [["a.txt"]]);
    chat.keys("/edit<Enter><Ctrl+u>nothing<Enter>");
    assert_eq!(sent_files(&mut chat), [Vec::<String>::new()]);
}

#[test]
fn a_typed_mention_of_a_missing_file_needs_a_second_enter() {
    let mut chat = chat();
    chat.keys("see @src/gone.rs에서<Enter>");
    finds_and_misses(&mut chat, &[], &["src/gone.rs에서", "src/gone.rs"]);
    assert!(sent_files(&mut chat).is_empty());
    assert_eq!(
        chat.notice(),
        "There is no file src/gone.rs. Press Enter again to send the message as it is."
    );
    chat.keys("<Enter>");
    assert_eq!(chat.prompts(), ["see @src/gone.rs에서"]);
    // A correction is looked up again.
    chat.model_answers("Yes.").keys("see @src/gone.rs<Enter>");
    finds_and_misses(&mut chat, &[], &["src/gone.rs"]);
    chat.keys("<Backspace><Backspace>txt<Enter>");
    finds_mentioned(&mut chat, &["src/gone.txt"]);
    answer(&mut chat, Ok(text_file("src/gone.txt")));
    assert_eq!(sent_files(&mut chat), [["src/gone.txt"]]);
}

#[test]
fn a_pasted_mention_of_a_missing_file_is_sent_as_text() {
    let mut chat = chat();
    chat.input(UiInput::Paste("see @./gone.rs".to_owned()))
        .keys("<Enter>");
    finds_and_misses(&mut chat, &[], &["./gone.rs"]);
    assert_eq!(chat.prompts(), ["see @./gone.rs"]);
}
