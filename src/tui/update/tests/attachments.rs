//! Files attached to the message: completing and dropping paths, the rows above the message, and
//! the checks before sending.

use crate::domain::attachment::{
    AttachmentContents, AttachmentKind, AttachmentSource, FoundFile, FoundFiles, ImageFormat,
    ReadAttachment, content_hash,
};
use crate::domain::{Attachment, ImageSupport, Prompt};
use crate::tui::update::tests::*;

pub(super) fn text_file(name: &str) -> ReadAttachment {
    ReadAttachment {
        attachment: Arc::new(Attachment {
            name: name.to_owned(),
            path: None,
            kind: AttachmentKind::Text,
            bytes: 1_200,
            hash: content_hash(name.as_bytes()),
            contents: AttachmentContents::Text("x".into()),
        }),
        may_hold_secrets: name.contains(".env"),
        tokens: 300,
    }
}

pub(super) fn image(name: &str) -> ReadAttachment {
    let mut read = text_file(name);
    let attachment = Arc::make_mut(&mut read.attachment);
    attachment.kind = AttachmentKind::Image {
        format: ImageFormat::Png,
        width: Some(640),
        height: Some(480),
    };
    attachment.contents = AttachmentContents::Image("AA==".into());
    read
}

/// Takes the sources of the files requested since the effects were last taken.
pub(super) fn requested(chat: &mut ChatHarness) -> Vec<(QueryId, AttachmentSource)> {
    let request = |command| match command {
        Command::Attach { query, source } => Some((query, source)),
        _ => None,
    };
    chat.commands().into_iter().filter_map(request).collect()
}

/// Answers the last request for a file. Returns its source.
pub(super) fn answer(
    chat: &mut ChatHarness,
    result: Result<ReadAttachment, Notice>,
) -> AttachmentSource {
    let (query, source) = requested(chat).pop().expect("a request");
    chat.engine_event(Event::AttachmentRead { query, result });
    source
}

fn attach(chat: &mut ChatHarness, read: ReadAttachment) {
    let command = format!("/attach {}<Enter>", read.attachment.name);
    chat.keys(&command);
    answer(chat, Ok(read));
}

/// Answers the last search for files. Returns the fragment of a path that was searched for.
pub(super) fn finds(chat: &mut ChatHarness, paths: &[&str]) -> String {
    let search = |command| match command {
        Command::FindFiles { query, fragment } => Some((query, fragment)),
        _ => None,
    };
    let searches = chat.commands().into_iter().filter_map(search);
    let (query, fragment) = searches.last().expect("a search");
    let file = |path: &&str| FoundFile {
        path: (*path).to_owned(),
        is_folder: path.ends_with('/'),
    };
    let found = Arc::new(FoundFiles {
        files: paths.iter().map(file).collect(),
        is_partial: false,
    });
    chat.engine_event(Event::FilesFound { query, found });
    fragment
}

pub(super) fn sent_files(chat: &mut ChatHarness) -> Vec<Vec<String>> {
    let names = |prompt: Prompt| {
        let names = prompt.attachments.iter().map(|file| file.name.clone());
        names.collect()
    };
    let prompt = |command| match command {
        Command::Submit { prompt, .. } => Some(names(prompt)),
        _ => None,
    };
    chat.commands().into_iter().filter_map(prompt).collect()
}

