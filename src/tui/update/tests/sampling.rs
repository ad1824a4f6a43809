//! Servers that ask the model: both dialogs, and the model at work.

use super::*;
use crate::domain::{SampledAnswer, SamplingRequest};
use crate::questions;

fn ask_model() -> Question {
    let params = json!({
        "messages": [{ "role": "user", "content": { "type": "text", "text": "Name a color." } }],
    });
    questions::ask_model(
        &"parcels".into(),
        &SamplingRequest::from_params(&params).expect("a valid request"),
        "qwen3",
    )
}

fn asks(chat: &mut ChatHarness, id: u64, question: Question) {
    chat.engine_event(Event::Asked {
        ask: AskId(id),
        owner: QuestionOwner::Server("parcels".into()),
        question,
    });
}

fn answering(chat: &mut ChatHarness, servers: &[&str]) {
    let servers = servers.iter().map(|server| (*server).into()).collect();
    chat.engine_event(Event::SamplingChanged(servers));
}

#[test]
fn without_a_turn_the_question_is_only_announced_until_it_is_opened() {
    let mut chat = chat();
    chat.size(80, 24);
    asks(&mut chat, 7, ask_model());
    let screen = chat.screen();
    assert!(
        screen.contains("Server parcels has a question for you. Alt+Q opens it."),
        "{screen}"
    );
    chat.keys("y").wait(2_000).keys("<Backspace>").wait(2_000);
    let is_answer = |command: &Command| matches!(command, Command::Answer { .. });
    assert!(!chat.commands().iter().any(is_answer));
    chat.keys("<Alt+q>").screen();
    chat.wait(600);
    let screen = chat.screen();
    assert!(screen.contains("Ask the model?"), "{screen}");
    assert!(screen.contains("| Name a color."), "{screen}");
    chat.keys("y").wait(400);
    let answer = UserAnswer::Choice(UserChoice::Send);
    let ask = AskId(7);
    assert_eq!(chat.commands(), [Command::Answer { ask, answer }]);
}

#[test]
fn a_small_dialog_explains_why_its_key_only_scrolled() {
    let mut chat = chat();
    chat.size(40, 10).keys("go<Enter>");
    asks(&mut chat, 7, ask_model());
    chat.screen();
    chat.wait(600).commands();
    chat.keys("y").wait(400);
    assert_eq!(chat.commands(), []);
    let screen = chat.screen();
    assert!(screen.contains("Read the rest first"), "{screen}");
}

#[test]
fn x_declines_everything_from_the_server() {
    let mut chat = chat();
    chat.size(80, 24).keys("go<Enter>");
    let answer = SampledAnswer {
        model: "qwen3".to_owned(),
        text: "Blue.".to_owned(),
        calls: Vec::new(),
        is_cut_off: false,
    };
    let question = questions::send_model_answer(&"parcels".into(), &answer);
    asks(&mut chat, 7, question);
    chat.screen();
    chat.wait(600).commands();
    chat.keys("x").wait(400);
    let answer = UserAnswer::Choice(UserChoice::DeclineAll);
    let ask = AskId(7);
    assert_eq!(chat.commands(), [Command::Answer { ask, answer }]);
}

#[test]
fn ctrl_c_stops_the_model_outside_a_turn_and_does_not_quit() {
    let mut chat = chat();
    chat.size(80, 24);
    answering(&mut chat, &["par\u{202E}cels", "shop"]);
    chat.wait(3_000);
    let screen = chat.screen();
    let label = "3 s · answering par⟨U+202E⟩cels and 1 more";
    assert!(screen.contains(label), "{screen}");
    assert!(screen.contains("Ctrl+C stop"), "{screen}");
    chat.keys("<Ctrl+c>");
    let sent = std::mem::take(&mut chat.sent);
    assert_eq!(sent, [UiEffect::Send(Command::Interrupt)]);
    answering(&mut chat, &[]);
    chat.engine_event(Event::InterruptAcknowledged);
    assert!(!chat.screen().contains("answering"));
    // The second key was meant for the model too.
    chat.keys("<Ctrl+c>");
    assert_eq!(std::mem::take(&mut chat.sent), []);
    assert_eq!(chat.notice(), "Ctrl+C again to quit");
}
