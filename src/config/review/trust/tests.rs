//! Edits of `trust.json` from outside: which hold at once, and which wait.

use super::*;
use crate::config::{ConfigSnapshot, EarlierEntries, review_changes};
use crate::domain::trust::InstructionsConsent;
use crate::domain::{ArgumentPattern, ChangeImpact, LaunchConfig, Pin};
use jiff::Timestamp;
use serde_json::json;
use std::sync::Arc;

fn rule(cover: RuleScope) -> TrustRule {
    TrustRule {
        server: "fs".into(),
        launch: LaunchConfig::BuiltIn.identity(),
        decided_at: Timestamp::UNIX_EPOCH,
        scope: cover,
    }
}

fn pin() -> Pin {
    Pin::from_hash("0123456789abcdef")
}

fn with(rules: &[TrustRule]) -> Trust {
    Trust {
        rules: rules.to_vec(),
        ..Trust::default()
    }
}

/// What is said of the step, `?` before what waits; and what is in force after it.
fn step(before: &Trust, after: &Trust) -> (Vec<String>, Trust) {
    let known = |trust: &Trust| ConfigSnapshot {
        trust: Arc::new(trust.clone()),
        ..ConfigSnapshot::default()
    };
    let weighed = review_changes(&known(before), &known(after), &EarlierEntries::default());
    let said = weighed.changes.iter().map(|change| {
        assert_eq!(change.file, TRUST);
        match change.impact {
            ChangeImpact::Harmless => format!("= {}", change.what),
            ChangeImpact::NeedsConsent => format!("? {}", change.what),
        }
    });
    (
        said.collect(),
        Trust::clone(&weighed.with_harmless_changes.trust),
    )
}

#[test]
fn wider_trust_needs_consent_and_narrower_trust_applies_at_once() {
    let tool = || "echo".to_owned();
    let always = rule(RuleScope::Tool {
        tool: tool(),
        pin: pin(),
    });
    let server = rule(RuleScope::Server {
        tools: [(tool(), pin())].into(),
    });
    let pattern = json!({ "path": "src/*" });
    let matching = rule(RuleScope::Matching {
        tool: tool(),
        pin: pin(),
        pattern: ArgumentPattern::from_json(pattern.as_object().unwrap()).unwrap(),
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
    let never = with(&[rule(RuleScope::Never {
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
fn a_changed_accepted_definition_needs_consent_and_a_new_one_is_silent() {
    let accepted = |hash: &str, declined: Option<&str>| AcceptedDefinition {
        pin: Pin::from_hash(hash),
        accepted_at: Timestamp::UNIX_EPOCH,
        definition: None,
        declined_pin: declined.map(Pin::from_hash),
    };
    let pinned = |it: AcceptedDefinition| {
        let mut trust = Trust::default();
        trust.accept(&"fs".into(), &LaunchConfig::BuiltIn.identity(), "echo", it);
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
    let launch = LaunchConfig::BuiltIn.identity();
    both.accept(&"fs".into(), &launch, "other", accepted("o", None));
    for (before, old) in [(&one, "1 definition"), (&both, "2 definitions")] {
        let known = |trust: &Trust| ConfigSnapshot {
            trust: Arc::new(trust.clone()),
            ..ConfigSnapshot::default()
        };
        let weighed = review_changes(&known(before), &known(&none), &EarlierEntries::default());
        assert_eq!(weighed.changes[0].before.as_deref(), Some(old));
    }
}

#[test]
fn a_file_edit_cannot_consent_to_instructions() {
    let launch = LaunchConfig::BuiltIn.identity();
    let agreed = InstructionsConsent::new(&"fs".into(), &launch, "Be kind.", Timestamp::UNIX_EPOCH);
    let (none, sent) = (
        Trust::default(),
        Trust {
            instruction_consents: vec![agreed],
            ..Trust::default()
        },
    );
    let waits = vec!["? the instructions of `fs` would be sent".to_owned()];
    assert_eq!(step(&none, &sent), (waits, none.clone()));
    let told = vec!["= the instructions of `fs` are not sent".to_owned()];
    assert_eq!(step(&sent, &none), (told, none));
}

#[test]
fn a_repaired_file_needs_consent_but_its_blocks_apply_at_once() {
    let accepted = |hash: &str| AcceptedDefinition {
        pin: Pin::from_hash(hash),
        ..AcceptedDefinition::unknown()
    };
    let launch = LaunchConfig::BuiltIn.identity();
    let mut unread = Trust::default();
    unread.unreadable.is_file_unreadable = true;
    unread.accept(&"fs".into(), &launch, "echo", accepted("seen since"));
    let tool = "echo".to_owned();
    let mut mended = with(&[rule(RuleScope::Never { tool, pin: pin() })]);
    mended.accept(&"fs".into(), &launch, "echo", accepted("before"));
    let (said, in_force) = step(&unread, &mended);
    let expected = [
        "= tool `echo` of `fs` is ruled out",
        "? calls that ask while it is not understood would ask no more",
    ];
    assert_eq!(said, expected);
    let mut held = mended.clone();
    held.unreadable.is_file_unreadable = true;
    assert_eq!(in_force, held);
}
