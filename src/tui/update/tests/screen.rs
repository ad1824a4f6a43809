//! Panes, lists and engine events.

use crate::domain::session::TurnRecord;
use crate::domain::{PromptKind, SavedMessage};
use crate::tui::update::tests::*;

#[test]
fn notice_about_an_unknown_tool_mode_lists_the_valid_ones() {
    let mut chat = chat();
    chat.keys("/set-tool-mode x<Enter>");
    assert_eq!(chat.notice(), "Please enter either auto or manual.");
}

#[test]
fn model_list_accepts_a_number_and_zero_keeps_the_current_model() {
    let mut chat = chat();
    chat.keys("/set-model<Enter>0");
    assert!(chat.model.layer.is_none());
    assert_eq!(chat.commands(), [Command::ListCatalog]);
    chat.keys("/set-model<Enter>1");
    assert!(chat.model.layer.is_none());
    assert!(matches!(
        chat.commands().as_slice(),
        [Command::ListCatalog, Command::SelectModel(_)]
    ));
    chat.keys("/set-model 1<Enter>");
    assert!(matches!(
        chat.commands().as_slice(),
        [Command::SelectModel(_)]
    ));
    // Model names can begin with a digit, so in /models a digit is part of the filter.
    chat.keys("/models<Enter>1b");
    assert!(chat.screen().contains("› 1b"), "{}", chat.screen());
    assert_eq!(chat.commands(), [Command::ListCatalog]);
    chat.keys("<Ctrl+u><Tab>1");
    assert!(matches!(
        chat.commands().as_slice(),
        [Command::SelectModel(_)]
    ));
}

#[test]
fn retry_resends_the_prompt_and_keeps_the_old_answer() {
    let mut chat = chat();
    chat.keys("one<Enter>")
        .turn_ends(TurnEnd::Cancelled)
        .keys("<Alt+r>");
    assert_eq!(chat.prompts(), ["one", "one"]);
    chat.model_answers("1").keys("/retry<Enter>");
    assert_eq!(chat.notice(), "", "no notice before the new answer");
    let commands = chat.commands();
    let [.., Command::Submit { prompt, .. }] = commands.as_slice() else {
        panic!("{commands:?}");
    };
    assert_eq!(prompt.kind, PromptKind::Replace);
    assert!(!commands.contains(&Command::Rewind));
    chat.model_answers("2");
    assert_eq!(chat.notice(), "Earlier branch kept in /branches.");
}

#[test]
fn reply_to_an_outdated_query_is_ignored() {
    let mut chat = chat();
    chat.keys("<F4><Esc><F4>");
    let query = crate::domain::QueryId(1);
    let sessions = Arc::default();
    chat.engine_event(Event::SessionsListed {
        query,
        listed_at: jiff::Timestamp::UNIX_EPOCH,
        sessions,
    });
    let screen = chat.screen();
    assert!(screen.contains("Loading …"), "{screen}");
}

#[test]
fn idle_screen_schedules_no_wakeup() {
    let mut chat = chat();
    chat.keys("one<Enter>").model_answers("1").wait(10_000);
    assert_eq!(chat.model.next_wake(), None);
}

#[test]
fn notice_expires() {
    let mut chat = chat();
    chat.keys("/retry<Enter>");
    assert!(chat.model.next_wake().is_some());
    chat.wait(6_100);
    assert_eq!(chat.notice(), "");
}

#[test]
fn thinking_reclassified_as_text_leaves_the_thinking_pane() {
    let mut chat = chat();
    chat.keys("one<Enter>").turn_event(TurnEvent::Delta {
        piece: PieceId(1),
        kind: PieceKind::Thinking,
        text: "hm".into(),
    });
    assert_eq!(chat.model.chat.thinking_entries(), [1]);
    chat.turn_event(TurnEvent::Reclassified {
        piece: PieceId(1),
        to: PieceKind::Text,
    });
    assert!(chat.model.chat.thinking_entries().is_empty());
}

