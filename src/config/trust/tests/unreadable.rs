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
