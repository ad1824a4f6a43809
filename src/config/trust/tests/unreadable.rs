//! An unreadable file or entry never turns into a permission.

use super::*;

/// Whether calls to this tool need approval, and whether the tool counts as changed, with `file` as
/// `trust.json`.
fn asks_and_has_changed(file: &Value, server: &str, tool_name: &str) -> (bool, bool) {
    let (_folder, home) = home();
    fs::write(home.trust(), file.to_string()).unwrap();
    let read = read_trust(&home);
    assert_eq!(read.banners.len(), 1, "{file}");
    let launch = LaunchId::from_hash("l");
    let accepted = read
        .value
        .accepted_definition(&server.into(), &launch, tool_name);
    let has_changed = accepted.is_some_and(|accepted| accepted.pin != tool("d").pin);
    (read.value.must_ask(&server.into(), tool_name), has_changed)
}

#[test]
fn an_unreadable_rule_requires_approval_for_the_tools_it_may_concern() {
    let cases = [
        (
            json!({ "kind": "nver", "server": "s", "tool": "t" }),
            [true, false, false],
        ),
        (json!({ "server": "s", "tool": "t" }), [true, false, false]),
        (
            json!({ "kind": "never", "server": "s", "tool": 7 }),
            [true, true, false],
        ),
        (
            json!({ "kind": "never", "server": 7, "tool": "t" }),
            [true, true, true],
        ),
        (json!("never"), [true, true, true]),
    ];
    for (entry, expected) in cases {
        let file = json!({ "grants": [entry] });
        let must_ask = |server, tool| asks_and_has_changed(&file, server, tool).0;
        let actual = [must_ask("s", "t"), must_ask("s", "u"), must_ask("x", "t")];
        assert_eq!(actual, expected, "{file}");
    }
}

/// Each text would allow or accept something if the last value of the repeated key counted.
#[test]
fn a_repeated_key_makes_its_part_of_the_file_unreadable() {
    let grant =
        |keys: &str| format!(r#"{{ "grants": [{{ {keys}, "launch": "l", "pin": "p" }}] }}"#);
    let cases = [
        (
            grant(r#""kind": "never", "kind": "tool", "server": "s", "tool": "t""#),
            [true, false, false],
        ),
        (
            grant(r#""kind": "tool", "server": "s", "tool": "t", "pin": "q""#),
            [true, false, false],
        ),
        (
            grant(r#""kind": "never", "server": "s", "tool": "t", "tool": "z""#),
            [true, true, false],
        ),
        (
            grant(r#""kind": "never", "server": "s", "server": "z", "tool": "t""#),
            [true, true, true],
        ),
        (
            r#"{ "grants": [7], "grants": [] }"#.to_owned(),
            [true, true, true],
        ),
    ];
    for (file, expected) in cases {
        let (_folder, home) = home();
        fs::write(home.trust(), &file).unwrap();
        let read = read_trust(&home);
        assert_eq!(read.banners.len(), 1, "{file}");
        let text = &read.banners[0].notice.what;
        assert!(text.contains("` occurs twice"), "{text}");
        assert_eq!(read.value.rules, [], "{file}");
        let must_ask = |server: &str, tool| read.value.must_ask(&server.into(), tool);
        let actual = [must_ask("s", "t"), must_ask("s", "u"), must_ask("x", "t")];
        assert_eq!(actual, expected, "{file}");
    }
}

#[test]
fn a_repeated_key_withholds_the_tools_whose_definitions_it_may_hide() {
    for (pins, expected) in [
        (
            r#"{ "s": { "l": { "t": { "pin": "a", "pin": "b" } } } }"#,
            [true, false, false],
        ),
        (r#"{ "s": { "l": {}, "l": {} } }"#, [true, true, false]),
        (r#"{ "s": {} }, "pins": {}"#, [true, true, true]),
    ] {
        let (_folder, home) = home();
        fs::write(home.trust(), format!(r#"{{ "pins": {pins} }}"#)).unwrap();
        let trust = read_trust(&home).value;
        let launch = LaunchId::from_hash("l");
        let is_lost = |server: &str, tool| {
            let accepted = trust.accepted_definition(&server.into(), &launch, tool);
            accepted.is_some_and(AcceptedDefinition::is_unknown)
        };
        let actual = [is_lost("s", "t"), is_lost("s", "u"), is_lost("x", "t")];
        assert_eq!(actual, expected, "{pins}");
    }
}

#[test]
fn a_file_with_a_repeated_key_is_not_rewritten() {
    let (_folder, home) = home();
    let text = r#"{ "grants": [{ "kind": "never", "kind": "tool", "server": "s" }] }"#;
    fs::write(home.trust(), text).unwrap();
    let consent = InstructionsConsent::new(
        &"s".into(),
        &LaunchId::from_hash("l"),
        "Be brief.",
        jiff::Timestamp::UNIX_EPOCH,
    );
    let error = update_trust(&home, &[TrustEdit::AllowInstructions(consent)]).unwrap_err();
    assert!(
        error.to_string().ends_with("`grants.0.kind` occurs twice"),
        "{error}"
    );
    assert_eq!(fs::read_to_string(home.trust()).unwrap(), text);
}

#[test]
fn an_unreadable_definition_withholds_the_tools_it_may_belong_to() {
    let cases = [
        (
            json!({ "s": { "l": { "t": { "pin": 5 } } } }),
            [true, false, false],
        ),
        (json!({ "s": { "l": { "t": 7 } } }), [true, false, false]),
        (json!({ "s": { "l": 7 } }), [true, true, false]),
        (json!({ "s": 7 }), [true, true, false]),
        (json!([]), [true, true, true]),
    ];
    for (pins, expected) in cases {
        let file = json!({ "pins": pins });
        let has_changed = |server, tool| asks_and_has_changed(&file, server, tool).1;
        let actual = [
            has_changed("s", "t"),
            has_changed("s", "u"),
            has_changed("x", "t"),
        ];
        assert_eq!(actual, expected, "{file}");
    }
}

#[cfg(unix)]
#[test]
fn an_unreadable_trust_file_is_not_treated_as_empty() {
    let (_folder, home) = home();
    fs::create_dir(home.trust()).unwrap();
    assert_eq!(read_trust(&home).value, unreadable_trust());
    fs::remove_dir(home.trust()).unwrap();
    std::os::unix::fs::symlink("trust.json", home.trust()).unwrap();
    assert_eq!(read_trust(&home).value, unreadable_trust());
    fs::remove_file(home.trust()).unwrap();
    assert_eq!(read_trust(&home).value, Trust::default());
}
