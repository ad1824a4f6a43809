//! Unsent text of an earlier run: its files, its queue, the prompt that it edits, and the prompt of
//! a resumed turn.

use crate::domain::attachment::{
    AttachmentContents, AttachmentKind, AttachmentSource, ReadAttachment,
};
use crate::domain::session::CancelledTurn;
use crate::domain::{
    Attachment, EditedPrompt, Notice, Prompt, SavedMessage, SessionId, UnsentFile, UnsentPrompt,
    UnsentText,
};
use crate::tui::update::tests::draft::{load_draft, saved_in_history};
use crate::tui::update::tests::*;

fn file(name: &str, path: Option<&str>) -> UnsentFile {
    UnsentFile {
        name: name.to_owned(),
        path: path.map(str::to_owned),
    }
}

fn saved_draft(chat: &mut ChatHarness) -> UnsentText {
    let commands = chat.wait(10_000).commands().into_iter();
    let mut drafts = commands.filter_map(|command| match command {
        Command::SaveDraft(draft) => Some(draft),
        _ => None,
    });
    drafts.next_back().expect("a saved draft")
}

/// Answers all requests for files: those whose path contains `gone` cannot be read.
fn read_files(chat: &mut ChatHarness, requests: Vec<Command>) {
    for command in requests {
        let Command::Attach { query, source } = command else {
            continue;
        };
        let AttachmentSource::Path(path) = source else {
            panic!("not a path: {source:?}");
        };
        let result = match path.contains("gone") {
            true => Err(Notice::warning("There is no such file.")),
            false => Ok(ReadAttachment {
                attachment: Arc::new(Attachment {
                    path: Some(path.clone().into()),
                    name: path,
                    kind: AttachmentKind::Text,
                    bytes: 1_200,
                    hash: String::new(),
                    contents: AttachmentContents::Text("x".into()),
                }),
                may_hold_secrets: false,
                tokens: 1,
            }),
        };
        chat.engine_event(Event::AttachmentRead { query, result });
    }
}

#[test]
fn files_of_the_message_are_attached_again() {
    let mut chat = chat();
    let files = vec![
        file("notes.txt", Some("/a/notes.txt")),
        file("gone.txt", Some("/a/gone.txt")),
        file("clipboard.png", None),
    ];
    let draft = UnsentText {
        files: files.clone(),
        ..UnsentText::from("message")
    };
    load_draft(&mut chat, draft);
    let notice = chat.notice();
    assert!(notice.contains("Attach clipboard.png again."), "{notice}");
    let requests = chat.commands();
    read_files(&mut chat, requests);
    let attached = chat.model.attachments.files().iter();
    let names: Vec<&str> = attached.map(|file| file.name.as_str()).collect();
    assert_eq!(names, ["notes.txt"]);
    chat.wait(10_000);
    assert_eq!(
        chat.notice(),
        "clipboard.png, gone.txt could not be attached again."
    );
    chat.keys("!");
    let mut saved = saved_draft(&mut chat).files;
    saved.sort_by(|a, b| b.name.cmp(&a.name));
    let mut expected = files;
    expected.sort_by(|a, b| b.name.cmp(&a.name));
    assert_eq!(saved, expected, "a later crash loses no names");
    chat.sent.clear();
    chat.keys("<Enter>");
    let sent = chat
        .commands()
        .into_iter()
        .find_map(|command| match command {
            Command::Submit { prompt, .. } => Some(prompt),
            _ => None,
        });
    let sent = sent.expect("a prompt");
    assert_eq!(sent.attachments[0].name, "notes.txt");
    assert!(chat.model.attachments.lost().is_empty());
}

#[test]
fn files_of_queued_prompts_are_attached_again() {
    let mut chat = chat();
    let queued = UnsentPrompt {
        text: "two".to_owned(),
        files: vec![
            file("notes.txt", Some("/a/notes.txt")),
            file("gone.txt", Some("/a/gone.txt")),
        ],
    };
    let draft = UnsentText {
        queue: vec![queued.clone(), "three".into()],
        ..UnsentText::default()
    };
    load_draft(&mut chat, draft);
    assert!(chat.notice().starts_with("Restored 2 queued prompts;"));
    let requests = chat.commands();
    chat.keys("<Enter>");
    assert!(chat.prompts().is_empty(), "its files are being read");
    chat.model.composer.queue.pause();
    read_files(&mut chat, requests);
    let screen = chat.screen();
    assert!(screen.contains("[1 file]  [gone.txt missing]"), "{screen}");
    let saved = saved_draft(&mut chat);
    assert_eq!(saved.queue, [queued, "three".into()]);
    chat.sent.clear();
    chat.keys("<Enter>");
    assert_eq!(chat.prompts(), ["two"]);
}

fn saved_session() -> Session {
    let mut session = Session::new("m");
    session.id = Some(SessionId::new("one.json"));
    session.metadata.title = Some("Numbers".to_owned());
    for (prompt, answer) in [("one", "1"), ("two", "2"), ("three", "3")] {
        session.messages.push(SavedMessage::user(prompt));
        session.messages.push(SavedMessage::assistant(answer));
    }
    session
}

fn edit_of_two() -> EditedPrompt {
    EditedPrompt {
        session: SessionId::new("one.json"),
        title: "Numbers".to_owned(),
        turn: 2,
        prompt: "two".to_owned(),
    }
}