#[test]
fn chosen_file_is_attached_and_its_name_stays_in_the_text() {
    let mut chat = chat();
    chat.keys("see @ma");
    assert_eq!(finds(&mut chat, &["src/main.rs", "docs/main.md"]), "ma");
    let screen = chat.screen();
    assert!(
        screen.contains("Files") && screen.contains("docs/main.md"),
        "{screen}"
    );
    chat.keys("<Enter>");
    assert_eq!(chat.message(), "see @src/main.rs ");
    let source = answer(&mut chat, Ok(text_file("src/main.rs")));
    assert_eq!(source, AttachmentSource::Path("src/main.rs".into()));
    let screen = chat.screen();
    let row = screen.lines().find(|row| row.contains("~300 tokens"));
    assert!(
        row.is_some_and(|row| row.contains("src/main.rs") && row.contains("text")),
        "{screen}"
    );
    assert!(screen.contains("Alt+X remove file"), "{screen}");
    chat.keys("<Enter>");
    assert_eq!(sent_files(&mut chat), [["src/main.rs"]]);
    let screen = chat.screen();
    assert!(screen.contains("@ src/main.rs  text, 1 kB"), "{screen}");
    assert!(chat.model.attachments.is_empty());
}

#[test]
fn folder_completes_further_and_a_name_with_spaces_is_quoted() {
    let mut chat = chat();
    chat.keys("@My");
    finds(&mut chat, &["My Files/"]);
    chat.keys("<Tab>");
    assert_eq!(chat.message(), "@\"My Files/");
    assert_eq!(finds(&mut chat, &["My Files/한글 a.txt"]), "My Files/");
    chat.keys("<Down><Enter>");
    assert_eq!(chat.message(), "@\"My Files/한글 a.txt\" ");
    let source = requested(&mut chat).pop().expect("a request").1;
    assert_eq!(source, AttachmentSource::Path("My Files/한글 a.txt".into()));
}

#[test]
fn nothing_is_chosen_from_an_outdated_list() {
    let mut chat = chat();
    chat.keys("@a");
    finds(&mut chat, &["a.txt"]);
    chat.keys("b<Enter>");
    assert_eq!(chat.message(), "@ab");
    assert!(requested(&mut chat).is_empty() && sent_files(&mut chat).is_empty());
    chat.keys("<Backspace>b");
    finds(&mut chat, &[]);
    chat.keys("<Enter>");
    mentions::finds_mentioned(&mut chat, &[]);
    assert_eq!(
        sent_files(&mut chat),
        [Vec::<String>::new()],
        "an at sign is just text"
    );
}

#[test]
fn command_attaches_a_path_or_the_clipboard() {
    let mut chat = chat();
    chat.keys("/attach ~/My Notes.md<Enter>");
    let source = answer(&mut chat, Ok(text_file("~/My Notes.md")));
    assert_eq!(source, AttachmentSource::Path("~/My Notes.md".into()));
    chat.keys("<Ctrl+v>");
    assert_eq!(
        answer(&mut chat, Ok(image("clipboard.png"))),
        AttachmentSource::Clipboard
    );
    chat.keys("/attach<Enter>");
    let missing = Notice::warning("The clipboard holds no image.");
    assert_eq!(answer(&mut chat, Err(missing)), AttachmentSource::Clipboard);
    assert!(chat.notice().contains("no image"), "{}", chat.notice());
    assert_eq!(chat.model.attachments.files().len(), 2);
}

#[test]
fn without_an_image_in_the_clipboard_the_last_cut_is_pasted() {
    let mut chat = chat();
    chat.keys("half a thought<Alt+a><Ctrl+x><Ctrl+v>");
    let missing = || Err(Notice::warning("The clipboard holds no image."));
    answer(&mut chat, missing());
    assert_eq!(chat.message(), "half a thought");
    assert!(chat.notice().contains("cut last"), "{}", chat.notice());
    // A file of that name is not the clipboard.
    chat.keys("<Ctrl+u>/attach clipboard<Enter>");
    answer(&mut chat, missing());
    assert_eq!(chat.message(), "");
}

#[test]
fn dropping_and_removing_an_image_leaves_the_text_unchanged() {
    let mut chat = chat();
    chat.keys("Look: ")
        .input(UiInput::Paste("'/a/My Cat.png'\n".into()));
    let source = answer(&mut chat, Ok(image("/a/My Cat.png")));
    assert_eq!(source, AttachmentSource::Dropped("/a/My Cat.png".into()));
    assert_eq!(chat.message(), "Look: ");
    assert!(chat.screen().contains("PNG 640x480"), "{}", chat.screen());
    chat.keys("<Alt+x>");
    assert_eq!(chat.message(), "Look: ");
    chat.keys("<Ctrl+_>");
    assert_eq!(chat.model.attachments.files().len(), 1);
}

