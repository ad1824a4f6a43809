//! A small MCP server as a shell script. Its tools, instructions and recorded calls are files in a
//! folder, so tests can change them.

use serde_json::{Value, json};
use std::fs;
use std::path::Path;

const SCRIPT: &str = r#"
folder=$1
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case $line in
    *'"method":"initialize"'*) result=$(cat "$folder/hello") ;;
    *'"method":"tools/list"'*) result=$(cat "$folder/tools") ;;
    *'"method":"tools/call"'*)
      printf '%s\n' "$line" >> "$folder/calls"
      result='{"content":[{"type":"text","text":"done"}]}' ;;
    *'"id"'*)
      printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown"}}\n' "$id"
      continue ;;
    *) continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
"#;

/// Writes the server and its tools into `folder` and returns its entry for
/// `mcp-servers.json`.
pub fn install(folder: &Path, tools: &Value) -> Value {
    fs::create_dir_all(folder).expect("the folder can be created");
    let script = folder.join("server.sh");
    fs::write(&script, SCRIPT).expect("the folder is writable");
    set_tools(folder, tools);
    set_instructions(folder, None);
    json!({ "command": "sh", "args": [script, folder], "protocol": "legacy" })
}

/// Sets the answer to `tools/list`.
pub fn set_tools(folder: &Path, tools: &Value) {
    let result = json!({ "tools": tools }).to_string();
    fs::write(folder.join("tools"), result).expect("the folder is writable");
}

/// Sets the instructions for the next start.
pub fn set_instructions(folder: &Path, instructions: Option<&str>) {
    let hello = json!({
        "protocolVersion": "2025-06-18", "capabilities": { "tools": {} },
        "serverInfo": { "name": "shell", "version": "1" }, "instructions": instructions,
    });
    fs::write(folder.join("hello"), hello.to_string()).expect("the folder is writable");
}

/// The called tools, in order.
pub fn called_tools(folder: &Path) -> Vec<String> {
    let calls = fs::read_to_string(folder.join("calls")).unwrap_or_default();
    let tool_name = |line: &str| -> Option<String> {
        let call: Value = serde_json::from_str(line).ok()?;
        Some(call["params"]["name"].as_str()?.to_owned())
    };
    calls.lines().filter_map(tool_name).collect()
}

/// A tool definition with one text argument.
#[allow(dead_code, reason = "each test crate uses only some of these items")]
pub fn tool(name: &str, description: &str) -> Value {
    let schema = json!({ "type": "object", "properties": { "path": { "type": "string" } } });
    json!({ "name": name, "description": description, "inputSchema": schema })
}
