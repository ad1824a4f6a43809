//! Taking turns back, unfinished turns, private conversations: as they are seen.

use super::*;

#[test]
fn a_retry_shows_the_new_answer_and_the_other_one_can_be_gone_back_to() {
    chat(script().answer("First answer.").answer("Other answer."))
        .says("question")
        .sees("First answer.")
        .says("/retry")
        .sees("Other answer.")
        .does_not_see("First answer.")
        .model_received_requests(2)
        .model_does_not_receive("First answer.")
        .says("/branches")
        .sees("question  1 turn")
        .key('1')
        .sees("First answer.")
        .does_not_see("Other answer.");
}

#[test]
fn an_edit_changes_nothing_before_it_is_sent() {
    chat(script().answer("First answer.").answer("Other answer."))
        .says("question")
        .types("draft")
        .press(KeyCode::Char('u'), KeyModifiers::CONTROL)
        .says("/edit")
        .sees("Esc keep it as it was")
        .types("?")
        .press(KeyCode::Esc, KeyModifiers::NONE)
        .sees("First answer.")
        .does_not_see("│ question?")
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
fn an_undo_takes_the_last_turn_back_and_up_brings_its_prompt() {
    chat(script().answer("First.").answer("Second.").answer("Third."))
        .says("one")
        .says("two")
        .says("/undo")
        .sees("First.")
        .does_not_see("Second.")
        .up()
        .sees("│ two")
        .press(KeyCode::Char('u'), KeyModifiers::CONTROL)
        .says("/undo")
        .does_not_see("First.")
        .says("/undo")
        .sees("Nothing is left to undo. /branches leads back.")
        .says("three")
        .sees("Third.")
        .model_does_not_receive("First.");
}

#[test]
fn undo_says_whether_anything_was_ever_there() {
    chat(script().round([ScriptStep::Hang]))
        .says("/undo")
        .sees("Nothing to undo: nothing was asked yet.")
        .says("one")
        .ctrl('c')
        .says("/undo")
        .says("/undo")
        .sees("Nothing is left to undo.")
        .does_not_see("/branches leads");
}

#[test]
fn the_columns_of_the_branches_stand_below_one_another() {
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
fn undo_takes_a_turn_without_an_answer_off_first() {
    chat(
        script()
            .answer("First.")
            .round([ScriptStep::text("Half"), ScriptStep::Hang]),
    )
    .says("one")
    .says("two")
    .ctrl('c')
    .sees("(cancelled)")
    .says("/undo")
    .does_not_see("Half")
    .sees("First.");
}

#[test]
fn while_a_turn_is_under_way_nothing_is_taken_back() {
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

/// Waits until the words are on the disk, where a kill leaves them.
pub fn is_journalled(chat: &mut Chat, words: &str) {
    let since = std::time::Instant::now();
    while !chat.text_in_folder("journal").contains(words) {
        assert!(
            since.elapsed() < Duration::from_secs(10),
            "never journalled"
        );
        chat.waits(Duration::from_millis(50));
    }
}

#[test]
fn an_unfinished_turn_is_offered_and_its_prompt_comes_back_into_the_message() {
    let mut first = chat(script().round([ScriptStep::text("서울은 한국"), ScriptStep::Hang]));
    first.says("수도는?").sees("서울은 한국");
    is_journalled(&mut first, "서울은 한국");
    let home = first.kill();
    chat_in(home, script().answer("서울입니다."))
        .sees("Unfinished turn")
        .sees("수도는?")
        .sees("서울은 한국")
        .reads_screen()
        .key('r')
        .sees("(interrupted)")
        .sees("│ 수도는?")
        .model_received_requests(0)
        .enter()
        .sees("서울입니다.")
        .model_does_not_receive("서울은 한국");
}

#[test]
fn an_unfinished_turn_is_discarded_only_after_a_second_word() {
    let mut first = chat(script().round([ScriptStep::text("Half"), ScriptStep::Hang]));
    first.says("question");
    is_journalled(&mut first, "Half");
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
fn a_private_conversation_says_so_in_the_header_until_it_ends() {
    chat(script().answer("First."))
        .says("/private")
        .sees("humble   private")
        .says("secret")
        .sees("First.")
        .says("/new")
        .does_not_see("private   ");
}