#[test]
fn dropped_text_file_is_attached_with_its_size() {
    let mut chat = chat();
    chat.input(UiInput::Paste("/a/notes.txt ".into()));
    let source = answer(&mut chat, Ok(text_file("/a/notes.txt")));
    assert_eq!(source, AttachmentSource::Dropped("/a/notes.txt".into()));
    assert_eq!(chat.message(), "");
    let screen = chat.screen();
    assert!(screen.contains("@ /a/notes.txt"), "{screen}");
    chat.keys("<Alt+x>");
    assert_eq!(chat.message(), "");
}

#[test]
fn a_file_with_an_escaped_name_is_attached_by_its_real_path() {
    let mut chat = chat();
    chat.keys("@two");
    let searches = chat
        .commands()
        .into_iter()
        .filter_map(|command| match command {
            Command::FindFiles { query, .. } => Some(query),
            _ => None,
        });
    let query = searches.last();
    let file = FoundFile {
        path: "two\n\u{202e}lines.txt".into(),
        is_folder: false,
    };
    let found = FoundFiles {
        files: vec![file],
        is_partial: false,
    };
    chat.engine_event(Event::FilesFound {
        query: query.expect("a search"),
        found: Arc::new(found),
    });
    let screen = chat.screen();
    assert!(screen.contains("two⟨LF⟩⟨U+202E⟩lines.txt"), "{screen}");
    chat.keys("<Enter>");
    assert_eq!(chat.message(), "@two⟨LF⟩⟨U+202E⟩lines.txt ");
    let (_, source) = requested(&mut chat).pop().expect("a request");
    assert_eq!(
        source,
        AttachmentSource::Path("two\n\u{202e}lines.txt".into())
    );
}

#[test]
fn paste_that_only_looks_like_paths_is_text() {
    let mut chat = chat();
    let paste = "/a/1.png /a/2.png";
    chat.input(UiInput::Paste(paste.into()));
    let requests = requested(&mut chat);
    assert_eq!(requests.len(), 2);
    let results = [
        Ok(image("/a/1.png")),
        Err(Notice::warning("There is no file /a/2.png.")),
    ];
    for ((query, _), result) in requests.into_iter().zip(results) {
        chat.engine_event(Event::AttachmentRead { query, result });
    }
    assert_eq!(
        (chat.message().as_str(), chat.notice().as_str()),
        (paste, "")
    );
    assert!(chat.model.attachments.is_empty());
}

#[test]
fn images_are_not_sent_to_a_model_that_takes_none() {
    let mut chat = chat();
    attach(&mut chat, text_file("a.txt"));
    attach(&mut chat, image("b.png"));
    let model = chat.model.engine.selected.clone().expect("a model");
    let support = ImageSupport::No;
    chat.engine_event(Event::ImageSupportChecked { model, support });
    assert!(
        chat.screen().contains("qwen3 takes no images"),
        "{}",
        chat.screen()
    );
    chat.keys("Look.<Enter>");
    assert_eq!(chat.message(), "Look.");
    assert!(chat.notice().contains("/set-model"), "{}", chat.notice());
    assert!(sent_files(&mut chat).is_empty());
    chat.keys("<Alt+x><Enter>");
    assert_eq!(sent_files(&mut chat), [["a.txt"]]);
}

#[test]
fn image_support_is_checked_when_an_image_is_attached() {
    let mut chat = chat();
    chat.keys("/attach b.png<Enter>");
    let (query, _) = requested(&mut chat).pop().expect("a request");
    let result = Ok(image("b.png"));
    chat.engine_event(Event::AttachmentRead { query, result });
    assert_eq!(chat.commands(), [Command::CheckImageSupport]);
}

