//! Tests of argument patterns: calls that they match, and calls that they must not match.

use super::*;
use serde_json::{Map, json};

fn arguments(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(arguments) => arguments,
        other => panic!("arguments must be an object: {other}"),
    }
}

fn matches_call(pattern: &Value, called: &Value) -> bool {
    let pattern = ArgumentPattern::from_json(&arguments(pattern.clone())).expect("a valid pattern");
    let reparsed =
        ArgumentPattern::from_json(&pattern.to_json()).expect("a serialized pattern parses");
    assert_eq!(reparsed, pattern);
    pattern.matches(&arguments(called.clone()).into())
}

fn matches_path(pattern: &str, path: &str) -> bool {
    matches_call(&json!({ "path": pattern }), &json!({ "path": path }))
}

#[test]
fn wildcards_match_within_one_segment() {
    for (pattern, path) in [
        ("src/*.rs", "src/main.rs"),
        ("/src/*.rs", "/src//./main.rs"),
        ("/src/*", "/src/main.rs/"),
        ("src/*/mod.rs", "src/tui/mod.rs"),
        ("a*", "a"),
        ("a*", "ab"),
        ("a?c", "abc"),
        ("a*b*c", "axxbyybzzc"),
        ("/home/me/*", "/home/me/x-y_2.txt"),
        ("글/*.md", "글/서울_날씨.md"),
        ("हि*", "हिन्दी"),
        ("git * now", "git log now"),
        ("https://*.x.com/", "https://a.b.x.com/"),
        ("https://x.com/*?q", "https://x.com/page1q"),
        // Composed and decomposed letters are equivalent.
        ("caf\u{e9}/*", "cafe\u{301}/x"),
        ("?", "한"),
    ] {
        assert!(matches_path(pattern, path), "{pattern} {path}");
    }
}

/// Patterns, each with a similar path that it must not match.
const NEAR_MISSES: &[(&str, &str)] = &[
    ("a*", "ab/c"),
    ("src/*", "src"),
    ("src/*", "src/"),
    ("src/*", "src/a/b"),
    ("src/*", "src/../etc"),
    ("src/*", "src/a/../../etc"),
    ("src/*", "src/.."),
    ("src/*", "src/a/.."),
    ("*", ".."),
    ("*", ""),
    ("*", "/"),
    ("*", "/etc"),
    ("/src/*", "src/a"),
    ("src/*", "/src/a"),
    ("a/*", "A/b"),
    ("*.RS", "main.rs"),
    ("a?", "a"),
    ("a?", "abc"),
    ("?", "/"),
    ("*", "~"),
    ("*/x", "~/x"),
    ("*", ".ssh"),
    ("*", "-rf"),
    ("src/*", r"src/..\..\etc"),
    ("src/*", r"src/a\..\b"),
    ("src/*", "src/%2e%2e"),
    ("src/*", "src/..%2fetc"),
    ("src/*", "src/a%2Fb"),
    ("src/*", "src/%252e%252e%252fetc"),
    ("src/*", "src/%5c..%5cetc"),
    ("src/*", "src/\u{ff0f}etc"),
    ("src/*", "src/a\0b"),
    ("src/*", "src/a\nb"),
    ("src/*", "src/a\u{202e}b"),
    ("src/*", "src/a\u{200b}b"),
    ("git *", "git log; reboot"),
    ("git *", "git $(reboot)"),
    ("git *", "git log && x"),
    ("git *", "git `x`"),
    ("a*", " a"),
    ("src/*", " src/a"),
    ("a?c", "a*c/.."),
    ("src/*.rs", "src//main.rs"),
    ("src/*.rs", "./src/main.rs"),
    ("src/*", "src/main.rs/"),
    ("//d/*", "/d/a"),
    ("/d/*", "//d/a"),
    ("http://*.x.com/", "http://evil.com?.x.com/"),
    ("http://*.x.com/", "http://evil.com#.x.com/"),
    ("http://*.x.com/", "http://a@evil.com:80.x.com/"),
    ("http://*.x.com/", "http:/a.x.com/"),
    (
        "https://api.x.com/users/*",
        "https://api.x.com/users/1?delete=1#",
    ),
    ("a *", "a --force"),
    ("a *", "a .ssh"),
    ("a -*", "a --force"),
    ("*", "C:secret"),
    ("*", "@file"),
    ("*", "{a,b}"),
    ("*", "a b"),
    ("*", "a=b"),
    ("a*.", "ab.."),
    ("a.*", "a..b"),
    ("/d/*", "/d/\u{ff0e}\u{ff0e}"),
    ("/d/*", "/d/a\u{2024}b"),
    ("/d/*", "/d/a\u{29f8}b"),
    ("/d/*", "/d/a\u{2216}b"),
    ("/d/*", "/d/a\u{338}b"),
    ("/d/*", "/d/\u{bd}"),
    ("/d/*", "/d/\u{2488}"),
    ("/d/*", "/d/a\u{1c0}b"),
    ("/d/*", "/d/a\u{3164}b"),
    ("/d/*", "/d/a\u{e0041}b"),
];