fn resume_edit(chat: &mut ChatHarness) {
    let mut session = saved_session();
    session.metadata.add_cancelled(CancelledTurn {
        cancelled_at: jiff::Timestamp::UNIX_EPOCH,
        messages_before: 6,
        prompt: "two, again".to_owned(),
        attachments: Vec::new(),
        partial_answer: "2 and".to_owned(),
        calls: Vec::new(),
        was_interrupted: true,
        replaced_turns: 2,
    });
    chat.engine_event(Event::ResumingTurn);
    chat.engine_event(Event::SessionOpened(Arc::new(session)));
    chat.engine_event(Event::PromptOffered {
        prompt: Prompt::new("two, again"),
        notice: None,
    });
}

#[test]
fn a_resumed_edit_is_saved_at_once_with_the_prompt_that_it_replaces() {
    let mut chat = chat();
    resume_edit(&mut chat);
    let expected = UnsentText {
        edit_of: Some(edit_of_two()),
        ..UnsentText::from("two, again")
    };
    let saved = Command::SaveDraft(expected.clone());
    assert_eq!(chat.commands(), [saved], "without waiting");
    chat.sent.clear();
    // Neither browsing the history nor typing loses it.
    chat.keys("<Home><Up>!<Backspace>").quits();
    assert_eq!(saved_draft(&mut chat).message, "two, again");
}

#[test]
fn a_restored_edit_replaces_its_prompt_once_its_conversation_is_open() {
    for is_open_before in [false, true] {
        let mut chat = chat();
        let opened = Event::SessionOpened(Arc::new(saved_session()));
        if is_open_before {
            chat.engine_event(opened.clone());
        }
        let draft = UnsentText {
            edit_of: Some(edit_of_two()),
            ..UnsentText::from("two, again")
        };
        load_draft(&mut chat, draft.clone());
        if !is_open_before {
            assert_eq!(
                chat.notice(),
                "Restored your edit of an earlier message. To replace that message, open \
                 \"Numbers\" with /sessions."
            );
            chat.keys("!<Backspace>");
            assert_eq!(saved_draft(&mut chat), draft, "a later crash keeps it");
            chat.engine_event(opened);
        }
        assert_eq!(chat.message(), "two, again");
        let screen = chat.screen();
        assert!(
            screen.contains("Editing the message before your last one: two"),
            "{screen}"
        );
        chat.sent.clear();
        chat.keys("<Enter>");
        let replaced = chat
            .commands()
            .into_iter()
            .find_map(|command| match command {
                Command::Submit { prompt, .. } => Some(prompt.replaced_turns),
                _ => None,
            });
        assert_eq!(replaced, Some(2));
    }
}

#[test]
fn a_restored_edit_replaces_nothing_if_its_prompt_has_changed() {
    let mut chat = chat();
    let draft = UnsentText {
        edit_of: Some(edit_of_two()),
        ..UnsentText::from("two, again")
    };
    load_draft(&mut chat, draft);
    let mut changed = saved_session();
    changed.messages[2] = SavedMessage::user("two, changed elsewhere");
    chat.engine_event(Event::SessionOpened(Arc::new(changed)));
    assert!(!chat.screen().contains("Editing"), "{}", chat.screen());
    chat.keys("<Ctrl+u>new<Enter>");
    assert!(chat.model.composer.edit_to_continue().is_none());
}

/// Restores this draft, then resumes an unfinished turn.
fn resumed(draft: UnsentText) -> ChatHarness {
    let mut chat = chat();
    load_draft(&mut chat, draft);
    chat.engine_event(Event::ResumingTurn);
    chat.engine_event(Event::SessionOpened(Arc::new(Session::new("m"))));
    chat.engine_event(Event::PromptOffered {
        prompt: Prompt::new("interrupted"),
        notice: None,
    });
    chat
}

#[test]
fn a_resumed_prompt_leaves_the_queue_alone_and_moves_the_draft_to_the_history() {
    let mut chat = resumed(UnsentText {
        queue: vec!["one".into(), "two".into()],
        ..UnsentText::from("draft")
    });
    assert_eq!(chat.message(), "interrupted");
    let queue = chat.model.composer.queue.prompts();
    let queue: Vec<String> = queue.map(|prompt| prompt.text.clone()).collect();
    assert_eq!(queue, ["one", "two"]);
    assert_eq!(saved_in_history(&mut chat), ["draft"]);
    assert_eq!(
        chat.notice(),
        "The interrupted prompt is in the message. Up brings back your unsent text. The queue is \
         paused."
    );
    let is_submitted = |command: &Command| matches!(command, Command::Submit { .. });
    assert!(!chat.wait(5_000).commands().iter().any(is_submitted));
    chat.keys("<Home><Up>");
    assert_eq!(chat.message(), "draft");
}

#[test]
fn a_resumed_prompt_in_an_empty_message_is_sent_with_enter() {
    let mut chat = resumed(UnsentText::default());
    assert_eq!(chat.message(), "interrupted");
    assert_eq!(
        chat.notice(),
        "The interrupted prompt is in the message. Send it again."
    );
    chat.keys("<Enter>");
    assert_eq!(chat.notice(), "");
    let sent = chat
        .commands()
        .into_iter()
        .find_map(|command| match command {
            Command::Submit { prompt, .. } => Some(prompt.text),
            _ => None,
        });
    assert_eq!(sent.as_deref(), Some("interrupted"));
}
