//! Everything around the conversation: drafts, notices, activity, overlay panes.

use crate::domain::session::CancelledTurn;
use crate::domain::{SessionSummary, ToolMode, UnsentText};
use crate::tui::update::tests::*;

fn write_call(chat: &mut ChatHarness, state: ToolState) {
    let numbers = (0..10).map(|n| (format!("n{n}"), json!(n)));
    let mut arguments = json!({ "path": "a\nb" });
    arguments
        .as_object_mut()
        .expect("an object")
        .extend(numbers);
    chat.turn_event(TurnEvent::Tool(ToolCall {
        state,
        ..fixtures::tool_call("files", "write", arguments)
    }));
}

#[test]
fn quitting_saves_queued_and_typed_text() {
    let mut chat = chat();
    chat.keys("one<Enter>two<Enter>three<Enter><Ctrl+c>")
        .turn_ends(TurnEnd::Cancelled)
        .wait(2_000);
    chat.sent.clear();
    chat.keys("four").quits();
    let draft = Command::SaveDraft(UnsentText {
        queue: vec!["two".into(), "three".into()],
        ..UnsentText::from("four")
    });
    assert_eq!(chat.sent, [UiEffect::Send(draft), UiEffect::Quit]);
}

#[test]
fn queue_is_emptied_when_another_session_opens() {
    let mut chat = chat();
    chat.keys("one<Enter>two<Enter>three<Enter>")
        .input(UiInput::Paste("four".into()));
    chat.turn_ends(TurnEnd::Cancelled);
    chat.engine_event(Event::SessionOpened(Arc::new(Session::new("m"))));
    assert_eq!(chat.message(), "four");
    assert!(chat.model.composer.queue.is_empty() && !chat.model.composer.queue.is_paused);
    assert!(chat.notice().contains("queued"), "{}", chat.notice());
}

#[test]
fn turn_ending_before_a_new_session_opens_sends_no_queued_prompt() {
    let mut chat = chat();
    chat.keys("one<Enter>two<Enter>");
    chat.model.composer.editor.set("/new");
    chat.keys("<Enter>");
    chat.sent.clear();
    chat.model_answers("1");
    assert!(chat.prompts().is_empty());
}

