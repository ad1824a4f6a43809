//! `trust.json` on disk: its contents after edits, and how hand-written and broken files are
//! read.

mod doubt;

use super::*;
use crate::domain::trust::{Cover, Definition};
use crate::domain::{Grant, Launch, Pattern, Tool};
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

fn rule(cover: Cover) -> Rule {
    Rule {
        server: "fs".into(),
        launch: Launch::BuiltIn.identity(),
        since: "2026-11-20T10:00:00Z".parse().unwrap(),
        cover,
    }
}

fn always() -> Rule {
    let (tool, pin) = ("echo".to_owned(), tool("d").pin);
    rule(Cover::Tool { tool, pin })
}

fn never() -> Rule {
    let (tool, pin) = ("echo".to_owned(), tool("d").pin);
    rule(Cover::Never { tool, pin })
}

fn pinned(description: &str) -> Pinned {
    let tool = tool(description);
    Pinned {
        server: "fs".into(),
        launch: Launch::BuiltIn.identity(),
        tool: tool.name.clone(),
        accepted: Accepted {
            pin: tool.pin.clone(),
            since: "2026-11-20T10:00:00Z".parse().unwrap(),
            definition: Some(Definition::of(&tool)),
            declined: None,
        },
    }
}

fn text(home: &Home) -> String {
    fs::read_to_string(home.trust()).unwrap()
}

#[test]
fn what_is_written_is_read_again() {
    let (_folder, home) = home();
    assert_eq!(read_trust(&home), Reading::default());
    let pattern = json!({ "path": "src/*.rs", "n": 1, "q": { "equals": "why?" } });
    let pattern = Pattern::from_json(pattern.as_object().unwrap()).unwrap();
    let pin = tool("d").pin;
    let pinned_name = |name: &str| (name.to_owned(), pin.clone());
    let rules = [
        always(),
        rule(Cover::Server {
            tools: [pinned_name("a"), pinned_name("b")].into(),
        }),
        rule(Cover::Matching {
            tool: "write".to_owned(),
            pin: pin.clone(),
            pattern,
        }),
        rule(Cover::Never {
            tool: "rm".to_owned(),
            pin: pin.clone(),
        }),
    ];
    let since = "2026-11-20T10:00:00Z".parse().unwrap();
    let agreed = Agreed::to(&"fs".into(), &Launch::BuiltIn.identity(), "Be kind.", since);
    let pinned = pinned("d");
    let mut edits: Vec<_> = rules.iter().cloned().map(TrustEdit::Add).collect();
    edits.push(TrustEdit::Agree(agreed.clone()));
    edits.push(TrustEdit::FirstSeen(pinned.clone()));
    let pin = tool("e").pin;
    let of = pinned.clone();
    edits.push(TrustEdit::Decline {
        of,
        pin: pin.clone(),
    });
    update_trust(&home, &edits).unwrap();
    let mut expected = Trust {
        rules: rules.to_vec(),
        instructions: vec![agreed.clone()],
        ..Trust::default()
    };
    let mut accepted = pinned.accepted.clone();
    accepted.declined = Some(pin);
    expected.accept(&pinned.server, &pinned.launch, &pinned.tool, accepted);
    let read = read_trust(&home);
    assert_eq!((read.value, read.banners), (expected, vec![]));
    // The text of a server's instructions is stored only as a hash.
    assert!(!text(&home).contains("Be kind."));

    let mut edits: Vec<_> = rules.iter().cloned().map(TrustEdit::Remove).collect();
    edits.push(TrustEdit::Disagree(agreed));
    update_trust(&home, &edits).unwrap();
    let read = read_trust(&home).value;
    assert_eq!((read.rules, read.instructions), (vec![], vec![]));
}

