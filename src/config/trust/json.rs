//! Converts entries of `trust.json` to and from JSON. A launch appears only as a hash, so the
//! file never contains values of variables or headers.

use crate::domain::trust::{
    AcceptedDefinition, InstructionsConsent, RuleScope, ToolDefinition, TrustRule,
};
use crate::domain::{ArgumentPattern, LaunchId, Pin, ServerId};
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// What is wrong with an entry, as a clause.
type EntryError = String;

fn text_field<'a>(entry: &'a Value, key: &str) -> Result<&'a str, EntryError> {
    let found = entry.get(key).and_then(Value::as_str);
    found.ok_or_else(|| format!("an entry has no `{key}`"))
}

fn parse_since(entry: &Value) -> Timestamp {
    entry
        .get("since")
        .and_then(Value::as_str)
        .and_then(|since| since.parse().ok())
        .unwrap_or_default()
}

pub(super) fn rule_from_json(entry: &Value) -> Result<TrustRule, EntryError> {
    let kind = text_field(entry, "kind")?;
    let server = ServerId::new(text_field(entry, "server")?);
    // A block applies to a tool by name, even if its other fields are invalid.
    if kind == "never" {
        let tool = text_field(entry, "tool")?.to_owned();
        let hash = |key| text_field(entry, key).unwrap_or_default();
        return Ok(TrustRule {
            server,
            launch: LaunchId::from_hash(hash("launch")),
            decided_at: parse_since(entry),
            scope: RuleScope::Never {
                tool,
                pin: Pin::from_hash(hash("pin")),
            },
        });
    }
    let tool_and_pin = || -> Result<(String, Pin), EntryError> {
        let tool = text_field(entry, "tool")?.to_owned();
        Ok((tool, Pin::from_hash(text_field(entry, "pin")?)))
    };
    let cover = match kind {
        "tool" => tool_and_pin().map(|(tool, pin)| RuleScope::Tool { tool, pin })?,
        "server" => RuleScope::Server {
            tools: pins_from_json(entry)?,
        },
        "pattern" => {
            let (tool, pin) = tool_and_pin()?;
            let Some(Value::Object(written)) = entry.get("arguments") else {
                return Err("a pattern has no `arguments`".to_owned());
            };
            let pattern = ArgumentPattern::from_json(written)?;
            RuleScope::Matching { tool, pin, pattern }
        }
        _ => return Err("an entry has an unknown `kind`".to_owned()),
    };
    Ok(TrustRule {
        server,
        launch: LaunchId::from_hash(text_field(entry, "launch")?),
        decided_at: parse_since(entry),
        scope: cover,
    })
}

fn pins_from_json(entry: &Value) -> Result<BTreeMap<String, Pin>, EntryError> {
    let Some(Value::Object(tools)) = entry.get("tools") else {
        return Err("a grant for a server has no `tools`".to_owned());
    };
    let read = |(tool, pin): (&String, &Value)| {
        let pin = pin.as_str().ok_or("a pin is not a string")?;
        Ok((tool.clone(), Pin::from_hash(pin)))
    };
    tools.iter().map(read).collect()
}

pub(super) fn rule_to_json(rule: &TrustRule) -> Value {
    let (server, launch) = (rule.server.as_str(), rule.launch.as_str());
    let tool_entry = |kind: &str, tool: &str, pin: &Pin| {
        json!({
            "kind": kind, "server": server, "launch": launch, "tool": tool, "pin": pin.as_str(),
        })
    };
    let mut entry = match &rule.scope {
        RuleScope::Tool { tool, pin } => tool_entry("tool", tool, pin),
        RuleScope::Never { tool, pin } => tool_entry("never", tool, pin),
        RuleScope::Matching { tool, pin, pattern } => {
            let mut entry = tool_entry("pattern", tool, pin);
            entry["arguments"] = Value::Object(pattern.to_json());
            entry
        }
        RuleScope::Server { tools } => {
            let pin = |(tool, pin): (&String, &Pin)| (tool.clone(), json!(pin.as_str()));
            let tools: Map<String, Value> = tools.iter().map(pin).collect();
            json!({ "kind": "server", "server": server, "launch": launch, "tools": tools })
        }
    };
    entry["since"] = json!(rule.decided_at.to_string());
    entry
}

pub(super) fn consent_from_json(entry: &Value) -> Result<InstructionsConsent, EntryError> {
    Ok(InstructionsConsent {
        server: ServerId::new(text_field(entry, "server")?),
        launch: LaunchId::from_hash(text_field(entry, "launch")?),
        text_hash: text_field(entry, "text")?.to_owned(),
        agreed_at: parse_since(entry),
    })
}

pub(super) fn consent_to_json(agreed: &InstructionsConsent) -> Value {
    json!({
        "server": agreed.server.as_str(),
        "launch": agreed.launch.as_str(),
        "text": agreed.text_hash,
        "since": agreed.agreed_at.to_string(),
    })
}

pub(super) fn accepted_from_json(entry: &Value) -> Result<AcceptedDefinition, EntryError> {
    let optional = |key: &str| entry.get(key).and_then(Value::as_str).map(str::to_owned);
    let table = |key: &str| entry.get(key).and_then(Value::as_object).cloned();
    let definition = table("inputSchema").map(|input_schema| ToolDefinition {
        title: optional("title"),
        description: optional("description"),
        input_schema,
        extra: table("rest").unwrap_or_default(),
    });
    Ok(AcceptedDefinition {
        pin: Pin::from_hash(text_field(entry, "pin")?),
        accepted_at: parse_since(entry),
        definition,
        declined_pin: optional("declined").map(Pin::from_hash),
    })
}

/// `with_definition` includes the definition, which is needed to show the difference to a later one.
pub(super) fn accepted_to_json(accepted: &AcceptedDefinition, with_definition: bool) -> Value {
    let mut entry = json!({
        "pin": accepted.pin.as_str(),
        "since": accepted.accepted_at.to_string(),
    });
    if let Some(declined) = &accepted.declined_pin {
        entry["declined"] = json!(declined.as_str());
    }
    let Some(definition) = accepted.definition.as_ref().filter(|_| with_definition) else {
        return entry;
    };
    if let Some(title) = &definition.title {
        entry["title"] = json!(title);
    }
    if let Some(description) = &definition.description {
        entry["description"] = json!(description);
    }
    entry["inputSchema"] = Value::Object(definition.input_schema.clone());
    if !definition.extra.is_empty() {
        entry["rest"] = Value::Object(definition.extra.clone());
    }
    entry
}