#[test]
fn auto_approved_call_shows_its_arguments() {
    let mut chat = chat();
    chat.engine_event(Event::ToolModeChanged(ToolMode::Auto))
        .keys("go<Enter>");
    write_call(&mut chat, ToolState::Proposed);
    write_call(&mut chat, ToolState::Running { progress: None });
    let screen = chat.screen();
    assert!(screen.contains(r#"path: "a\nb""#), "{screen}");
    assert!(screen.contains("… 3 more"), "{screen}");
    assert!(!screen.contains("n7:"), "{screen}");
    chat.keys("<Tab><Up><Enter>");
    assert!(chat.screen().contains(r#""n9": 9"#), "{}", chat.screen());
}

#[test]
fn a_blank_row_separates_a_call_from_the_thinking_after_it() {
    let mut chat = chat();
    chat.keys("go<Enter>");
    let think = |piece| TurnEvent::Delta {
        piece: PieceId(piece),
        kind: PieceKind::Thinking,
        text: "Hmm.".to_owned(),
    };
    chat.turn_event(think(11));
    write_call(&mut chat, ToolState::Proposed);
    chat.turn_event(TurnEvent::RoundStarted { round: 2 });
    chat.turn_event(think(12)).model_answers("Done.");
    let screen = chat.screen();
    let rows: Vec<&str> = screen.lines().map(str::trim).collect();
    let row_of = |part: &str| rows.iter().position(|row| row.contains(part));
    let first = row_of("thought").expect("the first thinking");
    assert!(rows[first + 1].contains("write"), "{screen}");
    assert_eq!(rows[first + 2], "", "{screen}");
    assert!(rows[first + 3].contains("thought"), "{screen}");
}

#[test]
fn user_approved_call_stays_one_line() {
    let mut chat = chat();
    chat.engine_event(Event::ToolModeChanged(ToolMode::Auto))
        .keys("go<Enter>");
    write_call(&mut chat, ToolState::AwaitingApproval);
    write_call(&mut chat, ToolState::Running { progress: None });
    assert!(!chat.screen().contains("path:"), "{}", chat.screen());
}

#[test]
fn running_answer_shows_activity_and_silence() {
    let mut chat = chat();
    chat.keys("go<Enter>")
        .wait(2_000)
        .model_says("Hello")
        .wait(2_100);
    let screen = chat.screen();
    assert!(screen.contains(" 4 s ─"), "{screen}");
    chat.wait(4_000);
    let screen = chat.screen();
    assert!(screen.contains(" 8 s · no data for 6 s ─"), "{screen}");
    chat.size(40, 12);
    let screen = chat.screen();
    assert!(screen.contains(" 8 s · no data for 6 s ─"), "{screen}");
    chat.turn_ends(TurnEnd::Cancelled);
    assert!(!chat.screen().contains("no data for"));
}

#[test]
fn notice_is_dismissed_by_an_opening_layer_or_a_later_key() {
    for key in ["<F1>", "<Ctrl+p>"] {
        let mut chat = chat();
        chat.keys("/retry<Enter>").keys(key);
        assert_eq!(chat.notice(), "", "{key}");
    }
    let mut chat = chat();
    chat.keys("sum<Enter>/retry<Enter>");
    assert_ne!(chat.notice(), "");
    chat.ask_about_calls(&[1]);
    assert_eq!(chat.notice(), "");
    let mut chat = self::chat();
    chat.keys("/retry<Enter>abc");
    assert_ne!(
        chat.notice(),
        "",
        "these keys came too soon to dismiss the notice"
    );
    chat.wait(1_000).keys("d");
    assert_eq!(chat.notice(), "");
}

#[test]
fn notice_keeps_the_stop_key_visible() {
    let mut chat = chat();
    chat.keys("one<Enter>/retry<Enter>");
    let screen = chat.screen();
    assert!(screen.contains("still running"), "{screen}");
    assert!(screen.contains("Ctrl+C stop"), "{screen}");
}

#[test]
fn title_comes_from_the_first_answered_prompt() {
    let mut chat = chat();
    chat.keys("one<Enter>").turn_ends(TurnEnd::Refused);
    assert_eq!(chat.model.conversation.title, "");
    chat.engine_event(Event::SessionSaved("a.json".into()));
    let saved = chat.model.conversation.saved_title();
    assert_eq!(saved.as_deref(), Some("one"), "for the message on exit");
    chat.keys("two<Enter>").model_answers("2");
    assert_eq!(chat.model.conversation.title, "two");
    chat.keys("three<Enter>").model_answers("3");
    assert_eq!(chat.model.conversation.title, "two");
}

/// Like [`Session::title`], so that the header agrees with the list of sessions.
#[test]
fn a_failed_prompt_is_the_title_until_another_one_is_answered() {
    let mut chat = chat();
    for prompt in ["one<Enter>", "two<Enter>"] {
        chat.keys(prompt).model_says("Half");
        let notice = Notice::failure("No network.");
        chat.turn_ends(TurnEnd::Failed { notice });
        chat.engine_event(Event::SessionSaved("a.json".into()));
        assert_eq!(chat.model.conversation.title, "one");
    }
    let saved = chat.model.conversation.saved_title();
    assert_eq!(saved.as_deref(), Some("one"), "for the message on exit");
    chat.keys("three<Enter>").turn_event(TurnEvent::Delta {
        piece: PieceId(3),
        kind: PieceKind::Text,
        text: "Half".into(),
    });
    chat.turn_ends(TurnEnd::Cancelled);
    assert_eq!(chat.model.conversation.title, "three");
    chat.keys("four<Enter>").model_answers("4");
    assert_eq!(chat.model.conversation.title, "three");
}

#[test]
fn a_title_from_a_stopped_turn_gives_way_to_an_answered_prompt_but_a_chosen_one_stays() {
    for (title, expected) in [(None, "two"), (Some("Trip".to_owned()), "Trip")] {
        let mut chat = chat();
        let mut session = Session::new("m");
        session.metadata.title = title;
        session.metadata.add_cancelled(CancelledTurn {
            cancelled_at: jiff::Timestamp::UNIX_EPOCH,
            messages_before: 0,
            prompt: "one".to_owned(),
            attachments: Vec::new(),
            partial_answer: "Half".to_owned(),
            calls: Vec::new(),
            was_interrupted: false,
            replaced_turns: 0,
        });
        chat.engine_event(Event::SessionOpened(Arc::new(session.clone())));
        assert_eq!(chat.model.conversation.title, session.title());
        chat.keys("two<Enter>").model_answers("2");
        assert_eq!(chat.model.conversation.title, expected);
    }
}

#[test]
fn the_title_survives_the_undo_of_all_turns() {
    let mut chat = chat();
    chat.keys("one<Enter>").model_answers("1");
    chat.engine_event(Event::SessionRenamed("Trip".into()))
        .keys("/undo<Enter>");
    assert_eq!(chat.model.conversation.title, "Trip");
    let mut chat = crate::tui::update::tests::chat();
    chat.keys("one<Enter>").model_answers("1");
    chat.keys("/undo<Enter>");
    assert_eq!(chat.model.conversation.title, "one", "as in the list");
    chat.keys("<Ctrl+u>two<Enter>").model_answers("2");
    assert_eq!(chat.model.conversation.title, "two");
}

#[test]
fn delete_confirmation_shows_title_and_keys() {
    let mut chat = chat();
    chat.keys("<F4>");
    let title = "A conversation with a title of some length";
    let summary = SessionSummary {
        id: "2026-01-01.json".into(),
        title: title.into(),
        model: "a model's long name".into(),
        started_at: None,
        changed_at: "2026-11-18T12:00:00Z".parse().expect("a time"),
        message_count: 12,
        open_error: None,
    };
    let sessions = Arc::new(vec![summary]);
    let query = crate::domain::QueryId(1);
    chat.engine_event(Event::SessionsListed {
        query,
        listed_at: "2026-11-18T13:00:00Z".parse().expect("a time"),
        sessions,
    });
    chat.size(140, 24);
    assert!(chat.screen().contains(title), "{}", chat.screen());
    chat.keys("<Tab>d");
    let screen = chat.screen();
    assert!(screen.contains(&format!("Delete \"{title}\"?")), "{screen}");
    assert!(screen.contains("y delete · n keep"), "{screen}");
}

#[test]
fn overlay_pane_has_a_title_and_a_back_key() {
    let mut chat = chat();
    chat.size(40, 14).keys("<F3>");
    let screen = chat.screen();
    assert!(screen.contains("Thinking"), "{screen}");
    assert!(screen.contains("No thinking yet."), "{screen}");
    assert!(screen.contains("Esc back"), "{screen}");
    chat.keys("<Esc><F2>");
    let screen = chat.screen();
    assert!(screen.contains("Servers") && screen.contains("Esc back"));
    chat.size(120, 30);
    assert_eq!(chat.model.panes.focus, Focus::Message);
    assert_eq!(chat.model.panes.over_chat, None);
}

#[test]
fn pane_hidden_by_a_resize_loses_focus() {
    let mut chat = chat();
    chat.size(120, 30).keys("<F2><F2><F2>");
    assert_eq!(chat.model.panes.focus, Focus::Servers);
    chat.size(60, 30);
    assert_eq!(chat.model.panes.focus, Focus::Message);
}

fn distinct_words(from: usize, to: usize) -> String {
    (from..to).map(|n| format!("w{n} ")).collect()
}

#[test]
fn resizing_back_returns_to_the_same_row() {
    let mut chat = chat();
    chat.size(104, 30)
        .keys("go<Enter>")
        .model_says(&distinct_words(0, 20_000));
    chat.screen();
    chat.keys("<PgUp><PgUp><PgUp>");
    let first = chat.screen();
    for width in [70, 130, 83, 61, 104] {
        chat.size(width, 30).screen();
    }
    assert_eq!(chat.screen(), first);
}

#[test]
fn only_lines_added_after_scrolling_up_count_as_new() {
    let mut chat = chat();
    chat.keys("go<Enter>").model_says(&"old\n".repeat(100));
    chat.screen();
    chat.keys("<PgUp>");
    let screen = chat.screen();
    assert!(
        screen.contains(" lines ") && !screen.contains("new line"),
        "{screen}"
    );
    chat.model_says("one\ntwo\nthree");
    let screen = chat.screen();
    assert!(screen.contains("↓ 3 new lines"), "{screen}");
    chat.keys("<PgUp>");
    assert!(chat.screen().contains("↓ 3 new lines"));
    chat.size(60, 20);
    assert!(chat.screen().contains("↓ 3 new lines"));
}

#[test]
fn smallest_screen_shows_how_to_quit() {
    let mut chat = chat();
    chat.size(20, 6)
        .keys("one<Enter>")
        .model_answers("1")
        .keys("<Ctrl+c>");
    assert!(
        chat.screen().contains("Ctrl+C again to quit"),
        "{}",
        chat.screen()
    );
}

#[test]
fn typed_ahead_text_ending_with_enter_is_submitted() {
    for text in ["prose ahead\n", "hi\n", "prose\tahead\n"] {
        let mut chat = chat();
        chat.keys("one<Enter>")
            .type_at_once(text)
            .wait(20)
            .model_answers("1");
        assert_eq!(chat.prompts().len(), 2, "{text}");
        assert_eq!(chat.message(), "");
    }
}

#[test]
fn a_failed_answer_or_a_turn_without_one_cannot_be_continued() {
    let failed = TurnEnd::Failed {
        notice: Notice::failure("No network."),
    };
    let unseen = "The model does not see a failed answer, so it cannot go on.";
    let stopped = "Nothing to continue: the model does not see the turn that was stopped.";
    for (text, end, reason) in [
        ("", TurnEnd::Cancelled, stopped),
        ("The first", failed, unseen),
    ] {
        let mut chat = chat();
        chat.keys("one<Enter>").model_says(text);
        chat.turn_ends(end).keys("/continue<Enter>");
        assert_eq!(chat.notice(), format!("{reason} /retry asks again."));
        assert!(chat.screen().contains(reason), "{}", chat.screen());
    }
    let mut chat = chat();
    chat.keys("one<Enter>")
        .model_answers("1")
        .keys("/continue<Enter>");
    assert!(
        chat.notice().contains("was not truncated"),
        "{}",
        chat.notice()
    );
}

#[test]
fn escape_stops_a_turn_once_nothing_is_open() {
    let mut chat = chat();
    chat.keys("one<Enter>").model_says("1");
    let is_interrupted = |chat: &mut ChatHarness| chat.commands().contains(&Command::Interrupt);
    for open in ["<F1>", "<Tab>", "<Ctrl+f>x", "/und"] {
        chat.keys(open).keys("<Esc>");
        assert!(!is_interrupted(&mut chat), "{open}");
        chat.keys("<Ctrl+u>");
    }
    chat.keys("next<Esc>");
    assert!(is_interrupted(&mut chat));
    assert_eq!(chat.message(), "next");
    chat.keys("<Esc>");
    assert!(!is_interrupted(&mut chat), "it is stopping already");
    chat.turn_ends(TurnEnd::Cancelled).keys("<Esc>");
    assert!(!chat.sent.contains(&UiEffect::Quit));
}
