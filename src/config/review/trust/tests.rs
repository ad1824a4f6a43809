//! Edits of `trust.json` by other programs: which apply at once, and which need consent.

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

/// The described changes, with `?` for those that need consent, and the resulting trust.
fn step(before: &Trust, after: &Trust) -> (Vec<String>, Trust) {
    let known = |trust: &Trust| ConfigSnapshot {
        trust: Arc::new(trust.clone()),
        ..ConfigSnapshot::default()
    };
    let weighed = review_changes(&known(before), &known(after), &EarlierEntries::default());
    let descriptions = weighed.changes.iter().map(|change| {
        assert_eq!(change.file, TRUST);
        match change.impact {
            ChangeImpact::Harmless => format!("= {}", change.what),
            ChangeImpact::NeedsConsent => format!("? {}", change.what),
        }
    });
    (
        descriptions.collect(),
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
    let never = with(&[rule(RuleScope::Never {
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
fn a_changed_accepted_definition_needs_consent_and_a_new_one_is_silent() {
    let accepted = |hash: &str, declined: Option<&str>| AcceptedDefinition {
        pin: Pin::from_hash(hash),
        accepted_at: Timestamp::UNIX_EPOCH,
        definition: None,
        declined_pin: declined.map(Pin::from_hash),
    };
    let pinned = |accepted: AcceptedDefinition| {
        let mut trust = Trust::default();
        trust.accept(
            &"fs".into(),
            &LaunchConfig::BuiltIn.identity(),
            "echo",
            accepted,
        );
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
    let asked = vec!["? the instructions of `fs` would be sent".to_owned()];
    assert_eq!(step(&none, &sent), (asked, none.clone()));
    let applied = vec!["= the instructions of `fs` are no longer sent".to_owned()];
    assert_eq!(step(&sent, &none), (applied, none));
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
    let (descriptions, in_force) = step(&unread, &mended);
    let expected = [
        "= tool `echo` of `fs` is now blocked",
        "? calls that ask because of unreadable entries would no longer ask",
    ];
    assert_eq!(descriptions, expected);
    let mut expected = mended.clone();
    expected.unreadable.is_file_unreadable = true;
    assert_eq!(in_force, expected);
}