#[cfg(unix)]
#[test]
fn only_the_person_can_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let (_folder, home) = home();
    update_trust(&home, &[TrustEdit::Add(always())]).unwrap();
    let mode = fs::metadata(home.trust()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn always_and_never_about_one_tool_replace_each_other() {
    let (_folder, home) = home();
    let rules = |home: &Home| read_trust(home).value.rules;
    update_trust(&home, &[TrustEdit::Add(always()), TrustEdit::Add(always())]).unwrap();
    assert_eq!(rules(&home), [always()]);
    update_trust(&home, &[TrustEdit::Add(never())]).unwrap();
    assert_eq!(rules(&home), [never()]);
    update_trust(&home, &[TrustEdit::Add(always())]).unwrap();
    assert_eq!(rules(&home), [always()]);
}

#[test]
fn what_is_not_ours_survives_in_its_order() {
    let (_folder, home) = home();
    let written = json!({
        "comment": "mine", "grants": [
            { "kind": "from the future", "server": "x", "extra": [1, 2.5] },
            { "since": "2026-01-01T00:00:00Z", "note": "n", "kind": "never", "server": "s", "tool": "t" },
        ],
        "pins": { "other": { "h": { "t": { "pin": "p", "unknown": true } } } },
        "z": { "b": 1, "a": 2 },
    });
    fs::write(home.trust(), written.to_string()).unwrap();
    update_trust(&home, &[TrustEdit::Add(always())]).unwrap();
    update_trust(&home, &[TrustEdit::Remove(always())]).unwrap();
    let read: Value = serde_json::from_str(&text(&home)).unwrap();
    assert_eq!(read.to_string(), written.to_string());
    let before = text(&home);
    update_trust(&home, &[TrustEdit::Remove(always())]).unwrap();
    assert_eq!(text(&home), before, "an edit without effect writes nothing");
}

#[test]
fn a_broken_file_grants_nothing_and_is_not_changed() {
    for broken in ["{\"grants\": [}", "", "[]", "{ // no\n}"] {
        let (_folder, home) = home();
        fs::write(home.trust(), broken).unwrap();
        let read = read_trust(&home);
        assert_eq!((&read.value, read.failed), (&unread(), true));
        let summary = read.banners[0].notice.summary();
        assert!(summary.contains("trust.json"), "{summary}");
        let fault = update_trust(&home, &[TrustEdit::Add(always())]).unwrap_err();
        assert_eq!(unread_banner(&fault), read.banners[0]);
        assert_eq!(read.banners[0].notice.why.as_deref(), Some(UNREAD));
        assert_eq!(text(&home), broken);
    }
}

#[test]
fn what_is_not_understood_grants_nothing_and_the_rest_holds() {
    let (_folder, home) = home();
    let good = json::of_rule(&always());
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
    // A block needs only the names of server and tool.
    assert!(read.value.never(&"fs".into(), "rm"));
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
        expected.doubt.all = key == "grants";
        expected.doubt.pins = key == "pins";
        assert_eq!(read.value, expected);
        assert_eq!(read.banners.len(), 1, "{key}");
    }
}

