//! Decodes server responses item by item from raw JSON: an invalid tool does not affect the valid
//! ones, and every omission is reported. Pure.

use crate::domain::Tool;
use crate::domain::audience::is_tool_for_model;
use crate::mcp::error::McpError;
use crate::mcp::session::bounded_text::bounded_text;
use crate::mcp::session::handshake_fields::normalize_handshake;
use crate::mcp::session::nesting_limit::{TOO_DEEP_KEY, TOO_DEEP_TEXT, parse_in_parts};
use crate::mcp::session::pages::next_cursor;
use crate::mcp::session::pages::shorter_lifetime;
use crate::text::surrogates;
use rmcp::model::{DiscoverResult, InitializeResult, ProtocolVersion};
use serde_json::Value;
use std::collections::HashSet;
use std::time::Duration;

pub const PAGES_MAX: usize = 100;
pub const TOOLS_MAX: usize = 5_000;
/// Maximum size of one tool definition.
const TOOL_BYTES_MAX: usize = 256 << 10;
/// Maximum size of all definitions of a server; every request to a model may contain them.
const DEFINITIONS_BYTES_MAX: usize = 16 << 20;
const NAME_BYTES_MAX: usize = 512;
/// Maximum number of lines about omitted tools; further omissions are only counted.
const OMITTED_LINES_MAX: usize = 50;

/// The id of the request that an answer with this id is about. Some gateways return our numbers as
/// strings. JSON-RPC forbids that, but rmcp and the other SDKs of the protocol accept it. Only the
/// exact digits count: `"07"` is not our request 7.
pub fn requested_id(id: &Value) -> Value {
    let number = id.as_str().and_then(|text| {
        let number = text.parse::<i64>().ok()?;
        (number.to_string() == text).then_some(number)
    });
    number.map_or_else(|| id.clone(), Value::from)
}

/// Parses one line as JSON. Invalid UTF-8 and lone surrogates, which some servers write, become
/// replacement characters; for excessive nesting, see [`parse_in_parts`].
pub fn parse_message(line: &[u8]) -> Option<Value> {
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
    serde_json::from_slice(line).ok().or_else(|| {
        let text = String::from_utf8_lossy(line);
        let repaired = surrogates::repair_surrogates(text.as_bytes());
        let text = std::str::from_utf8(&repaired).ok()?;
        serde_json::from_str(text)
            .ok()
            .or_else(|| parse_in_parts(text))
    })
}

/// The tools of a server, and lines that name the omitted ones and the reasons.
pub struct ListedTools {
    pub tools: Vec<Tool>,
    pub omitted: Vec<String>,
    /// How long the list stays valid, if the server states it.
    pub ttl: Option<Duration>,
}

/// A tool list, collected page by page.
#[derive(Debug, Default)]
pub struct ToolListBuilder {
    tools: Vec<Tool>,
    names: HashSet<String>,
    definition_bytes: usize,
    omitted: Vec<String>,
    unlisted_count: usize,
    seen_cursors: HashSet<String>,
    page_count: usize,
    ttl: Option<Duration>,
    is_modern: bool,
}

impl ToolListBuilder {
    /// For a session of the modern protocol or of a legacy one.
    pub fn new(is_modern: bool) -> Self {
        Self {
            is_modern,
            ..Self::default()
        }
    }

