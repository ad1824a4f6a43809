//! Retry, edit, undo and branches; unfinished turns; private conversations.

use super::*;

#[test]
fn a_retry_shows_the_new_answer_and_slash_branches_restores_the_old_one() {
    chat(script().answer("First answer.").answer("Other answer."))
        .says("question")
        .sees("First answer.")
        .says("/retry")
        .sees("Other answer.")
        .does_not_see("First answer.")
        .sees("1 other branch")
        .model_received_requests(2)
        .model_does_not_receive("First answer.")
        .says("/branches")
        .sees("question · First answer.  1 turn")
        .key('1')
        .sees("First answer.")
        .sees("1 other branch")
        .does_not_see("Other answer.");
}

#[test]
fn branches_of_a_message_are_told_apart_by_their_answers() {
    let script = script().answer("Tomatoes blush.").answer("Eggs crack up.");
    chat(script.answer("A third joke."))
        .says("joke?")
        .sees("Tomatoes blush.")
        .says("/retry")
        .sees("Eggs crack up.")
        .says("/retry")
        .sees("A third joke.")
        .press(KeyCode::Up, KeyModifiers::CONTROL)
        .key('b')
        .sees("Other branches from this message on")
        .sees("1  Eggs crack up.   2 messages")
        .sees("2  Tomatoes blush.  2 messages")
        .key('2')
        .sees("Tomatoes blush.");
}

#[test]
fn an_edit_changes_nothing_until_it_is_sent() {
    chat(script().answer("First answer.").answer("Other answer."))
        .says("question")
        .types("draft")
        .press(KeyCode::Char('u'), KeyModifiers::CONTROL)
        .says("/edit")
        .sees("Esc discard edit")
        .types("?")
        .press(KeyCode::Esc, KeyModifiers::NONE)
        .sees("First answer.")
        .does_not_see("› question?")
        .says("/edit")
        .types(" anew")
        .enter()
        .sees("question anew")
        .sees("Other answer.")
        .does_not_see("First answer.")
        .model_received_requests(2)
        .model_does_not_receive("First answer.");
}

#[test]
fn undo_removes_the_last_turn_and_up_restores_its_prompt() {
    chat(script().answer("First.").answer("Second.").answer("Third."))
        .says("one")
        .says("two")
        .says("/undo")
        .sees("First.")
        .does_not_see("Second.")
        .up()
        .sees("› two")
        .press(KeyCode::Char('u'), KeyModifiers::CONTROL)
        .says("/undo")
        .does_not_see("First.")
        .says("/undo")
        .sees("Nothing left to undo. /branches restores undone turns.")
        .says("three")
        .sees("Third.")
        .model_does_not_receive("First.");
}

#[test]
fn undo_distinguishes_a_new_conversation_from_an_undone_one() {
    chat(script().round([ScriptStep::Hang]))
        .says("/undo")
        .sees("Nothing to undo yet.")
        .says("one")
        .ctrl('c')
        .says("/undo")
        .says("/undo")
        .sees("Nothing left to undo.")
        .does_not_see("/branches restores");
}

#[test]
fn the_columns_of_the_branches_are_aligned() {
    let mut chat = chat(script().answer("1").answer("2").answer("3"));
    chat.says("short").says("/undo").says("한국어로 된 긴 질문");
    chat.says("/undo").says("third").says("/branches");
    let screen = chat.sees("Branches").screen();
    let rows: Vec<&str> = screen
        .lines()
        .filter(|row| row.contains("1 turn"))
        .collect();
    let column = |row: &&str| {
        row.split("1 turn")
            .next()
            .map(humble::text::grapheme::width)
    };
    let columns: Vec<_> = rows.iter().map(column).collect();
    assert_eq!(columns.len(), 2, "{screen}");
    assert_eq!(columns[0], columns[1], "{screen}");
}

#[test]
fn undo_removes_a_stopped_turn_first() {
    chat(
        script()
            .answer("First.")
            .round([ScriptStep::text("Half"), ScriptStep::Hang]),
    )
    .says("one")
    .says("two")
    .ctrl('c')
    .sees("(stopped)")
    .says("/undo")
    .does_not_see("Half")
    .sees("First.");
}

