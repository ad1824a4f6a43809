//! `trust.json` on disk: its contents after edits, and how hand-written and broken files are
//! read.

mod unreadable;

use super::update::DEFINITION_BYTES_MAX;
use super::*;
use crate::domain::trust::{RuleScope, ToolDefinition};
use crate::domain::{ArgumentPattern, LaunchConfig, Tool, ToolIdentity};
use std::fs;
use std::sync::Arc;

fn home() -> (tempfile::TempDir, Home) {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    (folder, home)
}

fn tool(description: &str) -> Tool {
    crate::fixtures::described_tool("echo", description)
}

fn rule(scope: RuleScope) -> TrustRule {
    TrustRule {
        server: "fs".into(),
        launch: LaunchConfig::BuiltIn.identity(),
        decided_at: "2026-11-20T10:00:00Z".parse().unwrap(),
        scope,
    }
}

fn always() -> TrustRule {
    let (tool, pin) = ("echo".to_owned(), tool("d").pin);
    rule(RuleScope::Tool { tool, pin })
}

fn never() -> TrustRule {
    let (tool, pin) = ("echo".to_owned(), tool("d").pin);
    rule(RuleScope::Never { tool, pin })
}

fn pinned(description: &str) -> PinnedTool {
    let tool = tool(description);
    PinnedTool {
        server: "fs".into(),
        launch: LaunchConfig::BuiltIn.identity(),
        tool: tool.name.clone(),
        accepted: AcceptedDefinition {
            pin: tool.pin.clone(),
            accepted_at: "2026-11-20T10:00:00Z".parse().unwrap(),
            definition: Some(ToolDefinition::from_tool(&tool)),
            declined_pin: None,
        },
    }
}

fn file_text(home: &Home) -> String {
    fs::read_to_string(home.trust()).unwrap()
}

#[test]
fn written_trust_round_trips() {
    let (_folder, home) = home();
    assert_eq!(read_trust(&home), Loaded::default());
    let pattern = json!({ "path": "src/*.rs", "n": 1, "q": { "equals": "why?" } });
    let pattern = ArgumentPattern::from_json(pattern.as_object().unwrap()).unwrap();
    let pin = tool("d").pin;
    let pinned_name = |name: &str| (name.to_owned(), pin.clone());
    let rules = [
        always(),
        rule(RuleScope::Server {
            tools: [pinned_name("a"), pinned_name("b")].into(),
        }),
        rule(RuleScope::Matching {
            tool: "write".to_owned(),
            pin: pin.clone(),
            pattern,
        }),
        rule(RuleScope::Never {
            tool: "rm".to_owned(),
            pin: pin.clone(),
        }),
    ];
    let since = "2026-11-20T10:00:00Z".parse().unwrap();
    let consent = InstructionsConsent::new(
        &"fs".into(),
        &LaunchConfig::BuiltIn.identity(),
        "Be kind.",
        since,
    );
    let pinned = pinned("d");
    let mut edits: Vec<_> = rules.iter().cloned().map(TrustEdit::AddRule).collect();
    edits.push(TrustEdit::AllowInstructions(consent.clone()));
    edits.push(TrustEdit::RecordFirstSeen(pinned.clone()));
    let pin = tool("e").pin;
    let declined = pinned.clone();
    edits.push(TrustEdit::DeclineDefinition {
        pinned: declined,
        pin: pin.clone(),
    });
    update_trust(&home, &edits).unwrap();
    let mut expected = Trust {
        rules: rules.to_vec(),
        instruction_consents: vec![consent.clone()],
        ..Trust::default()
    };
    let mut accepted = pinned.accepted.clone();
    accepted.declined_pin = Some(pin);
    expected.record_pin(&pinned.server, &pinned.launch, &pinned.tool, accepted);
    let read = read_trust(&home);
    assert_eq!((read.value, read.banners), (expected, vec![]));
    // The text of a server's instructions is stored only as a hash.
    assert!(!file_text(&home).contains("Be kind."));

    let mut edits: Vec<_> = rules.iter().cloned().map(TrustEdit::RemoveRule).collect();
    edits.push(TrustEdit::RevokeInstructions(consent));
    update_trust(&home, &edits).unwrap();
    let read = read_trust(&home).value;
    assert_eq!((read.rules, read.instruction_consents), (vec![], vec![]));
}

