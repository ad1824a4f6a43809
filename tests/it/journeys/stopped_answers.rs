//! Stopped answers that the user makes part of the conversation.

use super::*;

fn stopped(later: &[&str]) -> Chat {
    let rounds = script().round([ScriptStep::text("The first half"), ScriptStep::Hang]);
    let rounds = later
        .iter()
        .fold(rounds, |rounds, answer| rounds.answer(answer));
    let mut chat = chat(rounds);
    chat.says("question").sees("The first half").ctrl('c');
    chat.sees("e in the chat keeps it");
    chat
}

fn keep(chat: &mut Chat) -> &mut Chat {
    chat.press(KeyCode::Tab, KeyModifiers::NONE).up().key('e');
    chat.sees("Editing the answer to: question")
}

#[test]
fn a_kept_answer_is_sent_with_the_next_prompt_and_saved() {
    let mut chat = stopped(&["Later."]);
    keep(&mut chat)
        .enter()
        .sees("The model sees this turn from now on. Nothing was sent.")
        .does_not_see("(cancelled)")
        .model_received_requests(1)
        .says("next")
        .sees("Later.")
        .model_receives("question")
        .model_receives("The first half");
    let home = chat.shut_down();
    chat_in(home, script())
        .says("/sessions")
        .sees("question")
        .enter()
        .sees("The first half")
        .sees("(stopped) The model sees it up to here.")
        .sees("Later.")
        .does_not_see("(cancelled)");
}

#[test]
fn a_kept_answer_can_be_continued() {
    let mut chat = stopped(&[" and the second."]);
    keep(&mut chat)
        .enter()
        .sees("/continue resumes from there.");
    chat.press(KeyCode::Char('c'), KeyModifiers::ALT)
        .sees("The first half and the second.")
        .does_not_see("(stopped)")
        .model_receives("The first half");
}

#[test]
fn a_kept_answer_can_be_continued_after_a_restart() {
    let mut chat = stopped(&[]);
    keep(&mut chat).enter().sees("Nothing was sent.");
    let home = chat.shut_down();
    let mut chat = chat_in(home, script().answer(" and the second."));
    chat.says("/sessions").sees("question").enter();
    chat.sees("The first half").sees("(stopped)");
    chat.says("/continue")
        .sees("The first half and the second.")
        .does_not_see("(stopped)");
    let home = chat.shut_down();
    chat_in(home, script())
        .says("/sessions")
        .sees("question")
        .enter()
        .sees("The first half and the second.")
        .does_not_see("(stopped)")
        .says("/continue")
        .sees("Nothing to continue");
}

#[test]
fn the_stopped_text_stays_in_a_branch_if_it_was_edited() {
    let mut chat = stopped(&[" and the second."]);
    keep(&mut chat)
        .press(KeyCode::Char('u'), KeyModifiers::CONTROL)
        .types("My own words.")
        .enter()
        .sees("My own words.")
        .does_not_see("The first half")
        .says("/branches")
        .key('1')
        .sees("The first half")
        .sees("(stopped) The model sees it up to here.")
        .does_not_see("My own words.")
        .says("/continue")
        .sees("The first half and the second.");
}

#[test]
fn a_stopped_answer_that_was_not_kept_is_not_sent() {
    stopped(&["Later."])
        .says("next")
        .sees("Later.")
        .model_does_not_receive("The first half");
}