#[test]
fn undo_is_refused_during_a_turn() {
    chat(
        script()
            .answer("First.")
            .round([ScriptStep::text("Half"), ScriptStep::Hang]),
    )
    .says("one")
    .says("two")
    .says("/undo")
    .sees("A turn is still running.")
    .sees("Half");
}

/// Waits until the journal on disk contains `text`, which then survives a kill.
pub fn wait_until_journaled(chat: &mut Chat, text: &str) {
    let started_at = std::time::Instant::now();
    while !chat.text_in_folder("journal").contains(text) {
        assert!(
            started_at.elapsed() < Duration::from_secs(10),
            "never journaled"
        );
        chat.waits(Duration::from_millis(50));
    }
}

#[test]
fn resuming_an_unfinished_turn_restores_its_prompt() {
    let mut first = chat(script().round([ScriptStep::text("서울은 한국"), ScriptStep::Hang]));
    first.says("수도는?").sees("서울은 한국");
    wait_until_journaled(&mut first, "서울은 한국");
    let home = first.kill();
    chat_in(home, script().answer("서울입니다."))
        .sees("Unfinished turn")
        .sees("수도는?")
        .sees("서울은 한국")
        .reads_screen()
        .key('r')
        .sees("(interrupted)")
        .sees("› 수도는?")
        .model_received_requests(0)
        .reads_screen()
        .enter()
        .sees("서울입니다.")
        .model_does_not_receive("서울은 한국");
}

#[test]
fn discarding_an_unfinished_turn_needs_a_confirmation() {
    let mut first = chat(script().round([ScriptStep::text("Half"), ScriptStep::Hang]));
    first.says("question");
    wait_until_journaled(&mut first, "Half");
    let home = first.kill();
    let mut second = chat_in(home, script());
    second
        .reads_screen()
        .key('x')
        .sees("Discard it?")
        .reads_screen()
        .key('n');
    let home = second.does_not_see("Discard it?").kill();
    let mut third = chat_in(home, script());
    third
        .sees("Unfinished turn")
        .reads_screen()
        .key('x')
        .reads_screen()
        .key('x');
    let home = third.does_not_see("Unfinished turn").shut_down();
    chat_in(home, script()).does_not_see("Unfinished turn");
}

#[test]
fn the_header_marks_a_private_conversation() {
    chat(script().answer("First."))
        .says("/private")
        .sees(" humble  private  ")
        .says("secret")
        .sees("First.")
        .says("/new")
        .does_not_see("humble  private");
}

#[test]
fn an_earlier_message_is_edited_and_its_old_version_is_a_branch() {
    let answers = ["First.", "Second.", "Third."];
    let scripted = answers
        .into_iter()
        .fold(script(), |script, answer| script.answer(answer));
    let mut chat = chat(scripted);
    chat.says("one").says("two");
    // The last answer, its prompt, the first answer, and its prompt.
    chat.press(KeyCode::Tab, KeyModifiers::NONE);
    chat.up().up().up().up().key('e');
    chat.sees("Editing the message before your last one: one")
        .types(" anew")
        .enter()
        .sees("one anew")
        .sees("Third.")
        .does_not_see("First.")
        .does_not_see("Second.")
        .model_received_requests(3)
        .model_does_not_receive("First.");
    chat.press(KeyCode::Tab, KeyModifiers::NONE);
    chat.up().key('b');
    chat.sees("one · First.  4 messages")
        .enter()
        .sees("First.")
        .sees("Second.")
        .does_not_see("Third.");
    // The message is still selected.
    chat.key('b').sees("one anew · Third.  2 messages");
}

#[test]
fn an_edited_answer_is_in_a_new_branch_and_is_sent_to_the_model() {
    let mut chat = chat(script().answer("Wrong.").answer("Later."));
    chat.says("one");
    chat.press(KeyCode::Tab, KeyModifiers::NONE);
    chat.up().key('e');
    chat.sees("Editing the answer to: one")
        .press(KeyCode::Char('u'), KeyModifiers::CONTROL)
        .types("Right.")
        .enter()
        .sees("The edited answer is in a new branch. Nothing was sent.")
        .sees("Right.")
        .does_not_see("Wrong.")
        .model_received_requests(1)
        .says("two")
        .sees("Later.")
        .model_received_requests(2)
        .model_does_not_receive("Wrong.");
    chat.says("/branches")
        .sees("one · Wrong.  1 turn")
        .key('1')
        .sees("Wrong.");
}
