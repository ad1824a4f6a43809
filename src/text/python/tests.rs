//! Tests of parsing Python arguments, and of finding where they end.

use super::*;
use serde_json::json;

fn parsed(text: &str) -> Value {
    let arguments = parse_arguments(text).expect("valid arguments");
    assert!(!arguments.was_repaired, "{text}");
    arguments.value
}

fn parse_error(text: &str) -> String {
    parse_arguments(text).expect_err("invalid arguments")
}

#[test]
fn python_literals_keep_their_types_and_order() {
    assert_eq!(
        parsed(
            "(city='서울', n=3, ok=True, x=None, xs=[1, 'a'], d={'k': 1.5,}, t=(1, 2), o=(1,), p=(3), e=())"
        ),
        json!({
            "city": "서울", "n": 3, "ok": true, "x": null, "xs": [1, "a"], "d": {"k": 1.5},
            "t": [1, 2], "o": [1], "p": 3, "e": []
        })
    );
    let names: Vec<_> = match parsed("(z=1, a=2, 도시='東京')") {
        Value::Object(map) => map.keys().cloned().collect(),
        other => panic!("{other}"),
    };
    assert_eq!(names, ["z", "a", "도시"]);
    assert_eq!(parsed("()"), json!({}));
    assert_eq!(
        parsed("( # none\n a = true, # one\n b = \\\n null, c = false\n, )"),
        json!({"a": true, "b": null, "c": false})
    );
    assert_eq!(
        parsed("(d={1: {}, None: [], 'a': {\"b\": [[]]}, 2.5: 1})"),
        json!({"d": {"1": {}, "null": [], "a": {"b": [[]]}, "2.5": 1}})
    );
}

#[test]
fn numbers_follow_python_syntax() {
    for (written, number) in [
        ("-3", json!(-3)),
        ("+3", json!(3)),
        ("1_000", json!(1000)),
        ("0x1F", json!(31)),
        ("-0b11", json!(-3)),
        ("0o17", json!(15)),
        ("0", json!(0)),
        ("-2.5", json!(-2.5)),
        ("1e5", json!(1e5)),
        ("1.5E-3", json!(0.0015)),
        (".5", json!(0.5)),
        ("5.", json!(5.0)),
        ("9223372036854775808", json!(9223372036854775808_u64)),
    ] {
        assert_eq!(
            parsed(&format!("(n={written})")),
            json!({"n": number}),
            "{written}"
        );
    }
    for written in [
        "007", "1__0", "_1", "1_", "1j", "--1", "nan", "inf", "0x", "0x-1", "1e", "-", "1e999",
        "1 2", "3-1", "0xZ",
    ] {
        assert!(
            parse_arguments(&format!("(n={written})")).is_err(),
            "{written}"
        );
    }
}

