//! Forms and web pages of servers: keys, the review, secrets, and several questions at once.

use super::*;
use crate::domain::{ElicitationForm, UrlElicitation};
use crate::questions;
use serde_json::Value;

fn form_question(properties: &Value, required: &[&str]) -> Question {
    let params = json!({
        "message": "Please fill this in.",
        "requestedSchema": { "properties": properties, "required": required },
    });
    questions::fill_form(
        &"parcels".into(),
        &Arc::new(ElicitationForm::from_params(&params).expect("a valid form")),
    )
}

fn two_fields() -> Question {
    form_question(
        &json!({ "name": { "type": "string" }, "age": { "type": "integer", "minimum": 18 } }),
        &["name"],
    )
}

/// A chat with a running turn and a question from a server, which has been drawn and accepts keys.
fn asked(question: Question) -> ChatHarness {
    let mut chat = chat();
    chat.size(80, 24).keys("go<Enter>");
    ask_as(&mut chat, 7, "parcels", question);
    show(&mut chat);
    chat.commands();
    chat
}

fn ask_as(chat: &mut ChatHarness, id: u64, server: &str, question: Question) {
    chat.engine_event(Event::Asked {
        ask: AskId(id),
        owner: QuestionOwner::Server(server.into()),
        question,
    });
}

fn show(chat: &mut ChatHarness) -> String {
    chat.size(80, 24).screen();
    chat.wait(600);
    chat.screen()
}

fn answers(chat: &mut ChatHarness) -> Vec<UserAnswer> {
    let answers = chat
        .commands()
        .into_iter()
        .filter_map(|command| match command {
            Command::Answer { answer, .. } => Some(answer),
            _ => None,
        });
    answers.collect()
}

fn values(value: &Value) -> UserAnswer {
    UserAnswer::Form(value.as_object().cloned().expect("an object"))
}

#[test]
fn a_form_is_filled_in_reviewed_and_sent() {
    let mut chat = asked(two_fields());
    chat.keys("e").keys("Ada<Enter>36<Enter>");
    let review = show(&mut chat);
    assert!(review.contains("name *  Ada"), "{review}");
    assert_eq!(answers(&mut chat), [], "nothing is sent before the review");
    chat.keys("y");
    assert_eq!(
        answers(&mut chat),
        [values(&json!({ "name": "Ada", "age": 36 }))]
    );
}

#[test]
fn the_key_of_the_last_decision_may_be_pressed_again_after_typing() {
    let mut chat = asked(form_question(&json!({}), &[]));
    ask_as(&mut chat, 8, "shop", two_fields());
    chat.keys("y");
    show(&mut chat);
    chat.keys("ea<Esc>");
    show(&mut chat);
    chat.keys("y");
    let expected = [values(&json!({})), values(&json!({ "name": "a" }))];
    assert_eq!(answers(&mut chat), expected);
}

#[test]
fn decline_and_cancel_are_different_answers() {
    for (key, answer) in [
        ("n", UserAnswer::Choice(UserChoice::Decline)),
        ("c", UserAnswer::Choice(UserChoice::CancelRequest)),
        ("<Esc>", UserAnswer::Dismissed),
    ] {
        let mut chat = asked(two_fields());
        chat.keys(key);
        assert_eq!(answers(&mut chat), [answer], "{key}");
    }
}

#[test]
fn a_missing_or_invalid_value_is_shown_instead_of_sent() {
    let mut chat = asked(two_fields());
    chat.keys("y");
    let screen = show(&mut chat);
    assert!(screen.contains("This value is required."), "{screen}");
    chat.keys("A<Down>17<Enter>");
    let screen = show(&mut chat);
    assert!(screen.contains("At least 18."), "{screen}");
    chat.keys("<Esc>");
    show(&mut chat);
    chat.keys("y");
    assert_eq!(answers(&mut chat), []);
}

#[test]
fn answer_letters_can_be_typed_into_a_field_before_the_form_is_read() {
    let fields: serde_json::Map<String, Value> = (0..30)
        .map(|n| (format!("f{n}"), json!({ "type": "string" })))
        .collect();
    let mut chat = asked(form_question(&json!(fields), &[]));
    chat.keys("y");
    assert_eq!(answers(&mut chat), [], "not read to its end");
    chat.keys("eyncu?<Esc>");
    show(&mut chat);
    chat.page_through().keys("y");
    assert_eq!(answers(&mut chat), [values(&json!({ "f0": "yncu?" }))]);
}

#[test]
fn esc_never_discards_input_of_a_server_form() {
    let mut chat = asked(two_fields());
    chat.keys("eA<Esc>");
    show(&mut chat);
    chat.wait(1_000).keys("<Esc>");
    assert_eq!(chat.notice(), "Your input is kept. c cancels, n declines.");
    assert_eq!(answers(&mut chat), []);
    assert!(show(&mut chat).contains("name *  A"));
}

