//! The draft that is saved while typing and on exit, which never contains private text.

use crate::commands::turns::EDIT;
use crate::domain::UnsentText;
use crate::tui::update::tests::*;

/// Waits, then quits. Returns the commands sent on quitting, which only save drafts.
fn saved_drafts(chat: &mut ChatHarness) -> Vec<Command> {
    chat.wait(2_000).sent.clear();
    chat.quits();
    assert_eq!(chat.sent.last(), Some(&UiEffect::Quit));
    chat.commands()
}

fn private_chat() -> ChatHarness {
    let mut chat = chat();
    chat.keys("/private<Enter>")
        .engine_event(Event::PrivateChanged(true));
    chat
}

fn open_another_session(chat: &mut ChatHarness) {
    chat.engine_event(Event::PrivateChanged(false));
    chat.engine_event(Event::SessionOpened(Arc::new(Session::new("m"))));
}

#[test]
fn up_does_not_recall_private_prompts() {
    let mut chat = chat();
    chat.keys("open<Enter>")
        .model_answers("1")
        .keys("/private<Enter>");
    // The engine has not confirmed private mode yet.
    chat.keys("secret<Enter>").model_answers("2");
    chat.engine_event(Event::PrivateChanged(true));
    chat.keys("hidden<Enter>").model_answers("3");
    chat.keys("<Up><Up>");
    assert_eq!(chat.message(), "secret");
    open_another_session(&mut chat);
    assert_eq!(chat.message(), "");
    chat.keys("<Up>");
    assert_eq!(chat.message(), "open");
    assert_eq!(saved_drafts(&mut chat), []);
}

#[test]
fn text_typed_or_queued_in_private_is_not_saved_later() {
    let mut chat = private_chat();
    chat.keys("one<Enter>two<Enter>three");
    open_another_session(&mut chat);
    assert_eq!(chat.message(), "three");
    assert!(
        chat.notice()
            .ends_with("of the private conversation were removed.")
    );
    let is_saved = |command: &Command| matches!(command, Command::AddToHistory(_));
    assert!(!chat.commands().iter().any(is_saved));
    assert_eq!(saved_drafts(&mut chat), []);
    let mut chat = private_chat();
    chat.keys("secret");
    open_another_session(&mut chat);
    chat.keys("<Up><Down> more");
    assert_eq!(saved_drafts(&mut chat), []);
}

#[test]
fn text_typed_after_private_mode_is_saved() {
    let mut chat = private_chat();
    chat.keys("secret");
    open_another_session(&mut chat);
    chat.keys("<Ctrl+u>open");
    assert_eq!(saved_drafts(&mut chat), [Command::SaveDraft("open".into())]);
}

#[test]
fn quitting_a_private_conversation_saves_no_draft() {
    assert_eq!(saved_drafts(private_chat().keys("secret")), []);
    // Even before the engine has confirmed private mode.
    assert_eq!(saved_drafts(chat().keys("/private<Enter>secret")), []);
}

#[test]
fn quitting_while_browsing_history_saves_the_stashed_text() {
    let mut chat = chat();
    chat.keys("old<Enter>")
        .model_answers("1")
        .keys("new<Home><Up>");
    assert_eq!(chat.message(), "old");
    assert_eq!(saved_drafts(&mut chat), [Command::SaveDraft("new".into())]);
}

#[test]
fn recalled_queued_prompt_is_saved_once() {
    let mut chat = chat();
    chat.keys("one<Enter>two<Enter>x<Home><Up>");
    assert_eq!(chat.message(), "two");
    chat.turn_ends(TurnEnd::Cancelled);
    assert_eq!(
        saved_drafts(&mut chat),
        [Command::SaveDraft(UnsentText {
            queue: vec!["two".into()],
            ..UnsentText::from("x")
        })]
    );
}

#[test]
fn quitting_while_editing_the_last_prompt_saves_the_text_before_the_edit() {
    let mut chat = chat();
    chat.keys("old<Enter>").model_answers("1");
    chat.input(UiInput::Paste("new".into()));
    chat.run(&EDIT);
    assert_eq!(chat.message(), "old");
    assert_eq!(saved_drafts(&mut chat), [Command::SaveDraft("new".into())]);
}

#[test]
fn a_draft_and_an_edit_are_saved_separately() {
    let mut chat = chat();
    chat.keys("old<Enter>").model_answers("1");
    chat.input(UiInput::Paste("new".into()));
    chat.run(&EDIT);
    chat.keys("!");
    let unsent = UnsentText {
        others: vec!["old!".to_owned()],
        ..UnsentText::from("new")
    };
    assert_eq!(
        saved_drafts(&mut chat),
        [Command::SaveDraft(unsent.clone())]
    );
    let mut next = crate::tui::update::tests::chat();
    next.engine_event(Event::HistoryLoaded {
        prompts: Arc::default(),
        draft: Some(unsent),
    });
    assert_eq!(next.message(), "new");
    next.keys("<Home><Up>");
    assert_eq!(next.message(), "old!");
}

#[test]
fn a_long_draft_is_restored_as_a_folded_paste() {
    let text = "line\n".repeat(30);
    let mut chat = chat();
    chat.engine_event(Event::HistoryLoaded {
        prompts: Arc::default(),
        draft: Some(UnsentText::from(text.as_str())),
    });
    assert_eq!(chat.message(), text);
    let screen = chat.screen();
    assert!(screen.contains("[Pasted 30 lines]"), "{screen}");
}

