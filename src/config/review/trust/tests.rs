//! Edits to `trust.json` by other programs: which apply at once, and which need consent.

use super::*;
use crate::config::{ConfigSnapshot, EarlierEntries, review_changes};
use crate::domain::trust::InstructionsConsent;
use crate::domain::{ArgumentPattern, ChangeImpact, LaunchConfig, Pin};
use jiff::Timestamp;
use serde_json::json;
use std::sync::Arc;

fn rule(scope: RuleScope) -> TrustRule {
    TrustRule {
        server: "fs".into(),
        launch: LaunchConfig::BuiltIn.identity(),
        decided_at: Timestamp::UNIX_EPOCH,
        scope,
    }
}

fn pin() -> Pin {
    Pin::from_hash("0123456789abcdef")
}

fn trust_with_rules(rules: &[TrustRule]) -> Trust {
    Trust {
        rules: rules.to_vec(),
        ..Trust::default()
    }
}

/// Descriptions of the changes, with `?` for those that need consent and `=` for the others, and
/// the resulting trust decisions.
fn described_changes(before: &Trust, after: &Trust) -> (Vec<String>, Trust) {
    let snapshot = |trust: &Trust| ConfigSnapshot {
        trust: Arc::new(trust.clone()),
        ..ConfigSnapshot::default()
    };
    let review = review_changes(
        &snapshot(before),
        &snapshot(after),
        &EarlierEntries::default(),
    );
    let descriptions = review.changes.iter().map(|change| {
        assert_eq!(change.file, TRUST);
        match change.impact {
            ChangeImpact::Harmless => format!("= {}", change.what),
            ChangeImpact::NeedsConsent => format!("? {}", change.what),
        }
    });
    (
        descriptions.collect(),
        Trust::clone(&review.with_harmless_changes.trust),
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
    for (granting, subject) in [
        (always, "tool `echo` of `fs`"),
        (server, "server `fs`"),
        (matching, "tool `echo` of `fs`"),
    ] {
        let (none, granting) = (Trust::default(), trust_with_rules(&[granting]));
        let expected = vec![format!("? {subject} would run without asking")];
        assert_eq!(
            described_changes(&none, &granting),
            (expected, none.clone())
        );
        let expected = vec![format!("= {subject} is no longer allowed")];
        assert_eq!(described_changes(&granting, &none), (expected, none));
    }
    let never = trust_with_rules(&[rule(RuleScope::Never {
        tool: tool(),
        pin: pin(),
    })]);
    let none = Trust::default();
    let expected = vec!["= tool `echo` of `fs` is now blocked".to_owned()];
    assert_eq!(described_changes(&none, &never), (expected, never.clone()));
    let expected = vec!["? tool `echo` of `fs` would no longer be blocked".to_owned()];
    assert_eq!(described_changes(&never, &none), (expected, never.clone()));
}

#[test]
fn a_changed_accepted_definition_needs_consent_and_a_new_one_is_not_reported() {
    let accepted = |hash: &str, declined: Option<&str>| AcceptedDefinition {
        pin: Pin::from_hash(hash),
        accepted_at: Timestamp::UNIX_EPOCH,
        definition: None,
        declined_pin: declined.map(Pin::from_hash),
    };
    let pinned = |accepted: AcceptedDefinition| {
        let mut trust = Trust::default();
        trust.record_pin(
            &"fs".into(),
            &LaunchConfig::BuiltIn.identity(),
            "echo",
            accepted,
        );
        trust
    };
    let (none, one) = (Trust::default(), pinned(accepted("one", None)));
    assert_eq!(described_changes(&none, &one), (vec![], one.clone()));
    let declined = pinned(accepted("one", Some("two")));
    assert_eq!(described_changes(&one, &declined), (vec![], declined));
    let two = pinned(accepted("two", None));
    let expected = "? tool `echo` of `fs`: a different definition would be accepted".to_owned();
    assert_eq!(described_changes(&one, &two), (vec![expected], one.clone()));
    let expected = "? server `fs`: its accepted tool definitions would be removed".to_owned();
    assert_eq!(
        described_changes(&one, &none),
        (vec![expected], one.clone())
    );
    let mut both = one.clone();
    let launch = LaunchConfig::BuiltIn.identity();
    both.record_pin(&"fs".into(), &launch, "other", accepted("o", None));
    for (before, old) in [(&one, "1 definition"), (&both, "2 definitions")] {
        let snapshot = |trust: &Trust| ConfigSnapshot {
            trust: Arc::new(trust.clone()),
            ..ConfigSnapshot::default()
        };
        let review = review_changes(
            &snapshot(before),
            &snapshot(&none),
            &EarlierEntries::default(),
        );
        assert_eq!(review.changes[0].before.as_deref(), Some(old));
    }
}

#[test]
fn a_file_edit_cannot_consent_to_instructions() {
    let launch = LaunchConfig::BuiltIn.identity();
    let consent =
        InstructionsConsent::new(&"fs".into(), &launch, "Be kind.", Timestamp::UNIX_EPOCH);
    let (none, sent) = (
        Trust::default(),
        Trust {
            instruction_consents: vec![consent],
            ..Trust::default()
        },
    );
    let expected = vec!["? the instructions of `fs` would be sent".to_owned()];
    assert_eq!(described_changes(&none, &sent), (expected, none.clone()));
    let expected = vec!["= the instructions of `fs` are no longer sent".to_owned()];
    assert_eq!(described_changes(&sent, &none), (expected, none));
}

#[test]
fn a_repaired_file_needs_consent_except_for_tools_that_it_blocks() {
    let accepted = |hash: &str| AcceptedDefinition {
        pin: Pin::from_hash(hash),
        ..AcceptedDefinition::unknown()
    };
    let launch = LaunchConfig::BuiltIn.identity();
    let mut unreadable = Trust::default();
    unreadable.unreadable.is_file_unreadable = true;
    unreadable.record_pin(&"fs".into(), &launch, "echo", accepted("seen since"));
    let tool = "echo".to_owned();
    let mut repaired = trust_with_rules(&[rule(RuleScope::Never { tool, pin: pin() })]);
    repaired.record_pin(&"fs".into(), &launch, "echo", accepted("before"));
    let (descriptions, active) = described_changes(&unreadable, &repaired);
    let expected = [
        "= tool `echo` of `fs` is now blocked",
        "? calls that ask because of unreadable entries would no longer ask",
    ];
    assert_eq!(descriptions, expected);
    let mut expected = repaired.clone();
    expected.unreadable.is_file_unreadable = true;
    assert_eq!(active, expected);
}
