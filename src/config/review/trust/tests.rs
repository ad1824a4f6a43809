//! Edits of `trust.json` from outside: which hold at once, and which wait.

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

/// What is said of the step, `?` before what waits; and what is in force after it.
fn step(before: &Trust, after: &Trust) -> (Vec<String>, Trust) {
    let known = |trust: &Trust| Known {
        trust: Arc::new(trust.clone()),
        ..Known::default()
    };
    let weighed = weigh(&known(before), &known(after), &Memory::default());
    let said = weighed.changes.iter().map(|change| {
        assert_eq!(change.file, TRUST);
        match change.weight {
            Weight::Harmless => format!("= {}", change.what),
            Weight::NeedsConsent => format!("? {}", change.what),
        }
    });
    (said.collect(), Trust::clone(&weighed.harmless.trust))
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
    for (wide, named) in [
        (always, "tool `echo` of `fs`"),
        (server, "server `fs`"),
        (matching, "tool `echo` of `fs`"),
    ] {
        let (none, wide) = (Trust::default(), with(&[wide]));
        let waits = vec![format!("? {named} would run unasked")];
        assert_eq!(step(&none, &wide), (waits, none.clone()));
        let told = vec![format!("= {named} is revoked")];
        assert_eq!(step(&wide, &none), (told, none));
    }
    let never = with(&[rule(Cover::Never {
        tool: tool(),
        pin: pin(),
    })]);
    let none = Trust::default();
    let told = vec!["= tool `echo` of `fs` is ruled out".to_owned()];
    assert_eq!(step(&none, &never), (told, never.clone()));
    let waits = vec!["? tool `echo` of `fs`: it would be ruled out no more".to_owned()];
    assert_eq!(step(&never, &none), (waits, never.clone()));
}

#[test]
fn another_accepted_definition_waits_and_a_new_one_says_nothing() {
    let accepted = |hash: &str, declined: Option<&str>| Accepted {
        pin: Pin::from_hash(hash),
        since: Timestamp::UNIX_EPOCH,
        definition: None,
        declined: declined.map(Pin::from_hash),
    };
    let pinned = |it: Accepted| {
        let mut trust = Trust::default();
        trust.accept(&"fs".into(), &Launch::BuiltIn.identity(), "echo", it);
        trust
    };
    let (none, one) = (Trust::default(), pinned(accepted("one", None)));
    assert_eq!(step(&none, &one), (vec![], one.clone()));
    let declined = pinned(accepted("one", Some("two")));
    assert_eq!(step(&one, &declined), (vec![], declined));
    let two = pinned(accepted("two", None));
    let waits = "? tool `echo` of `fs`: another definition is accepted".to_owned();
    assert_eq!(step(&one, &two), (vec![waits], one.clone()));
    let waits = "? server `fs`: what its tools are would be forgotten".to_owned();
    assert_eq!(step(&one, &none), (vec![waits], one.clone()));
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
    let waits = vec!["? the instructions of `fs` would be sent".to_owned()];
    assert_eq!(step(&none, &sent), (waits, none.clone()));
    let told = vec!["= the instructions of `fs` are not sent".to_owned()];
    assert_eq!(step(&sent, &none), (told, none));
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
    let (said, in_force) = step(&unread, &mended);
    let expected = [
        "= tool `echo` of `fs` is ruled out",
        "? calls that ask while it is not understood would ask no more",
    ];
    assert_eq!(said, expected);
    let mut held = mended.clone();
    held.doubt.unread = true;
    assert_eq!(in_force, held);
}
