//! Lasting decisions: made in the dialog of a tool call, inspected and revoked in `/trust`.

use super::*;

const DELETE: KeyCode = KeyCode::Delete;
const NONE: KeyModifiers = KeyModifiers::NONE;

fn two_calls() -> Script {
    script()
        .answer(GET_TIME_CALL)
        .answer("Late.")
        .answer(GET_TIME_CALL)
        .answer("Later.")
}

#[test]
fn an_always_rule_survives_a_restart_until_it_is_revoked() {
    for key in ['6', '7'] {
        let mut first = chat(two_calls());
        first.says("Time?").reads_screen().key(key).sees("Late.");
        first.says("Now?").sees("Later.");
        let home = first.shut_down();
        let mut chat = chat_in(
            home,
            two_calls().answer(GET_TIME_CALL).answer("Late again."),
        );
        chat.says("Time?").sees("Late.");
        chat.says("/trust").sees("always").sees("humble");
        chat.enter()
            .sees("only while its server is started as it is now");
        chat.press(DELETE, NONE)
            .sees("revoked. Calls ask again, except in auto mode.");
        chat.sees("No decisions are stored")
            .press(KeyCode::Esc, NONE);
        chat.says("Time?").reads_screen().sees("Call now? (Y/N)");
    }
}

#[test]
fn a_never_rule_is_reported_to_the_model_and_applies_to_later_calls() {
    let mut chat = chat(two_calls());
    chat.says("Time?")
        .reads_screen()
        .key('9')
        .sees("Late.")
        .sees("never");
    chat.model_receives("The user permanently denied get_time from humble");
    chat.says("Now?")
        .sees("Later.")
        .does_not_see("Call now? (Y/N)");
    chat.says("/trust").sees("never");
    chat.press(KeyCode::Tab, KeyModifiers::NONE).key('x');
    chat.sees("no longer blocked. Calls ask again, except in auto mode.");
}

#[test]
fn a_pattern_is_editable_and_must_match_the_call() {
    let tokyo_call = GET_TIME_CALL.replace("Asia/Seoul", "Asia/Tokyo");
    let script = script()
        .answer(GET_TIME_CALL)
        .answer("Late.")
        .answer(&tokyo_call)
        .answer("Later.")
        .answer(&GET_TIME_CALL.replace("Asia/Seoul", "Europe/Rome"))
        .answer("Early.");
    let mut chat = chat(script);
    chat.says("Time?").reads_screen().key('8');
    chat.sees("Allow calls matching this pattern")
        .sees("\"Asia/Seoul\"");
    // The second line ends with `Asia/Seoul"`.
    chat.press(KeyCode::Down, NONE).press(KeyCode::End, NONE);
    for _ in 0.."Seoul\"".len() {
        chat.press(KeyCode::Backspace, NONE);
    }
    chat.types("**\"").reads_screen().enter();
    chat.sees("`**` is not supported")
        .press(KeyCode::Backspace, NONE);
    chat.press(KeyCode::Backspace, NONE)
        .types("B\"")
        .reads_screen()
        .enter();
    chat.sees("it does not match this call");
    for _ in 0.."*B\"".len() {
        chat.press(KeyCode::Backspace, NONE);
    }
    chat.types("*\"").reads_screen().enter().sees("Late.");
    chat.says("Tokyo?").sees("Later.");
    chat.says("/trust")
        .sees("if it matches")
        .reads_screen()
        .enter();
    chat.sees("\"Asia/*\"")
        .press(KeyCode::Esc, NONE)
        .press(KeyCode::Esc, NONE);
    chat.says("Rome?").reads_screen().sees("Call now? (Y/N)");
}

#[test]
fn esc_in_the_pattern_field_decides_nothing() {
    let mut chat = chat(two_calls());
    chat.says("Time?")
        .reads_screen()
        .key('8')
        .sees("Allow calls matching this pattern");
    chat.press(KeyCode::Esc, NONE).sees("Call now? (Y/N)");
    chat.key('n').sees("refused");
    chat.says("/trust").sees("No decisions are stored");
}

#[test]
fn a_session_permission_is_listed_and_ends_with_the_session() {
    let mut chat = chat(two_calls());
    chat.says("Time?").reads_screen().key('s').sees("Late.");
    chat.says("/trust").sees("this session");
    chat.enter().sees("until this conversation ends");
    chat.press(KeyCode::Esc, NONE).press(KeyCode::Esc, NONE);
    chat.says("/new")
        .says("Now?")
        .reads_screen()
        .sees("Call now? (Y/N)");
}