#[test]
fn globs_reject_near_misses() {
    for (pattern, path) in NEAR_MISSES {
        assert!(!matches_path(pattern, path), "{pattern} {path}");
    }
    assert!(!matches_path("a*", &format!("a{}", "b".repeat(5_000))));
}

#[test]
fn matching_many_wildcards_takes_little_time() {
    let pattern = "*a".repeat(32);
    let text = "a".repeat(4_000) + "b";
    let started = std::time::Instant::now();
    assert!(!matches_path(&pattern, &text));
    assert!(started.elapsed() < std::time::Duration::from_secs(2));
}

#[test]
fn a_pattern_without_wildcards_matches_equal_values() {
    for (wanted, called) in [
        (json!({}), json!({})),
        (json!({ "n": 1 }), json!({ "n": 1 })),
        (json!({ "p": "/a/b" }), json!({ "p": "/a//./b/" })),
        (
            json!({ "p": "log() // caf\u{e9}" }),
            json!({ "p": "log() // cafe\u{301}" }),
        ),
        (json!({ "p": "a/../b" }), json!({ "p": "a/../b" })),
        (
            json!({ "o": { "a": 1, "b": [null] } }),
            json!({ "o": { "b": [null], "a": 1 } }),
        ),
        (json!({ "p": { "equals": "*.rs" } }), json!({ "p": "*.rs" })),
        (
            json!({ "p": { "equals": { "equals": 1 } } }),
            json!({ "p": { "equals": 1 } }),
        ),
        (json!({ "a": 1, "b": 2 }), json!({ "b": 2, "a": 1 })),
    ] {
        assert!(matches_call(&wanted, &called), "{wanted} {called}");
    }
    for (wanted, called) in [
        (json!({ "n": 1 }), json!({ "n": "1" })),
        (json!({ "n": "1" }), json!({ "n": 1 })),
        (json!({ "n": 1 }), json!({ "n": 1.0 })),
        (json!({ "n": 1 }), json!({ "n": true })),
        (json!({ "n": "*" }), json!({ "n": 1 })),
        (json!({ "n": "*" }), json!({ "n": ["a"] })),
        (json!({ "n": null }), json!({})),
        (json!({}), json!({ "n": null })),
        (json!({ "n": 1 }), json!({ "n": 1, "force": true })),
        (json!({ "n": 1, "dry": true }), json!({ "n": 1 })),
        (json!({ "p": "a/b" }), json!({ "p": "a/../a/b" })),
        (json!({ "p": "b" }), json!({ "p": "a/../b" })),
        (json!({ "p": "a" }), json!({ "p": "A" })),
        (json!({ "p": "" }), json!({ "p": " " })),
        (json!({ "p": "a" }), json!({ "p": "/a" })),
        (json!({ "p": "a/b" }), json!({ "p": "a//b" })),
        (
            json!({ "p": "log() // wipe()" }),
            json!({ "p": "log() / wipe()" }),
        ),
        (json!({ "p": "7 // 2" }), json!({ "p": "7 / 2" })),
        (json!({ "p": "./~/x" }), json!({ "p": "~/x" })),
        (json!({ "p": "./--config=x" }), json!({ "p": "--config=x" })),
        (json!({ "p": "" }), json!({ "p": "." })),
        (
            json!({ "p": "file:///etc/x" }),
            json!({ "p": "file://etc/x" }),
        ),
        (
            json!({ "p": "//host/share" }),
            json!({ "p": "/host/share" }),
        ),
        (json!({ "p": "/a/../b" }), json!({ "p": "/a/..//b" })),
        (json!({ "p": "/a/~" }), json!({ "p": "/a//~" })),
        (json!({ "p": "a" }), json!({ "p": "a\0" })),
        (json!({ "p": { "equals": "*.rs" } }), json!({ "p": "a.rs" })),
        (
            json!({ "o": { "a": "x/*" } }),
            json!({ "o": { "a": "x/y" } }),
        ),
    ] {
        assert!(!matches_call(&wanted, &called), "{wanted} {called}");
    }
}

#[test]
fn invalid_patterns_are_rejected_with_a_reason() {
    let rejection = |pattern: &str| {
        let json = arguments(json!({ "path": pattern }));
        ArgumentPattern::from_json(&json).expect_err("an invalid pattern")
    };
    assert_eq!(
        rejection("src/**"),
        "`path`: `**` is not supported: `*` matches within one segment only"
    );
    assert_eq!(
        rejection("../*"),
        "`path`: `..` is not allowed: write the full path"
    );
    assert_eq!(
        rejection(&"?".repeat(33)),
        "`path`: it has more than 32 wildcards"
    );
    assert_eq!(
        rejection(&format!("*{}", "a".repeat(5_000))),
        "`path`: it is longer than 4096 bytes"
    );
}

#[test]
fn a_pattern_made_from_a_call_matches_it() {
    let call_arguments: Arguments = arguments(json!({
        "path": "src/*.rs", "q": "why?", "n": 1, "o": { "equals": 2 }, "s": "plain", "up": "../*",
    }))
    .into();
    let json = ArgumentPattern::from_arguments(&call_arguments).to_json();
    let reparsed = ArgumentPattern::from_json(&json).expect("a valid pattern");
    assert!(reparsed.matches(&call_arguments), "{reparsed:?}");
}