#[test]
fn thinking_is_shown_in_the_chat_when_there_is_no_side_pane() {
    let delta = |piece, kind, text: &str| TurnEvent::Delta {
        piece: PieceId(piece),
        kind,
        text: text.into(),
    };
    let lines = ["<<< Thinking >>>", "let me see", "<<< End Thinking >>>"];
    let shows_in_order = |screen: &str, parts: &[&str]| {
        let mut start = 0;
        parts.iter().all(|part| {
            let offset = screen[start..].find(part);
            start += offset.unwrap_or(0);
            offset.is_some()
        })
    };
    let mut chat = chat();
    chat.keys("one<Enter>");
    chat.turn_event(delta(1, PieceKind::Thinking, "let me see"));
    let screen = chat.screen();
    assert!(shows_in_order(&screen, &lines[..2]), "{screen}");
    assert!(!screen.contains(lines[2]), "{screen}");
    chat.turn_event(delta(2, PieceKind::Text, "The answer"));
    let screen = chat.screen();
    let expected = [lines[0], lines[1], lines[2], "The answer"];
    assert!(shows_in_order(&screen, &expected), "{screen}");
    chat.turn_ends(TurnEnd::Answered {
        text: "The answer".into(),
        is_truncated: false,
    });
    let screen = chat.screen();
    assert!(
        shows_in_order(&screen, &["▸ thought", "The answer"]),
        "{screen}"
    );
    assert!(!screen.contains("<<<"), "{screen}");
    let screen = chat.keys("<Tab><Up><Up><Enter>").screen();
    let expected = ["▾ thought", lines[0], lines[1], lines[2], "The answer"];
    assert!(shows_in_order(&screen, &expected), "{screen}");
    let wide_screen = chat.size(120, 40).screen();
    assert_eq!(wide_screen.matches(lines[2]).count(), 1, "{wide_screen}");
}

#[test]
fn new_thinking_folds_earlier_thinking_unless_the_user_is_reading_it() {
    let delta = |piece, kind, text: String| TurnEvent::Delta {
        piece: PieceId(piece),
        kind,
        text,
    };
    let mut chat = chat();
    chat.keys("one<Enter>");
    chat.turn_event(delta(1, PieceKind::Thinking, "the first".into()));
    chat.turn_event(delta(2, PieceKind::Text, "Some words".into()));
    chat.turn_event(delta(3, PieceKind::Thinking, "the second".into()));
    let screen = chat.screen();
    assert!(!screen.contains("the first"), "{screen}");
    assert!(screen.contains("the second"), "{screen}");
    let long: Vec<String> = (0..60).map(|n| format!("line {n}\n\n")).collect();
    chat.turn_event(delta(3, PieceKind::Thinking, long.concat()));
    chat.keys("<PgUp>");
    let before = chat.screen();
    assert!(before.contains("line 46"), "{before}");
    chat.turn_event(delta(4, PieceKind::Text, "The answer".into()));
    chat.turn_ends(TurnEnd::Answered {
        text: "The answer".into(),
        is_truncated: false,
    });
    let after = chat.screen();
    assert!(after.contains("line 46"), "{after}");
}

#[test]
fn thinking_of_an_opened_session_is_shown_in_the_pane() {
    let mut session = Session::new("m");
    session.messages.push(SavedMessage::user("one"));
    session.messages.push(SavedMessage::assistant("1"));
    session.metadata.turns.push(TurnRecord {
        thinking: "counting up".into(),
        ..TurnRecord::new(1, "m")
    });
    let mut chat = chat();
    chat.keys("old<Enter>").model_answers("0");
    chat.engine_event(Event::SessionOpened(Arc::new(session)));
    assert_eq!(chat.model.chat.thinking_entries(), [1]);
    let screen = chat.size(110, 24).screen();
    assert!(screen.contains("counting up"), "{screen}");
}

#[test]
fn opening_a_session_replaces_the_chat() {
    let mut chat = chat();
    chat.keys("one<Enter>").model_answers("1");
    chat.engine_event(Event::SessionOpened(Arc::new(Session::new("m"))));
    assert!(chat.model.chat.transcript.entries().is_empty());
}