#[test]
fn a_secret_is_sent_only_after_a_typed_confirmation() {
    let question = form_question(
        &json!({ "password": { "type": "string", "default": "x" } }),
        &[],
    );
    let mut chat = asked(question);
    assert!(show(&mut chat).contains("Warning: `password` looks like a secret."));
    chat.keys("y");
    let confirming = show(&mut chat);
    assert!(confirming.contains("  password  x"), "{confirming}");
    assert!(!confirming.contains("more ─"), "{confirming}");
    chat.keys("y<Enter>");
    assert_eq!(answers(&mut chat), []);
    chat.keys("<Backspace>send<Enter>");
    assert_eq!(answers(&mut chat), [values(&json!({ "password": "x" }))]);
}

#[test]
fn typing_goes_to_the_message_until_the_user_pauses() {
    let mut chat = chat();
    chat.size(80, 24).keys("go<Enter>he");
    ask_as(&mut chat, 7, "parcels", two_fields());
    chat.screen();
    chat.keys("ync");
    assert_eq!(answers(&mut chat), []);
    assert_eq!(chat.message(), "heync");
    show(&mut chat);
    chat.keys("n").wait(400);
    assert_eq!(
        answers(&mut chat),
        [UserAnswer::Choice(UserChoice::Decline)]
    );
}

#[test]
fn a_question_without_a_turn_takes_no_key_until_it_is_opened() {
    let mut chat = chat();
    chat.size(80, 24);
    ask_as(&mut chat, 7, "parcels", two_fields());
    ask_as(&mut chat, 8, "shop", two_fields());
    let screen = show(&mut chat);
    let row = "Server parcels has a question for you (1 more is waiting). Alt+Q opens it.";
    assert!(screen.contains(row), "{screen}");
    assert!(!screen.contains("Form from"), "{screen}");
    chat.keys("yn").wait(2_000).keys("c");
    assert_eq!(
        (chat.message(), answers(&mut chat)),
        ("ync".to_owned(), vec![])
    );
    // Withdrawn while it waits.
    chat.engine_event(Event::AskClosed(AskId(8)));
    chat.keys("<Alt+q>");
    let screen = show(&mut chat);
    assert!(screen.contains("Form from parcels"), "{screen}");
    assert!(!screen.contains("has a question for you"), "{screen}");
    chat.keys("n").wait(400);
    assert_eq!(
        answers(&mut chat),
        [UserAnswer::Choice(UserChoice::Decline)]
    );
    assert_eq!(chat.message(), "ync");
    chat.keys("<Alt+q>");
    assert_eq!(chat.notice(), "No server is asking you anything.");
}

#[test]
fn questions_of_two_servers_are_shown_one_after_the_other() {
    let mut chat = asked(two_fields());
    let page = json!({ "message": "", "url": "https://shop.example/" });
    let page = questions::visit_page(
        &"shop".into(),
        &UrlElicitation::from_params(&page).expect("a web address"),
    );
    ask_as(&mut chat, 8, "shop", page);
    assert!(show(&mut chat).contains("Form from parcels"));
    chat.keys("n");
    assert!(show(&mut chat).contains("Web page from shop"));
    // The second question is withdrawn because its server is gone.
    chat.engine_event(Event::AskClosed(AskId(8)));
    assert!(!show(&mut chat).contains("Web page"));
    assert_eq!(
        answers(&mut chat),
        [UserAnswer::Choice(UserChoice::Decline)]
    );
}

#[test]
fn options_are_chosen_with_arrows_letters_and_space() {
    let mut chat = asked(form_question(
        &json!({
            "size": { "enum": ["small", "medium", "large"] },
            "extras": { "type": "array", "items": { "enum": ["a", "b", "c"] } },
            "express": { "type": "boolean" },
        }),
        &[],
    ));
    chat.keys("el<Down><Space><Right><Right><Space><Down>n<Enter>");
    show(&mut chat);
    chat.keys("y");
    let expected = json!({ "size": "large", "extras": ["a", "c"], "express": false });
    assert_eq!(answers(&mut chat), [values(&expected)]);
}

