//! Forms, fields, secrets and addresses, with the input of hostile servers.

use super::*;
use serde_json::json;

fn form(properties: &Value, required: &[&str]) -> ElicitationForm {
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    let params = json!({ "message": "Please.", "requestedSchema": schema });
    ElicitationForm::from_params(&params).expect("a valid form")
}

fn only_field(schema: &Value) -> FormField {
    form(&json!({ "x": schema }), &[]).fields.remove(0)
}

fn refusal(params: &Value) -> String {
    ElicitationForm::from_params(params).expect_err("a form that is refused")
}

fn check(schema: &Value, text: &str) -> Result<Option<Value>, String> {
    only_field(schema).check(&FieldInput::Text(text.to_owned()))
}

#[test]
fn defaults_of_every_kind_are_filled_in_and_sent() {
    let form = form(
        &json!({
            "name": { "type": "string", "default": "Ada" },
            "age": { "type": "integer", "default": 36 },
            "ratio": { "type": "number", "default": 0.5 },
            "subscribed": { "type": "boolean", "default": true },
            "size": { "type": "string", "enum": ["s", "m"], "default": "m" },
            "color": { "oneOf": [{ "const": "r", "title": "Red" }], "default": "r" },
            "tags": { "type": "array", "items": { "enum": ["a", "b"] }, "default": ["b", "a"] },
            "empty": { "type": "string" },
        }),
        &["name"],
    );
    let answer = form.answer(&form.initial_inputs()).expect("valid defaults");
    assert_eq!(
        Value::Object(answer),
        json!({
            "name": "Ada", "age": 36, "ratio": 0.5, "subscribed": true,
            "size": "m", "color": "r", "tags": ["a", "b"],
        })
    );
}

#[test]
fn invalid_defaults_are_not_filled_in_but_explained() {
    for (schema, why) in [
        (
            json!({ "type": "integer", "default": "many" }),
            "`\"many\"` is not used: Expected a number.",
        ),
        (
            json!({ "type": "integer", "maximum": 3, "default": 4 }),
            "`4` is not used: At most 3.",
        ),
        (
            json!({ "type": "string", "enum": ["a"], "default": "b" }),
            "`\"b\"` is not used: It is not an option.",
        ),
        (
            json!({ "type": "boolean", "default": "x".repeat(1_000) }),
            "x` is not used: Expected true or false.",
        ),
    ] {
        let field = only_field(&schema);
        assert_eq!(field.check(&field.initial), Ok(None), "{schema}");
        let explained = field.invalid_default.expect("an explanation");
        assert!(explained.ends_with(why), "{explained}");
        assert!(explained.len() < 200, "{explained}");
    }
    let absent = only_field(&json!({ "type": "integer", "default": null }));
    assert_eq!(absent.invalid_default, None);
}

#[test]
fn texts_in_forms_are_checked_by_format_length_and_pattern() {
    let text = |rule: Value| {
        let mut schema = json!({ "type": "string" });
        schema
            .as_object_mut()
            .expect("an object")
            .extend(rule.as_object().cloned().unwrap_or_default());
        schema
    };
    for (rule, valid, invalid) in [
        (json!({ "format": "email" }), "김@예시.kr", "a@b@c.de"),
        (json!({ "format": "email" }), "a.b+c@d.example", "a b@c.de"),
        (json!({ "format": "uri" }), "urn:isbn:1", "not an address"),
        (json!({ "format": "date" }), "2028-02-29", "2026-02-29"),
        (json!({ "format": "date" }), "2026-11-23", "20261123"),
        (
            json!({ "format": "date-time" }),
            "2026-11-23T16:20:00+09:00",
            "2026-11-23T16:20:00",
        ),
        (json!({ "minLength": 2 }), "한글", "한"),
        (json!({ "maxLength": 2 }), "한글", "한글날"),
        (json!({ "pattern": "^[A-Z]{2}$" }), "KR", "KOR"),
        // A pattern that cannot be evaluated is left to the server.
        (json!({ "pattern": "(?=x)", "maxLength": 1 }), "y", "yy"),
    ] {
        let schema = text(rule);
        assert_eq!(check(&schema, valid), Ok(Some(json!(valid))), "{schema}");
        assert!(check(&schema, invalid).is_err(), "{schema}: {invalid}");
    }
}

