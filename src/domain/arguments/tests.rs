//! Tests of digits that a double cannot hold.

use super::*;
use serde_json::json;

const LONG: &str = "123456789012345678901234567890";
const TWO_TO_64: &str = "18446744073709551616";

fn json(text: &str) -> String {
    let arguments = Arguments::from_json(text).expect("a JSON object");
    serde_json::to_string(&arguments).expect("JSON")
}

#[test]
fn numbers_that_a_double_cannot_hold_keep_their_digits() {
    for number in [
        LONG,
        TWO_TO_64,
        "-9223372036854775809",
        "10000000000000000000000",
        "0.1000000000000000055511151231257827",
        "3.14159265358979323846264338327950288",
        "1e-400",
        "-1E-400",
        "1.00000000000000000000001e5",
    ] {
        for text in [
            format!(r#"{{"n":{number}}}"#),
            format!(r#"{{"a":[1,{{"b/c~d":{number}}}],"n":2}}"#),
            format!(r#"{{"text":"{number}","n":{number}}}"#),
        ] {
            assert_eq!(json(&text), text);
        }
    }
    let plain = r#"{"a":1.5,"b":[1e5,18446744073709551615,0.1,-0.0],"c":"1e-400"}"#;
    let arguments = Arguments::from_json(plain).expect("a JSON object");
    assert!(!arguments.has_digits());
}

#[test]
fn numbers_that_round_to_the_same_double_keep_their_own_digits() {
    for text in [
        r#"{"a":123456789012345678901234567890,"b":123456789012345678901234567891}"#,
        r#"{"a":0.0,"b":1e-400,"c":0.0,"d":1e-500}"#,
        r#"{"a":"123456789012345678901234567891","b":123456789012345678901234567890}"#,
        r#"{"a":[1e-400,1e-401,1e-400]}"#,
    ] {
        assert_eq!(json(text), text);
    }
}

#[test]
fn digits_are_found_in_calls_of_any_form() {
    let value = serde_json::from_str::<Value>(LONG).expect("a number");
    let members = json!({ "n": value, "m": 1 });
    let expected = format!(r#"{{"n":{LONG},"m":1}}"#);
    for text in [
        format!("f(n={LONG}, m=1)"),
        format!("<function=f><parameter=n>{LONG}</parameter></function>"),
        format!("call:f{{n:{LONG},m:1}}"),
        format!(r#"{{"name": "f", "arguments": "{{\"n\": {LONG}, \"m\": 1}}"}}"#),
        format!(r#"f({{'n': {LONG}, 'm': 1,}})"#),
        format!(r#"{{"n": "{LONG}"}}"#),
    ] {
        let members = members.as_object().expect("an object").clone();
        let arguments = Arguments::from(members).with_digits_of(&text);
        assert_eq!(
            serde_json::to_string(&arguments).expect("JSON"),
            expected,
            "{text}"
        );
    }
}

#[test]
fn digits_no_longer_apply_to_a_number_that_was_changed() {
    let mut arguments =
        Arguments::from_json(&format!(r#"{{"a":{LONG},"b":{LONG}}}"#)).expect("JSON");
    arguments["a"] = json!(5);
    arguments.remove("b");
    assert_eq!(
        serde_json::to_string(&arguments).expect("JSON"),
        r#"{"a":5}"#
    );
}

#[test]
fn an_edited_number_has_the_digits_of_the_edit() {
    let text = format!(r#"{{"a":{{"x":{LONG}}},"b":{LONG}}}"#);
    let mut arguments = Arguments::from_json(&text).expect("JSON");
    assert_eq!(arguments.json_at("/a/x", true).as_deref(), Some(LONG));
    assert_eq!(arguments.member_json("a"), format!(r#"{{"x":{LONG}}}"#));
    let edited = LONG.replace("890", "891");
    assert!(arguments.replace_json("/a/x", &edited).expect("JSON"));
    let expected = format!(r#"{{"a":{{"x":{edited}}},"b":{LONG}}}"#);
    assert_eq!(serde_json::to_string(&arguments).expect("JSON"), expected);
    assert!(arguments.replace_json("/b", "[1]").expect("JSON"));
    assert!(!arguments.replace_json("/c", "1").expect("JSON"));
}

#[test]
fn arguments_with_different_digits_are_not_equal() {
    let parse = |text: &str| Arguments::from_json(text).expect("JSON");
    let (a, b) = (
        format!(r#"{{"n":{LONG}}}"#),
        format!(r#"{{"n":{LONG}}}"#).replace("890", "891"),
    );
    assert_ne!(parse(&a), parse(&b));
    assert_eq!(parse(&a), parse(&a));
    // The marks for drawing cannot be forged.
    let forged = format!("{{\"n\":{LONG},\"s\":\"{DIGITS_MARK}5\"}}");
    assert!(!parse(&forged).has_digits());
}