#[cfg(unix)]
#[test]
fn only_the_user_can_read_the_trust_file() {
    use std::os::unix::fs::PermissionsExt;
    let (_folder, home) = home();
    update_trust(&home, &[TrustEdit::AddRule(always())]).unwrap();
    let mode = fs::metadata(home.trust()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn always_and_never_rules_for_a_tool_replace_each_other() {
    let (_folder, home) = home();
    let rules = |home: &Home| read_trust(home).value.rules;
    update_trust(
        &home,
        &[TrustEdit::AddRule(always()), TrustEdit::AddRule(always())],
    )
    .unwrap();
    assert_eq!(rules(&home), [always()]);
    update_trust(&home, &[TrustEdit::AddRule(never())]).unwrap();
    assert_eq!(rules(&home), [never()]);
    update_trust(&home, &[TrustEdit::AddRule(always())]).unwrap();
    assert_eq!(rules(&home), [always()]);
}

#[test]
fn unknown_entries_of_the_trust_file_survive_in_order() {
    let (_folder, home) = home();
    let file = json!({
        "comment": "mine", "grants": [
            { "kind": "from the future", "server": "x", "extra": [1, 2.5] },
            { "since": "2026-01-01T00:00:00Z", "note": "n", "kind": "never", "server": "s", "tool": "t" },
        ],
        "pins": { "other": { "h": { "t": { "pin": "p", "unknown": true } } } },
        "z": { "b": 1, "a": 2 },
    });
    fs::write(home.trust(), file.to_string()).unwrap();
    update_trust(&home, &[TrustEdit::AddRule(always())]).unwrap();
    update_trust(&home, &[TrustEdit::RemoveRule(always())]).unwrap();
    let read: Value = serde_json::from_str(&file_text(&home)).unwrap();
    assert_eq!(read.to_string(), file.to_string());
    let before = file_text(&home);
    update_trust(&home, &[TrustEdit::RemoveRule(always())]).unwrap();
    assert_eq!(
        file_text(&home),
        before,
        "an edit without effect writes nothing"
    );
}

#[test]
fn a_broken_file_grants_nothing_and_is_not_changed() {
    for broken in ["{\"grants\": [}", "", "[]", "{ // no\n}"] {
        let (_folder, home) = home();
        fs::write(home.trust(), broken).unwrap();
        let read = read_trust(&home);
        assert_eq!((&read.value, read.is_unusable), (&unreadable_trust(), true));
        let summary = read.banners[0].notice.summary();
        assert!(summary.contains("trust.json"), "{summary}");
        let error = update_trust(&home, &[TrustEdit::AddRule(always())]).unwrap_err();
        assert_eq!(unreadable_banner(&error), read.banners[0]);
        assert_eq!(
            read.banners[0].notice.why.as_deref(),
            Some(UNREADABLE_CONSEQUENCE)
        );
        assert_eq!(file_text(&home), broken);
    }
}

#[test]
fn unreadable_entries_grant_nothing_and_the_rest_applies() {
    let (_folder, home) = home();
    let good = json::rule_to_json(&always());
    let mut without_pin = good.clone();
    without_pin.as_object_mut().unwrap().shift_remove("pin");
    let mut with_bad_pattern = good.clone();
    with_bad_pattern["kind"] = json!("pattern");
    with_bad_pattern["arguments"] = json!({ "path": "../*" });
    let file = json!({
        "grants": [without_pin, with_bad_pattern, 7, { "kind": "tool" }, good,
            { "kind": "never", "server": "fs", "tool": "rm" }],
        "pins": { "fs": { "l": { "t": {} } } },
    });
    fs::write(home.trust(), serde_json::to_vec_pretty(&file).unwrap()).unwrap();
    let read = read_trust(&home);
    assert_eq!(read.value.rules.len(), 2);
    assert_eq!(read.value.rules[0], always());
    // A blocking rule needs only the names of the server and the tool.
    assert!(read.value.is_blocked(&"fs".into(), "rm"));
    let summary = read.banners[0].notice.summary();
    assert!(
        summary.contains("line 3, an entry has no `pin` (and 4 more)"),
        "{summary}"
    );
    for (key, value) in [
        ("grants", json!({})),
        ("pins", json!([])),
        ("instructions", json!(1)),
    ] {
        fs::write(home.trust(), json!({ key: value }).to_string()).unwrap();
        let read = read_trust(&home);
        let mut expected = Trust::default();
        expected.unreadable.has_rule_without_server = key == "grants";
        expected.unreadable.are_all_pins_lost = key == "pins";
        assert_eq!(read.value, expected);
        assert_eq!(read.banners.len(), 1, "{key}");
    }
}

#[test]
fn concurrent_writers_keep_each_others_entries() {
    let (_folder, home) = home();
    let writers = (0..4).map(|writer| {
        let home = home.clone();
        std::thread::spawn(move || {
            for n in 0..10 {
                let (tool, pin) = (format!("t{writer}-{n}"), Pin::from_hash("p"));
                let rule = rule(RuleScope::Tool { tool, pin });
                update_trust(&home, &[TrustEdit::AddRule(rule)]).unwrap();
            }
        })
    });
    let writers: Vec<_> = writers.collect();
    writers
        .into_iter()
        .for_each(|writer| writer.join().unwrap());
    assert_eq!(read_trust(&home).value.rules.len(), 40);
}

#[test]
fn edits_of_the_trust_file_are_written_in_order_by_any_writer() {
    let (_folder, home) = home();
    let queue = Arc::new(TrustQueue::default());
    let writers: Vec<_> = (0..40)
        .map(|n| {
            queue.push(match n % 2 {
                0 => TrustEdit::AddRule(always()),
                _ => TrustEdit::RemoveRule(always()),
            });
            let (queue, home) = (Arc::clone(&queue), home.clone());
            std::thread::spawn(move || queue.flush(&home).unwrap())
        })
        .collect();
    writers
        .into_iter()
        .for_each(|writer| writer.join().unwrap());
    assert_eq!(read_trust(&home).value.rules, []);
}

#[test]
fn the_first_seen_definition_stays_until_another_is_accepted() {
    let (_folder, home) = home();
    let stored = |home: &Home| {
        let trust = read_trust(home).value;
        let one = pinned("");
        trust
            .accepted_definition(&one.server, &one.launch, "echo")
            .cloned()
    };
    let (one, two) = (pinned("one"), pinned("two"));
    update_trust(&home, &[TrustEdit::RecordFirstSeen(one.clone())]).unwrap();
    update_trust(&home, &[TrustEdit::RecordFirstSeen(two.clone())]).unwrap();
    assert_eq!(stored(&home), Some(one.accepted));
    update_trust(&home, &[TrustEdit::AcceptDefinition(two.clone())]).unwrap();
    assert_eq!(stored(&home), Some(two.accepted));
}

#[test]
fn overlong_definitions_are_stored_as_hashes() {
    let (_folder, home) = home();
    let long = pinned(&"x".repeat(DEFINITION_BYTES_MAX));
    update_trust(&home, &[TrustEdit::RecordFirstSeen(long.clone())]).unwrap();
    let read = read_trust(&home).value;
    let stored = read
        .accepted_definition(&long.server, &long.launch, "echo")
        .unwrap();
    assert_eq!(
        (&stored.pin, &stored.definition),
        (&long.accepted.pin, &None)
    );
}

#[test]
fn eviction_removes_only_the_named_pins_of_one_server() {
    let (_folder, home) = home();
    let pinned_tool = |server: &str, tool: &str| PinnedTool {
        server: server.into(),
        tool: tool.to_owned(),
        ..pinned("d")
    };
    let edits = [
        pinned_tool("s", "a"),
        pinned_tool("s", "b"),
        pinned_tool("other", "a"),
    ]
    .map(TrustEdit::RecordFirstSeen);
    update_trust(&home, &edits).unwrap();
    let launch = LaunchConfig::BuiltIn.identity();
    let evicted = EvictedPins::from([(launch.clone(), ["a".to_owned()].into())]);
    update_trust(&home, &[TrustEdit::EvictPins("s".into(), evicted)]).unwrap();
    let trust = read_trust(&home).value;
    let has = |server: &str, tool| {
        trust
            .accepted_definition(&server.into(), &launch, tool)
            .is_some()
    };
    assert_eq!(
        [has("s", "a"), has("s", "b"), has("other", "a")],
        [false, true, true]
    );
}

#[test]
fn many_definitions_at_once_never_make_the_file_unreadable() {
    let (_folder, home) = home();
    let long = "x".repeat(DEFINITION_BYTES_MAX / 2);
    let edits: Vec<_> = (0..800)
        .map(|n| PinnedTool {
            tool: format!("t{n}"),
            ..pinned(&long)
        })
        .map(TrustEdit::RecordFirstSeen)
        .collect();
    update_trust(&home, &edits).unwrap();
    let trust = read_trust(&home).value;
    let launch = LaunchConfig::BuiltIn.identity();
    let stored = trust
        .accepted_definition(&"fs".into(), &launch, "t799")
        .unwrap();
    assert_eq!((&stored.pin, &stored.definition), (&tool(&long).pin, &None));
}

#[test]
fn a_rule_applies_only_to_its_server_launch_tool_and_definition() {
    let rule = always();
    let trust = Trust {
        rules: vec![rule.clone()],
        ..Trust::default()
    };
    let identity = ToolIdentity {
        server: "fs".into(),
        launch: rule.launch.clone(),
        tool: "echo".to_owned(),
        pin: tool("d").pin,
    };
    let no_arguments = crate::domain::Arguments::new();
    assert!(trust.allows(&identity, &no_arguments));
    let allows_with = |change: fn(&mut ToolIdentity)| {
        let mut identity = identity.clone();
        change(&mut identity);
        trust.allows(&identity, &no_arguments)
    };
    assert!(!allows_with(|identity| identity.server = "fs2".into()));
    assert!(!allows_with(
        |identity| identity.launch = LaunchId::from_hash("x")
    ));
    assert!(!allows_with(|identity| identity.tool = "Echo".to_owned()));
    assert!(!allows_with(|identity| identity.pin = Pin::from_hash("x")));
}
