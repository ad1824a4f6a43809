//! Decisions that last: taken in the dialog of a call, looked at and revoked in
//! `/trust`.

use super::*;

const DELETE: KeyCode = KeyCode::Delete;
const NONE: KeyModifiers = KeyModifiers::NONE;

fn twice() -> Script {
    script()
        .answer(GET_TIME_CALL)
        .answer("Late.")
        .answer(GET_TIME_CALL)
        .answer("Later.")
}

#[test]
fn always_runs_from_then_on_also_after_a_restart_until_it_is_revoked() {
    for key in ['6', '7'] {
        let mut first = chat(twice());
        first.says("Time?").reads_screen().key(key).sees("Late.");
        first.says("Now?").sees("Later.");
        let home = first.shut_down();
        let mut chat = chat_in(home, twice().answer(GET_TIME_CALL).answer("Late again."));
        chat.says("Time?").sees("Late.");
        chat.says("/trust").sees("always").sees("humble");
        chat.enter()
            .sees("only for this server as it is started now");
        chat.press(DELETE, NONE).sees("revoked, asks from now on.");
        chat.sees("Nothing is remembered").press(KeyCode::Esc, NONE);
        chat.says("Time?").reads_screen().sees("Call now? (Y/N)");
    }
}

#[test]
fn never_is_told_to_the_model_which_goes_on_and_holds() {
    let mut chat = chat(twice());
    chat.says("Time?")
        .reads_screen()
        .key('9')
        .sees("Late.")
        .sees("never");
    chat.model_receives("The user denied get_time from humble, for good");
    chat.says("Now?")
        .sees("Later.")
        .does_not_see("Call now? (Y/N)");
    chat.says("/trust").sees("never").key('x');
    chat.sees("is no longer blocked and asks again.");
}

#[test]
fn a_pattern_is_shown_for_editing_and_has_to_match_the_call() {
    let elsewhere = GET_TIME_CALL.replace("Asia/Seoul", "Asia/Tokyo");
    let script = script()
        .answer(GET_TIME_CALL)
        .answer("Late.")
        .answer(&elsewhere)
        .answer("Later.")
        .answer(&GET_TIME_CALL.replace("Asia/Seoul", "Europe/Rome"))
        .answer("Early.");
    let mut chat = chat(script);
    chat.says("Time?").reads_screen().key('8');
    chat.sees("Always while it matches").sees("\"Asia/Seoul\"");
    // The text ends in `Asia/Seoul"`, a line end and `}`.
    chat.press(KeyCode::Up, NONE).press(KeyCode::End, NONE);
    for _ in 0.."Seoul\"".len() {
        chat.press(KeyCode::Backspace, NONE);
    }
    chat.types("**\"").enter();
    chat.sees("`**` is not known")
        .press(KeyCode::Backspace, NONE);
    chat.press(KeyCode::Backspace, NONE).types("B\"").enter();
    chat.sees("it does not match this call");
    for _ in 0.."*B\"".len() {
        chat.press(KeyCode::Backspace, NONE);
    }
    chat.types("*\"").enter().sees("Late.");
    chat.says("Tokyo?").sees("Later.");
    chat.says("/trust").sees("while it matches").enter();
    chat.sees("\"Asia/*\"")
        .press(KeyCode::Esc, NONE)
        .press(KeyCode::Esc, NONE);
    chat.says("Rome?").reads_screen().sees("Call now? (Y/N)");
}

#[test]
fn esc_in_the_pattern_decides_nothing() {
    let mut chat = chat(twice());
    chat.says("Time?")
        .reads_screen()
        .key('8')
        .sees("Always while it matches");
    chat.press(KeyCode::Esc, NONE).sees("Call now? (Y/N)");
    chat.key('n').sees("refused");
    chat.says("/trust").sees("Nothing is remembered");
}

#[test]
fn a_grant_for_the_session_is_listed_and_ends_with_it() {
    let mut chat = chat(twice());
    chat.says("Time?").reads_screen().key('s').sees("Late.");
    chat.says("/trust").sees("this session");
    chat.enter().sees("until this conversation ends");
    chat.press(KeyCode::Esc, NONE).press(KeyCode::Esc, NONE);
    chat.says("/new")
        .says("Now?")
        .reads_screen()
        .sees("Call now? (Y/N)");
}
