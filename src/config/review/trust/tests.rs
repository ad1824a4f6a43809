//! Edits of `trust.json` by other programs: which apply at once, and which need consent.

use super::*;
use crate::config::{Known, Memory, weigh};
use crate::domain::trust::Agreed;
use crate::domain::{Launch, Pattern, Pin, Weight};
use jiff::Timestamp;
use serde_json::json;
use std::sync::Arc;

fn rule(cover: Cover) -> Rule {
    Rule {
        server: "fs".into(),
        launch: Launch::BuiltIn.identity(),
        since: Timestamp::UNIX_EPOCH,
        cover,
    }
}

fn pin() -> Pin {
    Pin::from_hash("0123456789abcdef")
}

fn with(rules: &[Rule]) -> Trust {
    Trust {
        rules: rules.to_vec(),
        ..Trust::default()
    }
}

/// The described changes, with `?` for those that need consent, and the resulting trust.
fn step(before: &Trust, after: &Trust) -> (Vec<String>, Trust) {
    let known = |trust: &Trust| Known {
        trust: Arc::new(trust.clone()),
        ..Known::default()
    };
    let weighed = weigh(&known(before), &known(after), &Memory::default());
    let descriptions = weighed.changes.iter().map(|change| {
        assert_eq!(change.file, TRUST);
        match change.weight {
            Weight::Harmless => format!("= {}", change.what),
            Weight::NeedsConsent => format!("? {}", change.what),
        }
    });
    (
        descriptions.collect(),
        Trust::clone(&weighed.harmless.trust),
    )
}

#[test]
fn a_wider_file_waits_and_a_narrower_one_holds_at_once() {
    let tool = || "echo".to_owned();
    let always = rule(Cover::Tool {
        tool: tool(),
        pin: pin(),
    });
    let server = rule(Cover::Server {
        tools: [(tool(), pin())].into(),
    });
    let pattern = json!({ "path": "src/*" });
    let matching = rule(Cover::Matching {
        tool: tool(),
        pin: pin(),
        pattern: Pattern::from_json(pattern.as_object().unwrap()).unwrap(),
    });
    for (wide, subject) in [
        (always, "tool `echo` of `fs`"),
        (server, "server `fs`"),
        (matching, "tool `echo` of `fs`"),
    ] {
        let (none, wide) = (Trust::default(), with(&[wide]));
        let asked = vec![format!("? {subject} would run without asking")];
        assert_eq!(step(&none, &wide), (asked, none.clone()));
        let applied = vec![format!("= {subject} is no longer allowed")];
        assert_eq!(step(&wide, &none), (applied, none));
    }
    let never = with(&[rule(Cover::Never {
        tool: tool(),
        pin: pin(),
    })]);
    let none = Trust::default();
    let applied = vec!["= tool `echo` of `fs` is now blocked".to_owned()];
    assert_eq!(step(&none, &never), (applied, never.clone()));
    let asked = vec!["? tool `echo` of `fs` would no longer be blocked".to_owned()];
    assert_eq!(step(&never, &none), (asked, never.clone()));
}

#[test]
fn another_accepted_definition_waits_and_a_new_one_says_nothing() {
    let accepted = |hash: &str, declined: Option<&str>| Accepted {
        pin: Pin::from_hash(hash),
        since: Timestamp::UNIX_EPOCH,
        definition: None,
        declined: declined.map(Pin::from_hash),
    };
    let pinned = |accepted: Accepted| {
        let mut trust = Trust::default();
        trust.accept(&"fs".into(), &Launch::BuiltIn.identity(), "echo", accepted);
        trust
    };
    let (none, one) = (Trust::default(), pinned(accepted("one", None)));
    assert_eq!(step(&none, &one), (vec![], one.clone()));
    let declined = pinned(accepted("one", Some("two")));
    assert_eq!(step(&one, &declined), (vec![], declined));
    let two = pinned(accepted("two", None));
    let asked = "? tool `echo` of `fs`: another definition would be accepted".to_owned();
    assert_eq!(step(&one, &two), (vec![asked], one.clone()));
    let asked = "? server `fs`: its accepted tool definitions would be removed".to_owned();
    assert_eq!(step(&one, &none), (vec![asked], one.clone()));
    let mut both = one.clone();
    let launch = Launch::BuiltIn.identity();
    both.accept(&"fs".into(), &launch, "other", accepted("o", None));
    for (before, old) in [(&one, "1 definition"), (&both, "2 definitions")] {
        let known = |trust: &Trust| Known {
            trust: Arc::new(trust.clone()),
            ..Known::default()
        };
        let weighed = weigh(&known(before), &known(&none), &Memory::default());
        assert_eq!(weighed.changes[0].before.as_deref(), Some(old));
    }
}

#[test]
fn instructions_are_not_agreed_to_by_a_file() {
    let launch = Launch::BuiltIn.identity();
    let agreed = Agreed::to(&"fs".into(), &launch, "Be kind.", Timestamp::UNIX_EPOCH);
    let (none, sent) = (
        Trust::default(),
        Trust {
            instructions: vec![agreed],
            ..Trust::default()
        },
    );
    let asked = vec!["? the instructions of `fs` would be sent".to_owned()];
    assert_eq!(step(&none, &sent), (asked, none.clone()));
    let applied = vec!["= the instructions of `fs` are no longer sent".to_owned()];
    assert_eq!(step(&sent, &none), (applied, none));
}

#[test]
fn a_file_that_can_be_read_again_waits_and_its_refusals_hold_at_once() {
    let accepted = |hash: &str| Accepted {
        pin: Pin::from_hash(hash),
        ..Accepted::unknown()
    };
    let launch = Launch::BuiltIn.identity();
    let mut unread = Trust::default();
    unread.doubt.unread = true;
    unread.accept(&"fs".into(), &launch, "echo", accepted("seen since"));
    let tool = "echo".to_owned();
    let mut mended = with(&[rule(Cover::Never { tool, pin: pin() })]);
    mended.accept(&"fs".into(), &launch, "echo", accepted("before"));
    let (descriptions, in_force) = step(&unread, &mended);
    let expected = [
        "= tool `echo` of `fs` is now blocked",
        "? calls that ask because of unreadable entries would no longer ask",
    ];
    assert_eq!(descriptions, expected);
    let mut expected = mended.clone();
    expected.doubt.unread = true;
    assert_eq!(in_force, expected);
}