#[test]
fn numbers_in_forms_are_checked_by_kind_and_bounds() {
    let integer = json!({ "type": "integer", "minimum": 18, "maximum": 99 });
    assert_eq!(check(&integer, " 18 "), Ok(Some(json!(18))));
    for (text, error) in [
        ("17", "At least 18."),
        ("100", "At most 99."),
        ("20.5", "Expected a whole number."),
        ("1e400", "Expected a whole number."),
        ("twenty", "Expected a whole number."),
    ] {
        assert_eq!(check(&integer, text), Err(error.to_owned()), "{text}");
    }
    let number = json!({ "type": "number" });
    assert_eq!(check(&number, "-0.25"), Ok(Some(json!(-0.25))));
    assert!(check(&number, "1e400").is_err());
}

#[test]
fn options_of_a_form_field_are_read_in_every_notation() {
    let titled = [("r", Some("Red")), ("g", None)];
    for (schema, expected) in [
        (
            json!({ "type": "string", "enum": ["r", "g"] }),
            [("r", None), ("g", None)],
        ),
        (
            json!({ "type": "string", "enum": ["r", "g"], "enumNames": ["Red"] }),
            titled,
        ),
        (
            json!({ "type": "string", "oneOf": [{ "const": "r", "title": "Red" }, { "const": "g" }] }),
            titled,
        ),
    ] {
        let FieldKind::Choice(options) = only_field(&schema).kind else {
            panic!("{schema}");
        };
        let read: Vec<_> = options
            .iter()
            .map(|option| (option.value.as_str(), option.title.as_deref()))
            .collect();
        assert_eq!(read, expected, "{schema}");
    }
    let several = only_field(&json!({
        "type": "array", "minItems": 1, "maxItems": 2,
        "items": { "anyOf": [{ "const": "a" }, { "const": "b" }, { "const": "c" }] },
    }));
    assert_eq!(
        several.check(&FieldInput::Selected(vec![0, 2])),
        Ok(Some(json!(["a", "c"])))
    );
    assert!(several.check(&FieldInput::Selected(vec![0, 1, 2])).is_err());
    assert_eq!(
        several.check(&FieldInput::Selected(vec![])),
        Ok(None),
        "it is optional"
    );
}

#[test]
fn the_first_field_without_its_required_value_is_reported() {
    let form = form(
        &json!({ "a": { "type": "string" }, "b": { "type": "boolean" } }),
        &["b"],
    );
    let error = form.answer(&form.initial_inputs());
    assert_eq!(error, Err((1, "This value is required.".to_owned())));
}

#[test]
fn oversized_and_nested_forms_are_refused() {
    let fields: Map<String, Value> = (0..10_000)
        .map(|n| (format!("f{n}"), json!({ "type": "string" })))
        .collect();
    let asking = |schema: Value| json!({ "message": "", "requestedSchema": schema });
    let why = refusal(&asking(json!({ "properties": fields })));
    assert_eq!(why, "it has 10000 fields, more than 100");
    let long = json!({ "type": "string", "description": "x".repeat(1 << 20) });
    let why = refusal(&asking(json!({ "properties": { "a": long } })));
    assert_eq!(why, "it is larger than 256 KiB");
    let long = json!({ "type": "string", "description": "x".repeat(2_001) });
    let why = refusal(&asking(json!({ "properties": { "a": long } })));
    assert_eq!(why, "the field `a` has a text of more than 2000 characters");
    let why = refusal(&json!({ "message": "x".repeat(20_000), "requestedSchema": {} }));
    assert_eq!(why, "its message has more than 10000 characters");
    let options: Vec<String> = (0..501).map(|n| n.to_string()).collect();
    let why = refusal(&asking(
        json!({ "properties": { "a": { "enum": options } } }),
    ));
    assert_eq!(why, "the field `a` has 501 options, more than 500");
    let nested = json!({ "properties": { "a": { "type": "object" } } });
    let why = refusal(&asking(nested));
    assert_eq!(
        why,
        "the field `a` has the type `object`, which forms cannot have"
    );
}

#[test]
fn expensive_patterns_are_checked_quickly() {
    let started_at = std::time::Instant::now();
    for pattern in [
        "(a+)+$",
        "((((a{1,100}){1,100}){1,100}){1,100})",
        r"(\w|\d)*~",
    ] {
        let schema = json!({ "type": "string", "pattern": pattern });
        let _ = check(&schema, &format!("{}!", "a".repeat(50_000)));
    }
    assert!(
        started_at.elapsed().as_secs() < 2,
        "{:?}",
        started_at.elapsed()
    );
}