    /// Adds one result of `tools/list`; returns the cursor of the next page, if there is another
    /// page to request.
    ///
    /// # Errors
    /// The result has no tool list.
    pub fn add_page(&mut self, result: &Value) -> Result<Option<String>, String> {
        let items = result
            .get("tools")
            .and_then(Value::as_array)
            .ok_or("the answer has no `tools` list")?;
        self.page_count += 1;
        self.ttl = shorter_lifetime(self.ttl, result);
        for item in items {
            if self.tools.len() == TOOLS_MAX {
                self.omit(format!("all tools after the first {TOOLS_MAX}"));
                return Ok(None);
            }
            if self.definition_bytes > DEFINITIONS_BYTES_MAX {
                let megabytes = DEFINITIONS_BYTES_MAX >> 20;
                self.omit(format!(
                    "all tools after the first {megabytes} MB of definitions"
                ));
                return Ok(None);
            }
            self.add_tool(item);
        }
        let Some(cursor) = next_cursor(result, self.is_modern) else {
            return Ok(None);
        };
        if !self.seen_cursors.insert(cursor.to_owned()) {
            self.omit("all tools after a page with a repeated cursor".to_owned());
            return Ok(None);
        }
        if self.page_count == PAGES_MAX {
            self.omit(format!("all tools after the first {PAGES_MAX} pages"));
            return Ok(None);
        }
        Ok(Some(cursor.to_owned()))
    }

    fn add_tool(&mut self, definition: &Value) {
        if definition.get(TOO_DEEP_KEY).is_some() {
            let name = definition.get("name").and_then(Value::as_str);
            let tool = name.map_or("a tool".to_owned(), |name| format!("tool `{name}`"));
            return self.omit(format!("{tool}, whose definition is {TOO_DEEP_TEXT}"));
        }
        match Tool::from_definition(definition) {
            Err(why) => self.omit(why),
            Ok(tool) if !is_tool_for_model(definition) => self.omit(format!(
                "tool `{}`, which is not for models (`_meta.ui.visibility`)",
                tool.name
            )),
            Ok(tool) if tool.name.is_empty() => self.omit("a tool with an empty name".into()),
            Ok(tool) if tool.name.len() > NAME_BYTES_MAX => {
                self.omit(format!(
                    "a tool whose name is longer than {NAME_BYTES_MAX} bytes"
                ));
            }
            Ok(tool) if tool.bytes > TOOL_BYTES_MAX => self.omit(format!(
                "tool `{}`, whose definition is longer than {} kB",
                tool.name,
                TOOL_BYTES_MAX >> 10
            )),
            Ok(tool) if self.names.contains(&tool.name) => {
                self.omit(format!("a second tool named `{}`", tool.name));
            }
            Ok(tool) => {
                self.names.insert(tool.name.clone());
                self.definition_bytes += tool.bytes;
                self.tools.push(tool);
            }
        }
    }

    fn omit(&mut self, omission: String) {
        if self.omitted.len() < OMITTED_LINES_MAX {
            self.omitted.push(omission);
        } else {
            self.unlisted_count += 1;
        }
    }

    /// How long the list stays valid, if the server states it.
    pub fn ttl(&self) -> Option<Duration> {
        self.ttl
    }

    /// The tools in the server's order, and the lines about omissions.
    pub fn finish(mut self) -> (Vec<Tool>, Vec<String>) {
        if self.unlisted_count > 0 {
            self.omitted
                .push(format!("and {} more", self.unlisted_count));
        }
        (self.tools, self.omitted)
    }
}

/// Decodes the response to `initialize`, which must name a version that we support. Also returns
/// one line for each field that was left out.
///
/// # Errors
/// An unsupported version or an invalid response.
pub fn decode_initialize(mut result: Value) -> Result<(InitializeResult, Vec<String>), McpError> {
    let Some(fields) = result.as_object_mut() else {
        return Err(McpError::InvalidHandshake(
            "it is not a JSON object".to_owned(),
        ));
    };
    let version = match fields.get("protocolVersion") {
        Some(Value::String(version)) => version.as_str(),
        _ => {
            return Err(McpError::InvalidHandshake(
                "it has no protocolVersion".to_owned(),
            ));
        }
    };
    let known_versions = ProtocolVersion::KNOWN_VERSIONS.iter();
    if !known_versions
        .filter(|known| known.has_initialize())
        .any(|known| known.as_str() == version)
    {
        return Err(McpError::UnsupportedVersion(bounded_text(version)));
    }
    let omitted = normalize_handshake(fields);
    let result = serde_json::from_value(result);
    let result = result.map_err(|error| McpError::InvalidHandshake(error.to_string()))?;
    Ok((result, omitted))
}

