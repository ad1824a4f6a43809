//! Panes, lists and engine events.

use crate::domain::session::TurnRecord;
use crate::domain::{PromptKind, SavedMessage};
use crate::tui::update::tests::*;

#[test]
fn a_wrong_tool_mode_is_answered_literally() {
    let mut chat = chat();
    chat.keys("/set-tool-mode x<Enter>");
    assert_eq!(chat.notice(), "Please enter either auto or manual.");
}

#[test]
fn the_list_of_models_takes_a_number_and_zero_keeps() {
    let mut chat = chat();
    chat.keys("/set-model<Enter>0");
    assert!(chat.model.layer.is_none() && chat.commands().is_empty());
    chat.keys("/set-model 1<Enter>");
    assert!(matches!(
        chat.commands().as_slice(),
        [Command::SelectModel(_)]
    ));
}

#[test]
fn retry_asks_again_and_keeps_an_answer_that_there_was() {
    let mut chat = chat();
    chat.keys("one<Enter>")
        .ends(TurnEnd::Cancelled)
        .keys("<Alt+r>");
    assert_eq!(chat.prompts(), ["one", "one"]);
    chat.answers("1").keys("/retry<Enter>");
    assert_eq!(chat.notice(), "", "no change before the new answer");
    let commands = chat.commands();
    let [.., Command::Submit { prompt, .. }] = commands.as_slice() else {
        panic!("{commands:?}");
    };
    assert_eq!(prompt.kind, PromptKind::Replace);
    assert!(!commands.contains(&Command::Rewind));
    chat.answers("2");
    assert_eq!(chat.notice(), "Earlier version kept in /branches.");
}

#[test]
fn an_answer_to_an_older_query_is_dropped() {
    let mut chat = chat();
    chat.keys("<F4><Esc><F4>");
    let query = crate::domain::QueryId(1);
    let sessions = Arc::default();
    chat.engine(Event::SessionsListed { query, sessions });
    let screen = chat.screen();
    assert!(screen.contains("Loading …"), "{screen}");
}

#[test]
fn at_rest_nothing_wakes_the_screen() {
    let mut chat = chat();
    chat.keys("one<Enter>").answers("1").wait(10_000);
    assert_eq!(chat.model.wake(), None);
}

#[test]
fn a_notice_goes_by_itself() {
    let mut chat = chat();
    chat.keys("/retry<Enter>");
    assert!(chat.model.wake().is_some());
    chat.wait(6_100);
    assert_eq!(chat.notice(), "");
}

#[test]
fn thinking_is_listed_and_may_turn_out_to_be_text() {
    let mut chat = chat();
    chat.keys("one<Enter>").turn(TurnEvent::Delta {
        piece: PieceId(1),
        kind: PieceKind::Thinking,
        text: "hm".into(),
    });
    assert_eq!(chat.model.chat.thoughts(), [1]);
    let to = PieceKind::Text;
    chat.turn(TurnEvent::Reclassified {
        piece: PieceId(1),
        to,
    });
    assert!(chat.model.chat.thoughts().is_empty());
}

#[test]
fn where_the_sidebar_is_closed_both_lines_of_thinking_stand_in_the_chat() {
    let delta = |piece, kind, text: &str| TurnEvent::Delta {
        piece: PieceId(piece),
        kind,
        text: text.into(),
    };
    let lines = ["<<< Thinking >>>", "let me see", "<<< End Thinking >>>"];
    let in_order = |screen: &str, words: &[&str]| {
        let mut from = 0;
        words.iter().all(|words| {
            let at = screen[from..].find(words);
            from += at.unwrap_or(0);
            at.is_some()
        })
    };
    let mut chat = chat();
    chat.keys("one<Enter>");
    chat.turn(delta(1, PieceKind::Thinking, "let me see"));
    let screen = chat.screen();
    assert!(in_order(&screen, &lines[..2]), "{screen}");
    assert!(!screen.contains(lines[2]), "{screen}");
    chat.turn(delta(2, PieceKind::Text, "The answer"));
    let screen = chat.screen();
    let all = [lines[0], lines[1], lines[2], "The answer"];
    assert!(in_order(&screen, &all), "{screen}");
    chat.ends(TurnEnd::Answered {
        text: "The answer".into(),
        cut: false,
    });
    let screen = chat.screen();
    assert!(in_order(&screen, &["▸ thought", "The answer"]), "{screen}");
    assert!(!screen.contains("<<<"), "{screen}");
    let screen = chat.keys("<Tab><Up><Enter>").screen();
    let all = ["▾ thought", lines[0], lines[1], lines[2], "The answer"];
    assert!(in_order(&screen, &all), "{screen}");
    let wide = chat.size(120, 40).screen();
    assert_eq!(wide.matches(lines[2]).count(), 1, "{wide}");
}

#[test]
fn newer_thinking_folds_the_older_and_what_is_being_read_stays_open() {
    let delta = |piece, kind, text: String| TurnEvent::Delta {
        piece: PieceId(piece),
        kind,
        text,
    };
    let mut chat = chat();
    chat.keys("one<Enter>");
    chat.turn(delta(1, PieceKind::Thinking, "the first".into()));
    chat.turn(delta(2, PieceKind::Text, "Some words".into()));
    chat.turn(delta(3, PieceKind::Thinking, "the second".into()));
    let screen = chat.screen();
    assert!(!screen.contains("the first"), "{screen}");
    assert!(screen.contains("the second"), "{screen}");
    let long: Vec<String> = (0..60).map(|n| format!("line {n}\n\n")).collect();
    chat.turn(delta(3, PieceKind::Thinking, long.concat()));
    chat.keys("<PgUp>");
    let before = chat.screen();
    assert!(before.contains("line 46"), "{before}");
    chat.turn(delta(4, PieceKind::Text, "The answer".into()));
    chat.ends(TurnEnd::Answered {
        text: "The answer".into(),
        cut: false,
    });
    let after = chat.screen();
    assert!(after.contains("line 46"), "{after}");
}

#[test]
fn the_thinking_of_an_opened_conversation_stands_in_its_pane() {
    let mut session = Session::new("m");
    session.messages.push(SavedMessage::user("one"));
    session.messages.push(SavedMessage::assistant("1"));
    session.metadata.turns.push(TurnRecord {
        message: 1,
        model: "m".into(),
        usage: Usage::default(),
        tools: Vec::new(),
        thinking: "counting up".into(),
        at: None,
    });
    let mut chat = chat();
    chat.keys("old<Enter>").answers("0");
    chat.engine(Event::SessionOpened(Arc::new(session)));
    assert_eq!(chat.model.chat.thoughts(), [1]);
    let screen = chat.size(110, 24).screen();
    assert!(screen.contains("counting up"), "{screen}");
}

#[test]
fn another_conversation_replaces_this_one() {
    let mut chat = chat();
    chat.keys("one<Enter>").answers("1");
    chat.engine(Event::SessionOpened(Arc::new(Session::new("m"))));
    assert!(chat.model.chat.transcript.entries().is_empty());
}

#[test]
fn the_terminal_answers_in_one_go_and_nothing_is_typed() {
    let mut chat = chat();
    let dark = chat.model.screen.theme;
    chat.at_once("\u{1b}11;rgb:ffff/ffff/ffff\u{7}");
    assert_eq!(chat.message(), "");
    assert_ne!(chat.model.screen.theme, dark);
}