#[test]
fn long_lists_of_options_are_filtered_by_typing() {
    let cities: Vec<String> = (0..500).map(|n| format!("City {n:03}")).collect();
    let mut chat = asked(form_question(
        &json!({
            "one": { "enum": cities },
            "some": { "type": "array", "items": { "enum": cities } },
        }),
        &[],
    ));
    chat.keys("e");
    let screen = show(&mut chat);
    assert!(screen.contains("500 options; type to filter"), "{screen}");
    chat.keys("99");
    let screen = show(&mut chat);
    for text in [
        "5 of 500 options contain `99`",
        "(o) City 099",
        "( ) City 499",
    ] {
        assert!(screen.contains(text), "{text}\n{screen}");
    }
    let is_field = |row: &&str| row.contains("some");
    let place = |screen: &str| screen.lines().position(|row| is_field(&row));
    let before = place(&screen);
    chat.keys("<Right>").keys("x");
    let screen = show(&mut chat);
    assert!(
        screen.contains("0 of 500 options contain `99x`"),
        "{screen}"
    );
    assert_eq!(place(&screen), before, "the fields below keep their rows");
    chat.keys("<Backspace><Right><Enter>");
    chat.keys("042<Space><Backspace><Backspace><Backspace>77<Right><Space><Enter>");
    show(&mut chat);
    chat.keys("y");
    let expected = json!({ "one": "City 299", "some": ["City 042", "City 177"] });
    assert_eq!(answers(&mut chat), [values(&expected)]);
}

#[test]
fn a_form_without_fields_has_nothing_to_fill_in() {
    let mut chat = asked(form_question(&json!({}), &[]));
    let screen = show(&mut chat);
    assert!(
        screen.contains("y agree") && !screen.contains("fill in"),
        "{screen}"
    );
    chat.keys("y");
    assert_eq!(answers(&mut chat), [values(&json!({}))]);
}

#[test]
fn an_invalid_default_is_explained_beside_its_field() {
    let question = form_question(
        &json!({ "a": { "type": "string" }, "age": { "type": "integer", "default": "ma\u{202e}ny" } }),
        &[],
    );
    let mut chat = asked(question);
    let why = "The server's default `\"ma⟨U+202E⟩ny\"` is not used: Expected a number.";
    let review = show(&mut chat);
    assert!(review.contains(why), "{review}");
    chat.keys("e");
    assert!(
        !show(&mut chat).contains(why),
        "another field has the focus"
    );
    chat.keys("<Down>");
    let fields = show(&mut chat);
    assert!(fields.contains(why), "{fields}");
}

#[test]
fn the_address_of_a_page_is_copied_without_an_answer() {
    let params = json!({ "message": "", "url": "https://gіthub.com/login" });
    let page = UrlElicitation::from_params(&params).expect("a web address");
    let question = questions::visit_page(&"shop".into(), &page);
    let mut chat = asked(question);
    let screen = show(&mut chat);
    for text in [
        "Host     xn--gthub-n2e.com",
        "gіthub.com.",
        "https://xn--gthub-n2e.com/login",
    ] {
        assert!(screen.contains(text), "{text}\n{screen}");
    }
    chat.keys("u");
    assert_eq!(
        chat.copied().as_deref(),
        Some("https://xn--gthub-n2e.com/login")
    );
    assert_eq!(answers(&mut chat), []);
    chat.wait(600).keys("y");
    assert_eq!(
        answers(&mut chat),
        [UserAnswer::Choice(UserChoice::OpenPage)]
    );
}

#[test]
fn long_labels_and_descriptions_are_shown_in_full() {
    let title = "I would like to receive the result, and I agree that all my files are deleted";
    let question = form_question(
        &json!({ "ok": { "type": "boolean", "title": title, "default": true,
            "description": "This cannot be undone." } }),
        &[],
    );
    let screen = show(&mut asked(question));
    let words = screen.replace('│', " ");
    let words: Vec<&str> = words.split_whitespace().collect();
    let words = words.join(" ");
    for part in [
        "result, and I agree",
        "files are deleted",
        "| This cannot be undone.",
    ] {
        assert!(words.contains(part), "{part}\n{screen}");
    }
}

#[test]
fn text_for_a_form_that_closes_does_not_reach_the_message() {
    let mut chat = asked(two_fields());
    chat.keys("eMy str");
    chat.engine_event(Event::AskClosed(AskId(7)));
    let text = "The question was closed. The text that you typed was neither sent nor kept.";
    assert!(chat.notice().contains(text), "{}", chat.notice());
    chat.wait(80).keys("e").wait(300).keys("et 12<Enter>");
    assert_eq!(chat.message(), "");
    chat.wait(600).keys("hello");
    assert_eq!(chat.message(), "hello");
    // A form that is being reviewed.
    let mut chat = asked(two_fields());
    chat.keys("eAda<Esc>")
        .engine_event(Event::AskClosed(AskId(7)));
    assert!(chat.notice().contains(text), "{}", chat.notice());
}

#[test]
fn a_question_of_a_server_waits_after_the_turn_has_ended() {
    let mut chat = asked(two_fields());
    chat.model_answers("Done.");
    let screen = show(&mut chat);
    assert!(
        screen.contains("Server parcels has a question for you."),
        "{screen}"
    );
    chat.keys("n").wait(400);
    assert_eq!((chat.message().as_str(), answers(&mut chat)), ("n", vec![]));
}