#[test]
fn strings_are_parsed_with_prefixes_quotes_and_escapes() {
    for (written, text) in [
        (r#""it's""#, "it's"),
        (r#"'say "안녕"'"#, "say \"안녕\""),
        ("''", ""),
        ("''''''", ""),
        ("\"\"\"a\n\"b\" 'c' ) \\\"\"\"\"", "a\n\"b\" 'c' ) \""),
        (r"'\x41\u00e9\U0001F600\101\n\t\\\''", "Aé😀A\n\t\\'"),
        (r"r'C:\new\'s'", r"C:\new\'s"),
        (r"R'\n'", r"\n"),
        (r"b'ab\u0041'", r"ab\u0041"),
        (r"u'é'", "é"),
        ("f'{{x}}'", "{x}"),
        (r"rb'\d'", r"\d"),
        (r"'C:\Windows\dir'", r"C:\Windows\dir"),
        ("'a' 'b'\n  \"c\"", "abc"),
        ("'a\\\nb'", "ab"),
        ("'(], # no comment'", "(], # no comment"),
        (
            "'한\u{1F468}\u{200D}\u{1F469}'",
            "한\u{1F468}\u{200D}\u{1F469}",
        ),
    ] {
        assert_eq!(
            parsed(&format!("(s={written})")),
            json!({"s": text}),
            "{written}"
        );
    }
}

#[test]
fn invalid_python_strings_are_repaired_and_reported_as_repaired() {
    for (written, text) in [
        ("'a\nb'", "a\nb"),
        (r"'\ud83d\ude00'", "😀"),
        (r"'\ud83d'", "\u{FFFD}"),
        (r"'\x4'", r"\x4"),
        (r"'\U00110000'", "\u{FFFD}"),
    ] {
        let arguments = parse_arguments(&format!("(s={written})")).expect("repairable string");
        assert_eq!(arguments.value, json!({"s": text}), "{written}");
        assert!(arguments.was_repaired, "{written}");
    }
}

#[test]
fn python_expressions_are_rejected_with_a_reason() {
    let unnamed = |text: &str| {
        format!("`{text}` has no name: pass arguments by name, as in `city=\"Paris\"`")
    };
    let not_plain = |text: &str| format!("`{text}` is not a plain value");
    for (text, expected) in [
        ("('Paris')", unnamed("'Paris')")),
        ("(**{'city': 1})", unnamed("**{'city': 1})")),
        ("(a == 1)", unnamed("a == 1)")),
        ("(city: 'Paris')", unnamed("city: 'Paris')")),
        ("(a=1, 2)", unnamed("2)")),
        ("(a=x)", not_plain("x)")),
        ("(a=today())", not_plain("today())")),
        ("(a={**b})", not_plain("**b})")),
        (
            "(a=b'x' + y)",
            "`+ y)` follows a value; expected a comma or the closing bracket".to_owned(),
        ),
        (
            "(a=f'{x}')",
            "`f'{x}')` is an f-string, which is not a plain value".to_owned(),
        ),
        (
            "(a='\\N{BULLET}')",
            "`\\N{…}` is not supported: write the character itself".to_owned(),
        ),
        ("(a=1, a=2)", "`a` is given twice".to_owned()),
        ("(a='x", "`'x` is an unterminated string".to_owned()),
        ("(a=", "a value is missing at the end".to_owned()),
        (
            "(a=1",
            "the end of the text follows a value; expected a comma or the closing bracket"
                .to_owned(),
        ),
        (
            "(a={1, 2})",
            "`, 2})` follows a key; expected `:`".to_owned(),
        ),
        (
            "(a={[1]: 2})",
            "a list or an object cannot be a key".to_owned(),
        ),
        (
            "(a=[1 2])",
            "`2])` follows a value; expected a comma or the closing bracket".to_owned(),
        ),
        (
            "(a=1) + 2",
            "`+ 2` follows the call; write one call only".to_owned(),
        ),
        (
            "",
            "the end of the text does not start an argument list".to_owned(),
        ),
    ] {
        assert_eq!(parse_error(text), expected, "{text}");
    }
    assert_eq!(
        parse_error("(a=가나다라마바사아자차카타파하가나다라마바사아자차카타파하)"),
        not_plain("가나다라마바사아자차카타파하가나다라마바사아자차…")
    );
}

#[test]
fn deeply_nested_python_values_are_rejected_without_a_stack_overflow() {
    for open in ["[", "(", "{1:", "{'a': [("] {
        assert!(parse_arguments(&format!("(a={}", open.repeat(300_000))).is_err());
    }
    let nested = |depth: usize| format!("(a={}{})", "[".repeat(depth), "]".repeat(depth));
    assert!(parse_arguments(&nested(128)).is_ok());
    assert_eq!(
        parse_error(&nested(129)),
        "its values are nested too deeply"
    );
}

fn bracket_end(text: &str) -> Option<usize> {
    let mut scanner = BracketScanner::default();
    text.char_indices()
        .find_map(|(at, c)| scanner.push(c).then_some(at + c.len_utf8()))
}

#[test]
fn scanner_ends_where_the_outermost_bracket_closes() {
    for text in [
        "()",
        "(a=')', b=\"]\", c=[1, (2)], d={'k': ')'})",
        "(a='\\')', b='')",
        "(a='''it's ')' \"x\" ''\\''' ''', b='''''', c=\"\"\"\")\"\"\")",
        "( # it's )\n a=1)",
        "('한 )', ''')''')",
        "(r'\\')')",
    ] {
        assert_eq!(
            bracket_end(&format!("{text} tail) ]")),
            Some(text.len()),
            "{text}"
        );
    }
}

#[test]
fn mismatched_bracket_closes_the_nearest_open_bracket_of_its_kind() {
    assert_eq!(bracket_end("(a=[1, 2)]"), Some(9));
    assert_eq!(bracket_end("[f(a=1]"), Some(7));
    assert_eq!(bracket_end("(a=1]}))"), Some(7));
    assert_eq!(bracket_end("(a='x)"), None);
}