#[test]
fn file_with_secrets_needs_a_second_enter() {
    let mut chat = chat();
    attach(&mut chat, text_file(".env"));
    assert!(
        chat.screen().contains("may hold secrets"),
        "{}",
        chat.screen()
    );
    chat.keys("Read.<Enter>");
    assert!(sent_files(&mut chat).is_empty());
    assert!(chat.notice().contains("Enter again"), "{}", chat.notice());
    chat.keys("<Enter>");
    assert_eq!(sent_files(&mut chat), [[".env"]]);
}

#[test]
fn message_waits_for_files_that_are_being_read() {
    let mut chat = chat();
    chat.keys("/attach a.txt<Enter>Read.<Enter>");
    assert!(
        chat.notice().contains("still being read"),
        "{}",
        chat.notice()
    );
    answer(&mut chat, Ok(text_file("a.txt")));
    assert_eq!(chat.notice(), "", "it has been read");
    chat.keys("<Enter>");
    assert_eq!(sent_files(&mut chat), [["a.txt"]]);
}

#[test]
fn retry_and_edit_keep_the_files() {
    let mut chat = chat();
    attach(&mut chat, text_file("a.txt"));
    chat.keys("Read.<Enter>").model_answers("1");
    assert_eq!(sent_files(&mut chat), [["a.txt"]]);
    chat.keys("<Alt+r>").model_answers("2");
    assert_eq!(sent_files(&mut chat), [["a.txt"]]);
    attach(&mut chat, text_file("b.txt"));
    chat.keys("/edit<Enter>");
    assert!(chat.screen().contains("a.txt") && !chat.screen().contains("b.txt"));
    chat.keys(" Again.<Enter>");
    assert_eq!(sent_files(&mut chat), [["a.txt"]]);
    assert!(
        chat.screen().contains("b.txt"),
        "the next message keeps its file"
    );
}

#[test]
fn queued_prompt_keeps_its_files() {
    let mut chat = chat();
    chat.keys("one<Enter>");
    attach(&mut chat, text_file("a.txt"));
    chat.keys("two<Enter>");
    assert!(chat.screen().contains("[1 file]"), "{}", chat.screen());
    chat.keys("<Up><Enter>");
    assert_eq!(chat.model.attachments.files().len(), 1);
    chat.keys("!<Enter>").sent.clear();
    assert!(chat.model.attachments.is_empty());
    chat.model_answers("1");
    assert_eq!(sent_files(&mut chat), [["a.txt"]]);
}

#[test]
fn at_most_ten_files_are_attached() {
    let mut chat = chat();
    for number in 0..10 {
        attach(&mut chat, text_file(&format!("{number}.txt")));
    }
    chat.sent.clear();
    chat.keys("/attach 11.txt<Enter>");
    assert!(requested(&mut chat).is_empty());
    assert!(chat.notice().contains("At most 10"), "{}", chat.notice());
    assert!(chat.screen().contains("+7 more files"), "{}", chat.screen());
    chat.keys("/detach 3<Enter>/detach 0.txt<Enter>");
    assert_eq!(chat.model.attachments.files().len(), 8);
}

#[test]
fn names_cannot_write_escape_sequences() {
    let mut chat = chat();
    let name = "a\u{1b}]0;x\u{7}\u{202e}.txt";
    chat.keys("@a");
    finds(&mut chat, &[name]);
    assert!(!chat.screen().contains('\u{1b}') && !chat.screen().contains('\u{202e}'));
    chat.keys("<Tab>");
    answer(&mut chat, Ok(text_file(name)));
    chat.keys("Read.<Enter>").model_answers("1");
    let screen = chat.screen();
    let hidden = ['\u{1b}', '\u{7}', '\u{202e}'];
    assert!(
        !screen.contains(hidden) && screen.contains(".txt"),
        "{screen:?}"
    );
}
