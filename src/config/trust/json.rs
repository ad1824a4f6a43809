//! Converts entries of `trust.json` to and from JSON. A launch appears only as a hash, so the
//! file never contains values of variables or headers.

use crate::domain::trust::{
    AcceptedDefinition, InstructionsConsent, RuleScope, ToolDefinition, TrustRule,
};
use crate::domain::{ArgumentPattern, LaunchId, Pin, ServerId};
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The problem with an entry, as a clause.
type EntryError = String;

fn text_field<'a>(entry: &'a Value, key: &str) -> Result<&'a str, EntryError> {
    let text = entry.get(key).and_then(Value::as_str);
    text.ok_or_else(|| format!("an entry has no `{key}`"))
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
    // A blocking rule applies to a tool by name, even if its other fields are invalid.
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
    let scope = match kind {
        "tool" => tool_and_pin().map(|(tool, pin)| RuleScope::Tool { tool, pin })?,
        "server" => RuleScope::Server {
            tools: pins_from_json(entry)?,
        },
        "pattern" => {
            let (tool, pin) = tool_and_pin()?;
            let Some(Value::Object(arguments)) = entry.get("arguments") else {
                return Err("a pattern has no `arguments`".to_owned());
            };
            let pattern = ArgumentPattern::from_json(arguments)?;
            RuleScope::Matching { tool, pin, pattern }
        }
        _ => return Err("an entry has an unknown `kind`".to_owned()),
    };
    Ok(TrustRule {
        server,
        launch: LaunchId::from_hash(text_field(entry, "launch")?),
        decided_at: parse_since(entry),
        scope,
    })
}

fn pins_from_json(entry: &Value) -> Result<BTreeMap<String, Pin>, EntryError> {
    let Some(Value::Object(tools)) = entry.get("tools") else {
        return Err("a grant for a server has no `tools`".to_owned());
    };
    let parse_pin = |(tool, pin): (&String, &Value)| {
        let pin = pin.as_str().ok_or("a pin is not a string")?;
        Ok((tool.clone(), Pin::from_hash(pin)))
    };
    tools.iter().map(parse_pin).collect()
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
            let to_field = |(tool, pin): (&String, &Pin)| (tool.clone(), json!(pin.as_str()));
            let tools: Map<String, Value> = tools.iter().map(to_field).collect();
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

pub(super) fn consent_to_json(consent: &InstructionsConsent) -> Value {
    json!({
        "server": consent.server.as_str(),
        "launch": consent.launch.as_str(),
        "text": consent.text_hash,
        "since": consent.agreed_at.to_string(),
    })
}

pub(super) fn accepted_from_json(entry: &Value) -> Result<AcceptedDefinition, EntryError> {
    let optional_text = |key: &str| entry.get(key).and_then(Value::as_str).map(str::to_owned);
    let optional_object = |key: &str| entry.get(key).and_then(Value::as_object).cloned();
    let definition = optional_object("inputSchema").map(|input_schema| ToolDefinition {
        title: optional_text("title"),
        description: optional_text("description"),
        input_schema,
        extra: optional_object("rest").unwrap_or_default(),
    });
    Ok(AcceptedDefinition {
        pin: Pin::from_hash(text_field(entry, "pin")?),
        accepted_at: parse_since(entry),
        definition,
        declined_pin: optional_text("declined").map(Pin::from_hash),
    })
}

/// Includes the definition if `with_definition`: it is needed to show how a later one differs.
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
