//! A grant for the tools that a server marks as read-only: its scope, and the engine's check of the
//! tools that the front end lists.

use super::*;
use humble::domain::Pin;
use humble::domain::trust::RuleScope;
use std::collections::BTreeMap;

fn hinted_tool(name: &str, description: &str, read_only: bool) -> Value {
    let mut tool = tool(name, description);
    tool["annotations"] = json!({ "readOnlyHint": read_only });
    tool
}

fn definitions() -> Value {
    json!([
        hinted_tool("echo", "Echoes.", true),
        hinted_tool("look", "Looks.", true),
        hinted_tool("write", "Writes.", false),
        tool("plain", "Says nothing."),
    ])
}

/// The model calls these tools, one per prompt.
fn calling(tools: &[&str]) -> Script {
    let calls = tools.iter();
    calls.fold(Script::default(), |script, tool| {
        let script = script.answer(&call_text("fs", tool, "x"));
        script.answer("Done.")
    })
}

struct StoredGrant {
    fixture: TrustFixture,
    /// The tools of the stored rule.
    tools: Vec<String>,
}

/// Approves a call to `echo` together with the read-only tools in `shown`. The pin sent for
/// `change_pin_of` is not the tool's own.
async fn grant(shown: &[&str], change_pin_of: Option<&str>) -> StoredGrant {
    let fixture = TrustFixture::new();
    set_tools(&fixture.server_folder(), &definitions());
    let mut harness = fixture.start(echo_script()).await;
    let server = harness.wait_until_connected().await;
    let pin_of = |name: &str| -> Pin {
        let tool = server.tools.iter().find(|tool| tool.name == name);
        match change_pin_of {
            Some(changed) if changed == name => Pin::from_hash("other"),
            _ => tool.expect("a listed tool").pin.clone(),
        }
    };
    let tools: BTreeMap<String, Pin> = shown
        .iter()
        .map(|name| ((*name).to_owned(), pin_of(name)))
        .collect();
    harness
        .prompt_and_decide(Decision::RunReadOnly { tools })
        .await;
    let entries = harness.trust_entries();
    let rules = entries.iter().filter_map(|entry| match entry {
        TrustEntry::Rule(rule) => match &rule.scope {
            RuleScope::Server { tools } => Some(tools.keys().cloned()),
            _ => None,
        },
        _ => None,
    });
    let tools = rules.flatten().collect();
    StoredGrant {
        fixture: TrustFixture::from_home(harness.shut_down().await),
        tools,
    }
}

#[tokio::test]
async fn a_read_only_grant_covers_the_listed_tools_and_no_others() {
    let granted = grant(&["echo", "look"], None).await;
    assert_eq!(granted.tools, ["echo", "look"]);
    let mut harness = granted
        .fixture
        .start(calling(&["look", "echo", "write", "plain"]))
        .await;
    for needs_approval in [false, false, true, true] {
        assert_eq!(harness.call_needs_approval().await, needs_approval);
    }
    let folder = harness.server_folder();
    assert_eq!(called_tools(&folder), ["echo", "look", "echo"]);
}

#[tokio::test]
async fn tools_without_a_read_only_hint_or_with_a_changed_pin_are_not_granted() {
    let granted = grant(&["echo", "look", "write", "plain"], Some("look")).await;
    assert_eq!(granted.tools, ["echo"]);
}

#[tokio::test]
async fn a_read_only_grant_covers_no_changed_tool_and_no_tool_added_later() {
    let granted = grant(&["echo", "look"], None).await;
    let changed = json!([
        hinted_tool("echo", "Echoes.", true),
        // The same name, but no longer marked as read-only.
        hinted_tool("look", "Looks.", false),
        hinted_tool("peek", "Peeks.", true),
    ]);
    set_tools(&granted.fixture.server_folder(), &changed);
    let script = calling(&["echo", "peek"]);
    let mut harness = granted.fixture.start(script).await;
    assert!(!harness.call_needs_approval().await, "echo is unchanged");
    assert!(harness.call_needs_approval().await, "peek was added later");
    let server = harness.wait_until_connected().await;
    let is_pending = |entry: &TrustEntry| match entry {
        TrustEntry::PendingPinChange(change) => change.tool.name == "look",
        _ => false,
    };
    assert!(server.tools.iter().any(|tool| tool.name == "look"));
    assert!(harness.trust_entries().iter().any(is_pending));
}