#[test]
fn fields_that_ask_for_secrets_are_recognized() {
    for name in [
        "password",
        "user_password",
        "apiKey",
        "API key",
        "access-token",
        "authToken",
        "비밀번호를 입력",
        "clientSecret",
        "PIN",
        "Credit card",
        "pаssword",
        "ｐａｓｓｗｏｒｄ",
        "pass\u{200B}word",
        "복구 문구",
        "보안 코드",
        "카드 번호",
        "card number",
        "CVV",
        "seedPhrase",
        "カード番号",
        "API-Schlüssel",
        "Seed words",
        "IBAN",
        "Number of your Visa",
        "Clé d’API",
    ] {
        let field = form(&json!({ name: { "type": "string" } }), &[])
            .fields
            .remove(0);
        assert!(field.asks_for_secret(), "{name}");
    }
    for name in [
        "name",
        "Number of visits",
        "Visa type",
        "Visa application number",
        "Cuban cigars",
        "max_tokens",
        "seed",
        "secretary",
        "opinion",
        "keyboard",
        "passenger",
        "이름",
        "tokenizer",
    ] {
        let field = form(&json!({ name: { "type": "string" } }), &[])
            .fields
            .remove(0);
        assert!(!field.asks_for_secret(), "{name}");
    }
    let described = only_field(&json!({ "type": "string", "description": "Your GitHub token" }));
    assert!(described.asks_for_secret());
    let warned = only_field(&json!({ "type": "integer", "description": "Do not enter your PIN." }));
    assert!(!warned.asks_for_secret());
    let toggle = form(&json!({ "showPassword": { "type": "boolean" } }), &[])
        .fields
        .remove(0);
    assert!(!toggle.asks_for_secret(), "nothing is typed");
}

#[test]
fn a_message_that_asks_for_a_secret_makes_its_text_fields_secret() {
    let asking = |message: &str| {
        let properties = json!({
            "value": { "type": "string" }, "size": { "enum": ["s"] }, "sure": { "type": "boolean" },
        });
        let params = json!({ "message": message, "requestedSchema": { "properties": properties } });
        ElicitationForm::from_params(&params).expect("a valid form")
    };
    for message in [
        "Enter your pass word.",
        "비밀번호를 입력하세요",
        "Do not wait: enter your password.",
        "Never share this. Password:",
        "Do not include spaces when entering your password.",
        "Do not enter an old password",
        "Do not enter anything but your seed phrase",
        "비밀번호를 입력하고 다른 곳에는 적지 마세요.",
        "공백은 입력하지 마세요. 보안 코드:",
    ] {
        assert_eq!(asking(message).secret_fields(), ["value"], "{message}");
    }
    for message in [
        "How many tokens?",
        "Do not enter your password here.",
        "Name the parcel. Never type card numbers or seed phrases.",
        "Don't paste your API key",
        "비밀번호는 입력하지 마세요.",
        "카드 번호를 적지 마십시오",
    ] {
        assert!(asking(message).secret_fields().is_empty(), "{message}");
    }
}

fn page(url: &str) -> Result<UrlElicitation, String> {
    UrlElicitation::from_params(&json!({ "message": "", "elicitationId": "1", "url": url }))
}

#[test]
fn misleading_addresses_have_warnings() {
    use UrlWarning::{International, IpAddress, Local, Unencrypted, UserName};
    for (url, host, warnings) in [
        ("https://example.com/a?b=c", "example.com", vec![]),
        ("https://example.com:8443/", "example.com:8443", vec![]),
        (
            "https://gіthub.com/",
            "xn--gthub-n2e.com",
            vec![International("gіthub.com".to_owned())],
        ),
        (
            "https://xn--pple-43d.com/",
            "xn--pple-43d.com",
            vec![International("аpple.com".to_owned())],
        ),
        (
            "https://github.com@evil.example/",
            "evil.example",
            vec![UserName],
        ),
        (
            "http://203.0.113.7/",
            "203.0.113.7",
            vec![IpAddress, Unencrypted],
        ),
        ("http://localhost:8080/", "localhost:8080", vec![Local]),
        ("http://app.localhost./", "app.localhost.", vec![Local]),
        ("http://[::ffff:127.0.0.1]/", "[::ffff:7f00:1]", vec![Local]),
        (
            "http://[64:ff9b::7f00:1]/",
            "[64:ff9b::7f00:1]",
            vec![IpAddress, Unencrypted],
        ),
        ("http://example.com/", "example.com", vec![Unencrypted]),
    ] {
        let page = page(url).expect("a web address");
        assert_eq!(
            (page.host.as_str(), page.warnings),
            (host, warnings),
            "{url}"
        );
        assert!(page.url.is_ascii(), "{}", page.url);
    }
}

#[test]
fn addresses_other_than_web_pages_are_refused() {
    for url in [
        "file:///etc/passwd",
        "javascript:alert(1)",
        "ssh://a.example",
        "nonsense",
        "https://",
        "",
    ] {
        assert!(page(url).is_err(), "{url}");
    }
    assert!(page(&format!("https://a.example/{}", "x".repeat(9_000))).is_err());
}