/// Decodes the response to `server/discover`, which must list the supported versions. Also returns
/// one line for each field that was left out.
///
/// # Errors
/// An invalid response.
pub fn decode_discover(mut result: Value) -> Result<(DiscoverResult, Vec<String>), McpError> {
    let Some(fields) = result.as_object_mut() else {
        return Err(McpError::InvalidHandshake(
            "it is not a JSON object".to_owned(),
        ));
    };
    let Some(versions) = fields.get("supportedVersions").and_then(Value::as_array) else {
        return Err(McpError::InvalidHandshake(
            "it has no supportedVersions".to_owned(),
        ));
    };
    let versions: Vec<Value> = versions
        .iter()
        .filter(|version| version.is_string())
        .cloned()
        .collect();
    fields.insert("supportedVersions".to_owned(), versions.into());
    // These fields are irrelevant here: the result is not cached, and its type is known.
    fields.insert("resultType".to_owned(), "complete".into());
    fields.insert("ttlMs".to_owned(), 0.into());
    fields.insert("cacheScope".to_owned(), "private".into());
    let omitted = normalize_handshake(fields);
    let result = serde_json::from_value(result);
    let result = result.map_err(|error| McpError::InvalidHandshake(error.to_string()))?;
    Ok((result, omitted))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tool(name: &str) -> Value {
        json!({ "name": name, "inputSchema": { "type": "object" } })
    }

    fn names(tools: &[Tool]) -> Vec<&str> {
        tools.iter().map(|tool| tool.name.as_str()).collect()
    }

    #[test]
    fn lone_surrogates_and_invalid_utf8_each_become_a_replacement_character() {
        let line = br#"{"a":"\ud800x\ud83d\ude00\\ud800","b":"\udc00","c":"\ud800\ud800"}"#;
        assert_eq!(
            parse_message(line),
            Some(
                json!({ "a": "\u{fffd}x\u{1f600}\\ud800", "b": "\u{fffd}", "c": "\u{fffd}\u{fffd}" })
            )
        );
        assert_eq!(
            parse_message(b"{\"a\":\"\xff\"}"),
            Some(json!({ "a": "\u{fffd}" }))
        );
        for junk in [
            &b"Welcome!"[..],
            b"{",
            b"\\",
            b"\\\xff",
            "\\한".as_bytes(),
            b"\"\\ud800",
        ] {
            assert_eq!(parse_message(junk), None);
        }
    }

    #[test]
    fn invalid_tools_are_omitted_and_reported_and_the_others_kept() {
        let mut list = ToolListBuilder::default();
        let page = json!({ "tools": [
            tool("a"), { "name": "b" }, 42, { "name": "c", "inputSchema": "text" },
            { "name": 7, "inputSchema": {} }, tool(""), tool("a"), tool("z"),
        ] });
        assert_eq!(list.add_page(&page), Ok(None));
        let (tools, omitted) = list.finish();
        assert_eq!(names(&tools), ["a", "z"]);
        assert_eq!(
            omitted,
            [
                "tool `b` has no inputSchema",
                "a tool without a name",
                "tool `c` has no inputSchema",
                "a tool without a name",
                "a tool with an empty name",
                "a second tool named `a`",
            ]
        );
    }

    #[test]
    fn tools_that_are_not_for_models_are_omitted() {
        let visible_to = |name: &str, visibility: Value| {
            let mut tool = tool(name);
            tool["_meta"] = json!({ "ui": { "visibility": visibility } });
            tool
        };
        let mut list = ToolListBuilder::default();
        let page = json!({ "tools": [
            visible_to("a", json!(["app"])), visible_to("b", json!(["app", "model"])),
            visible_to("c", json!("app")), visible_to("d", json!(null)),
        ] });
        assert_eq!(list.add_page(&page), Ok(None));
        let (tools, omitted) = list.finish();
        assert_eq!(names(&tools), ["b", "c", "d"]);
        let why = "tool `a`, which is not for models (`_meta.ui.visibility`)";
        assert_eq!(omitted, [why]);
    }

    #[test]
    fn repeated_cursor_ends_the_list() {
        let mut list = ToolListBuilder::default();
        let page = json!({ "tools": [], "nextCursor": "x" });
        assert_eq!(list.add_page(&page), Ok(Some("x".to_owned())));
        assert_eq!(list.add_page(&page), Ok(None));
        assert_eq!(list.finish().1.len(), 1);
    }

    #[test]
    fn pages_tools_and_omission_lines_are_bounded() {
        let mut list = ToolListBuilder::default();
        let mut page_count = 0;
        loop {
            page_count += 1;
            let page = json!({ "tools": [{}], "nextCursor": page_count.to_string() });
            if list.add_page(&page) == Ok(None) {
                break;
            }
        }
        assert_eq!(page_count, PAGES_MAX);
        let (_, omitted) = list.finish();
        assert_eq!(omitted.len(), OMITTED_LINES_MAX + 1);

        let mut list = ToolListBuilder::default();
        let many: Vec<_> = (0..TOOLS_MAX + 7).map(|n| tool(&n.to_string())).collect();
        assert_eq!(
            list.add_page(&json!({ "tools": many, "nextCursor": "x" })),
            Ok(None)
        );
        let (tools, omitted) = list.finish();
        assert_eq!((tools.len(), omitted.len()), (TOOLS_MAX, 1));
    }

    #[test]
    fn tool_definitions_are_bounded_individually_and_in_total() {
        let described = |name: &str, bytes: usize| {
            let mut tool = tool(name);
            tool["description"] = "x".repeat(bytes).into();
            tool
        };
        let mut list = ToolListBuilder::default();
        let long = "n".repeat(NAME_BYTES_MAX + 1);
        let page = json!({ "tools": [
            described("long", TOOL_BYTES_MAX), tool(&long), described("a", 10_000),
        ] });
        assert_eq!(list.add_page(&page), Ok(None));
        let (tools, omitted) = list.finish();
        assert_eq!(names(&tools), ["a"]);
        assert_eq!(
            omitted,
            [
                "tool `long`, whose definition is longer than 256 kB",
                "a tool whose name is longer than 512 bytes",
            ]
        );

        let mut list = ToolListBuilder::default();
        let many: Vec<_> = (0..100)
            .map(|n| described(&n.to_string(), TOOL_BYTES_MAX - 100))
            .collect();
        assert_eq!(list.add_page(&json!({ "tools": many })), Ok(None));
        let (tools, omitted) = list.finish();
        assert_eq!(
            tools.len(),
            DEFINITIONS_BYTES_MAX / (TOOL_BYTES_MAX - 100) + 1
        );
        assert_eq!(omitted, ["all tools after the first 16 MB of definitions"]);
    }

    #[test]
    fn an_answer_without_a_tool_list_is_an_error() {
        for page in [json!({}), json!({ "tools": {} }), json!([]), json!(null)] {
            assert!(ToolListBuilder::default().add_page(&page).is_err());
        }
    }

    #[test]
    fn initialize_accepts_only_known_legacy_versions() {
        let answer = |version: &str| decode_initialize(json!({ "protocolVersion": version }));
        for known in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
            assert!(answer(known).is_ok(), "{known}");
        }
        for unknown in ["2026-07-28", "1999-01-01", ""] {
            assert_eq!(
                answer(unknown).err(),
                Some(McpError::UnsupportedVersion(unknown.to_owned()))
            );
        }
        assert!(matches!(
            decode_initialize(json!(42)),
            Err(McpError::InvalidHandshake(_))
        ));
        assert!(matches!(
            decode_initialize(json!({})),
            Err(McpError::InvalidHandshake(_))
        ));
    }
}
