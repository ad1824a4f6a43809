//! Writes the tool section of the system message. The tests in `tests/golden` compare it byte for
//! byte, because models for the `prompt` dialect were chosen with exactly this text.

use crate::domain::{Dialect, OfferedTool, Toolset};
use serde_json::{Map, Value};

const CALL_BLOCK_JSON: &str = "FUNCTION_CALL:
- Schema
{
\t\"server\": \"server name\",
\t\"name\": \"function name\",
\t\"arguments\": {
\t  \"arg1 name\": \"argument1 value\",
\t  \"arg2 name\": \"argument2 value\",
\t}
}
- Example
{
\t\"server\": \"context7\",
\t\"name\": \"resolve-library-id\",
\t\"arguments\": {
\t  \"libraryName\": \"java\"
\t}
}
";

const CALL_BLOCK_XML: &str = "FUNCTION_CALL:
To call a function, stop writing and output one block of this form and nothing else:
<mcp-request>
  <tool name=\"function name\" />
  <param name=\"argument name\">argument value</param>
</mcp-request>
- One <param> for each argument. A name that two servers share is written server__name.
- Example
<mcp-request>
  <tool name=\"resolve-library-id\" />
  <param name=\"libraryName\">java</param>
</mcp-request>
This replaces any other form of function call described above.
";

/// The system message: `prompt` (the contents of `system_prompt.txt`, or a persona), the tools, and
/// the call syntax. `None` if it would be empty.
pub fn system_message(prompt: &str, dialect: Dialect, offered: &Toolset) -> Option<String> {
    let prompt = prompt.strip_suffix('\n').unwrap_or(prompt);
    let prompt = prompt.strip_suffix('\r').unwrap_or(prompt);
    let call_block = match dialect {
        Dialect::Native => return (!prompt.is_empty()).then(|| prompt.to_owned()),
        Dialect::Prompt => CALL_BLOCK_JSON,
        Dialect::Xml => CALL_BLOCK_XML,
    };
    let mut message = String::new();
    if !prompt.is_empty() {
        message.push_str(prompt);
        message.push_str("\n\n");
    }
    message.push_str("FUNCTIONS:\n\n# Connected MCP Servers\n\n");
    if offered.is_empty() {
        message.push_str("**NO TOOL CONNECTED**\n");
        return Some(message);
    }
    for server_tools in offered.tools().chunk_by(|a, b| a.server == b.server) {
        push_server(&mut message, server_tools);
    }
    message.push_str(call_block);
    Some(message)
}

fn push_server(message: &mut String, tools: &[OfferedTool]) {
    if let Some(first) = tools.first() {
        message.push_str("## ");
        message.push_str(first.server.as_str());
        message.push_str("\nThese are tool name, description and input schema.\n\n");
    }
    for offered in tools {
        let tool = &offered.tool;
        message.push_str("- **");
        message.push_str(&tool.name);
        message.push_str("**:");
        let description = tool.description.as_deref().unwrap_or("");
        for (index, line) in description.split('\n').enumerate() {
            match (index, line) {
                (0, "") => {}
                (0, line) => {
                    message.push(' ');
                    message.push_str(line);
                }
                (_, "") => message.push('\n'),
                (_, line) => {
                    message.push_str("\n  ");
                    message.push_str(line);
                }
            }
        }
        message.push_str("\n    Input Schema:\n");
        push_schema(message, &tool.input_schema);
        message.push('\n');
    }
}

fn push_schema(message: &mut String, schema: &Map<String, Value>) {
    let json = serde_json::to_string_pretty(schema).expect("a JSON value always serializes");
    for line in json.lines() {
        message.push_str("    ");
        message.push_str(line);
        message.push('\n');
    }
}