#[test]
fn two_programs_lose_nothing_of_each_other() {
    let (_folder, home) = home();
    let writers = (0..4).map(|writer| {
        let home = home.clone();
        std::thread::spawn(move || {
            for n in 0..10 {
                let (tool, pin) = (format!("t{writer}-{n}"), Pin::from_hash("p"));
                let rule = rule(Cover::Tool { tool, pin });
                update_trust(&home, &[TrustEdit::Add(rule)]).unwrap();
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
fn changes_are_written_in_their_order_whoever_writes_them() {
    let (_folder, home) = home();
    let queue = Arc::new(TrustQueue::default());
    let writers: Vec<_> = (0..40)
        .map(|n| {
            queue.push(match n % 2 {
                0 => TrustEdit::Add(always()),
                _ => TrustEdit::Remove(always()),
            });
            let (queue, home) = (Arc::clone(&queue), home.clone());
            std::thread::spawn(move || queue.write(&home).unwrap())
        })
        .collect();
    writers
        .into_iter()
        .for_each(|writer| writer.join().unwrap());
    assert_eq!(read_trust(&home).value.rules, []);
}

#[test]
fn what_was_seen_first_stays_and_what_is_accepted_replaces_it() {
    let (_folder, home) = home();
    let stored = |home: &Home| {
        let trust = read_trust(home).value;
        let one = pinned("");
        trust.accepted(&one.server, &one.launch, "echo").cloned()
    };
    let (one, two) = (pinned("one"), pinned("two"));
    update_trust(&home, &[TrustEdit::FirstSeen(one.clone())]).unwrap();
    update_trust(&home, &[TrustEdit::FirstSeen(two.clone())]).unwrap();
    assert_eq!(stored(&home), Some(one.accepted));
    update_trust(&home, &[TrustEdit::Accept(two.clone())]).unwrap();
    assert_eq!(stored(&home), Some(two.accepted));
}

#[test]
fn a_definition_that_is_too_long_is_kept_by_its_hash() {
    let (_folder, home) = home();
    let long = pinned(&"x".repeat(DEFINITION_BYTES_MAX));
    update_trust(&home, &[TrustEdit::FirstSeen(long.clone())]).unwrap();
    let read = read_trust(&home).value;
    let stored = read.accepted(&long.server, &long.launch, "echo").unwrap();
    assert_eq!(
        (&stored.pin, &stored.definition),
        (&long.accepted.pin, &None)
    );
}

#[test]
fn what_is_forgotten_is_what_was_named_and_nothing_of_another_server() {
    let (_folder, home) = home();
    let pinned_tool = |server: &str, tool: &str| Pinned {
        server: server.into(),
        tool: tool.to_owned(),
        ..pinned("d")
    };
    let edits = [
        pinned_tool("s", "a"),
        pinned_tool("s", "b"),
        pinned_tool("other", "a"),
    ]
    .map(TrustEdit::FirstSeen);
    update_trust(&home, &edits).unwrap();
    let launch = Launch::BuiltIn.identity();
    let stale = Stale::from([(launch.clone(), ["a".to_owned()].into())]);
    update_trust(&home, &[TrustEdit::Forget("s".into(), stale)]).unwrap();
    let trust = read_trust(&home).value;
    let has = |server: &str, tool| trust.accepted(&server.into(), &launch, tool).is_some();
    assert_eq!(
        [has("s", "a"), has("s", "b"), has("other", "a")],
        [false, true, true]
    );
}

#[test]
fn definitions_that_come_at_once_never_make_the_file_unreadable() {
    let (_folder, home) = home();
    let long = "x".repeat(DEFINITION_BYTES_MAX / 2);
    let many: Vec<_> = (0..800)
        .map(|n| Pinned {
            tool: format!("t{n}"),
            ..pinned(&long)
        })
        .map(TrustEdit::FirstSeen)
        .collect();
    update_trust(&home, &many).unwrap();
    let trust = read_trust(&home).value;
    let launch = Launch::BuiltIn.identity();
    let stored = trust.accepted(&"fs".into(), &launch, "t799").unwrap();
    assert_eq!((&stored.pin, &stored.definition), (&tool(&long).pin, &None));
}

#[test]
fn a_grant_is_for_its_server_launch_tool_and_definition() {
    let rule = always();
    let trust = Trust {
        rules: vec![rule.clone()],
        ..Trust::default()
    };
    let asked = Grant {
        server: "fs".into(),
        launch: rule.launch.clone(),
        tool: "echo".to_owned(),
        pin: tool("d").pin,
    };
    let none = Map::new();
    assert!(trust.grants(&asked, &none));
    let other = |change: fn(&mut Grant)| {
        let mut asked = asked.clone();
        change(&mut asked);
        trust.grants(&asked, &none)
    };
    assert!(!other(|asked| asked.server = "fs2".into()));
    assert!(!other(|asked| asked.launch = LaunchId::from_hash("x")));
    assert!(!other(|asked| asked.tool = "Echo".to_owned()));
    assert!(!other(|asked| asked.pin = Pin::from_hash("x")));
}