#[test]
fn the_message_is_saved_a_moment_after_the_last_key() {
    let mut chat = chat();
    chat.keys("ab");
    assert_eq!(chat.wait(200).commands(), []);
    chat.keys("c");
    assert_eq!(chat.wait(200).commands(), [], "a key postpones it");
    let saved = [Command::SaveDraft("abc".into())];
    assert_eq!(chat.wait(50).commands(), saved);
    chat.sent.clear();
    assert_eq!(chat.wait(10_000).commands(), [], "nothing has changed");
    chat.keys("<Left>");
    assert_eq!(chat.wait(2_000).commands(), [], "the text is the same");
}

#[test]
fn the_message_is_saved_during_long_typing() {
    let mut chat = chat();
    // 230 ms pass from key to key.
    for _ in 0..8 {
        chat.keys("a").wait(200);
    }
    chat.keys("a").wait(150);
    assert_eq!(chat.commands(), [], "1,990 ms after the first key");
    let saved = [Command::SaveDraft("a".repeat(9).as_str().into())];
    assert_eq!(chat.wait(10).commands(), saved);
}

#[test]
fn a_restored_queue_is_paused() {
    let mut chat = chat();
    chat.engine_event(Event::HistoryLoaded {
        prompts: Arc::default(),
        draft: Some(UnsentText {
            queue: vec!["one".into(), "two".into()],
            ..UnsentText::from("three")
        }),
    });
    assert_eq!(chat.message(), "three");
    assert!(chat.notice().starts_with("Restored 2 queued prompts;"));
    let submits = |command: &Command| matches!(command, Command::Submit { .. });
    assert!(!chat.wait(5_000).commands().iter().any(submits));
    let screen = chat.screen();
    assert!(screen.contains("one") && screen.contains("two"), "{screen}");
    chat.keys("<Ctrl+u><Enter>");
    assert_eq!(chat.commands().iter().filter(|c| submits(c)).count(), 1);
    assert_eq!(chat.model.composer.queue.prompts().len(), 1);
}

#[test]
fn draft_stays_on_disk_until_sent_or_discarded() {
    let clear_draft = Command::SaveDraft(UnsentText::default());
    for (keys, is_gone) in [
        ("x", false),
        ("<Home><Up>", false),
        ("<Ctrl+u>", true),
        ("<Enter>", true),
    ] {
        let mut chat = chat();
        chat.engine_event(Event::HistoryLoaded {
            prompts: Arc::new(vec!["old".into()]),
            draft: Some("draft".into()),
        });
        chat.keys(keys);
        assert_eq!(chat.commands().contains(&clear_draft), is_gone, "{keys}");
    }
}

#[test]
fn ctrl_c_keeps_private_text_out_of_the_history_of_other_conversations() {
    // Private mode may be requested but unconfirmed, confirmed, or already ended.
    let mut pending = chat();
    pending.keys("/private<Enter>secret<Ctrl+c>");
    pending.engine_event(Event::PrivateChanged(true));
    let mut confirmed = private_chat();
    confirmed.keys("secret<Ctrl+c>");
    for mut chat in [pending, confirmed] {
        assert_eq!(chat.message(), "");
        chat.keys("<Up>");
        assert_eq!(chat.message(), "secret");
        open_another_session(&mut chat);
        chat.keys("<Up>");
        assert_eq!(chat.message(), "");
    }
    let mut ended = private_chat();
    ended.keys("secret");
    open_another_session(&mut ended);
    ended.keys("<Ctrl+c><Up>");
    assert_eq!(ended.message(), "");
}

#[test]
fn late_draft_goes_to_the_history_instead_of_overwriting_the_message() {
    let mut chat = chat();
    chat.keys("fast").engine_event(Event::HistoryLoaded {
        prompts: Arc::default(),
        draft: Some("draft".into()),
    });
    assert_eq!(chat.message(), "fast");
    chat.keys("<Home><Up>");
    assert_eq!(chat.message(), "draft");
}

pub(super) fn load_draft(chat: &mut ChatHarness, draft: UnsentText) {
    chat.engine_event(Event::HistoryLoaded {
        prompts: Arc::default(),
        draft: Some(draft),
    });
}

pub(super) fn saved_in_history(chat: &mut ChatHarness) -> Vec<String> {
    let commands = chat.commands().into_iter();
    let texts = commands.filter_map(|command| match command {
        Command::AddToHistory(text) => Some(text),
        _ => None,
    });
    texts.collect()
}

#[test]
fn an_unsent_edit_of_the_last_run_is_saved_in_the_history() {
    let mut chat = chat();
    let draft = UnsentText {
        others: vec!["an edit".to_owned()],
        ..UnsentText::from("message")
    };
    load_draft(&mut chat, draft);
    assert_eq!(saved_in_history(&mut chat), ["an edit"]);
    // The history already contains it if the last run was killed before the draft changed.
    let mut next = crate::tui::update::tests::chat();
    next.engine_event(Event::HistoryLoaded {
        prompts: Arc::new(vec!["an edit".to_owned()]),
        draft: Some(UnsentText {
            others: vec!["an edit".to_owned()],
            ..UnsentText::from("message")
        }),
    });
    assert!(saved_in_history(&mut next).is_empty());
}
