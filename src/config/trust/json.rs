//! Converts entries of `trust.json` to and from JSON. A launch appears only as a hash, so the
//! file never contains values of variables or headers.

use crate::domain::trust::{Accepted, Agreed, Cover, Definition, Rule};
use crate::domain::{LaunchId, Pattern, Pin, ServerId};
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// What is wrong with an entry, as a clause.
type Fault = String;

fn text<'a>(entry: &'a Value, key: &str) -> Result<&'a str, Fault> {
    let found = entry.get(key).and_then(Value::as_str);
    found.ok_or_else(|| format!("an entry has no `{key}`"))
}

fn since(entry: &Value) -> Timestamp {
    entry
        .get("since")
        .and_then(Value::as_str)
        .and_then(|since| since.parse().ok())
        .unwrap_or_default()
}

pub(super) fn rule(entry: &Value) -> Result<Rule, Fault> {
    let kind = text(entry, "kind")?;
    let server = ServerId::new(text(entry, "server")?);
    // A block applies to a tool by name, even if its other fields are invalid.
    if kind == "never" {
        let tool = text(entry, "tool")?.to_owned();
        let hash = |key| text(entry, key).unwrap_or_default();
        return Ok(Rule {
            server,
            launch: LaunchId::from_hash(hash("launch")),
            since: since(entry),
            cover: Cover::Never {
                tool,
                pin: Pin::from_hash(hash("pin")),
            },
        });
    }
    let tool_and_pin = || -> Result<(String, Pin), Fault> {
        let tool = text(entry, "tool")?.to_owned();
        Ok((tool, Pin::from_hash(text(entry, "pin")?)))
    };
    let cover = match kind {
        "tool" => tool_and_pin().map(|(tool, pin)| Cover::Tool { tool, pin })?,
        "server" => Cover::Server {
            tools: tools(entry)?,
        },
        "pattern" => {
            let (tool, pin) = tool_and_pin()?;
            let Some(Value::Object(written)) = entry.get("arguments") else {
                return Err("a pattern has no `arguments`".to_owned());
            };
            let pattern = Pattern::from_json(written)?;
            Cover::Matching { tool, pin, pattern }
        }
        _ => return Err("an entry has an unknown `kind`".to_owned()),
    };
    Ok(Rule {
        server,
        launch: LaunchId::from_hash(text(entry, "launch")?),
        since: since(entry),
        cover,
    })
}

fn tools(entry: &Value) -> Result<BTreeMap<String, Pin>, Fault> {
    let Some(Value::Object(tools)) = entry.get("tools") else {
        return Err("a grant for a server has no `tools`".to_owned());
    };
    let read = |(tool, pin): (&String, &Value)| {
        let pin = pin.as_str().ok_or("a pin is not a string")?;
        Ok((tool.clone(), Pin::from_hash(pin)))
    };
    tools.iter().map(read).collect()
}

pub(super) fn of_rule(rule: &Rule) -> Value {
    let (server, launch) = (rule.server.as_str(), rule.launch.as_str());
    let tool_entry = |kind: &str, tool: &str, pin: &Pin| {
        json!({
            "kind": kind, "server": server, "launch": launch, "tool": tool, "pin": pin.as_str(),
        })
    };
    let mut entry = match &rule.cover {
        Cover::Tool { tool, pin } => tool_entry("tool", tool, pin),
        Cover::Never { tool, pin } => tool_entry("never", tool, pin),
        Cover::Matching { tool, pin, pattern } => {
            let mut entry = tool_entry("pattern", tool, pin);
            entry["arguments"] = Value::Object(pattern.to_json());
            entry
        }
        Cover::Server { tools } => {
            let pin = |(tool, pin): (&String, &Pin)| (tool.clone(), json!(pin.as_str()));
            let tools: Map<String, Value> = tools.iter().map(pin).collect();
            json!({ "kind": "server", "server": server, "launch": launch, "tools": tools })
        }
    };
    entry["since"] = json!(rule.since.to_string());
    entry
}

pub(super) fn agreed(entry: &Value) -> Result<Agreed, Fault> {
    Ok(Agreed {
        server: ServerId::new(text(entry, "server")?),
        launch: LaunchId::from_hash(text(entry, "launch")?),
        text: text(entry, "text")?.to_owned(),
        since: since(entry),
    })
}

pub(super) fn of_agreed(agreed: &Agreed) -> Value {
    json!({
        "server": agreed.server.as_str(),
        "launch": agreed.launch.as_str(),
        "text": agreed.text,
        "since": agreed.since.to_string(),
    })
}

pub(super) fn accepted(entry: &Value) -> Result<Accepted, Fault> {
    let optional = |key: &str| entry.get(key).and_then(Value::as_str).map(str::to_owned);
    let table = |key: &str| entry.get(key).and_then(Value::as_object).cloned();
    let definition = table("inputSchema").map(|input_schema| Definition {
        title: optional("title"),
        description: optional("description"),
        input_schema,
        rest: table("rest").unwrap_or_default(),
    });
    Ok(Accepted {
        pin: Pin::from_hash(text(entry, "pin")?),
        since: since(entry),
        definition,
        declined: optional("declined").map(Pin::from_hash),
    })
}

/// `with_definition` includes the definition, which is needed to show the difference to a later one.
pub(super) fn of_accepted(accepted: &Accepted, whole: bool) -> Value {
    let mut entry = json!({
        "pin": accepted.pin.as_str(),
        "since": accepted.since.to_string(),
    });
    if let Some(declined) = &accepted.declined {
        entry["declined"] = json!(declined.as_str());
    }
    let Some(definition) = accepted.definition.as_ref().filter(|_| whole) else {
        return entry;
    };
    if let Some(title) = &definition.title {
        entry["title"] = json!(title);
    }
    if let Some(description) = &definition.description {
        entry["description"] = json!(description);
    }
    entry["inputSchema"] = Value::Object(definition.input_schema.clone());
    if !definition.rest.is_empty() {
        entry["rest"] = Value::Object(definition.rest.clone());
    }
    entry
}
