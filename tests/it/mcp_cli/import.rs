//! `humble mcp import`: the formats of other clients, taken names, selection and consent.

use super::{CommandOutput, TestHome, command, wait_for_output};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

/// Runs the command in the home folder, where it finds no files of this project.
pub(super) fn import(home: &TestHome, arguments: &[&str]) -> CommandOutput {
    let mut command = command(home, &[&["mcp", "import"][..], arguments].concat());
    command.current_dir(home.path());
    for variable in ["XDG_CONFIG_HOME", "APPDATA", "API_KEY", "GITHUB_TOKEN"] {
        command.env_remove(variable);
    }
    wait_for_output(command.spawn().expect("the program starts"))
}

pub(super) fn write(home: &TestHome, name: &str, text: &str) -> PathBuf {
    let path = home.path().join(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(&path, text).expect("written");
    path
}

pub(super) fn servers(home: &TestHome) -> Value {
    let text = fs::read_to_string(home.path().join("mcp-servers.json")).unwrap_or_default();
    let file: Value = serde_json::from_str(&text).unwrap_or_else(|_| json!({ "mcpServers": {} }));
    file["mcpServers"].clone()
}

/// Imports a file with this text and returns the servers that were added.
pub(super) fn imported(text: &str) -> Value {
    let home = TestHome::empty();
    let path = write(&home, "settings", text);
    let output = import(&home, &["settings", "--yes"]).expect(0);
    assert!(output.err.contains("switched off"), "{output:?}");
    assert_eq!(
        fs::read_to_string(path).expect("the source"),
        text,
        "the source is unchanged"
    );
    servers(&home)
}

#[test]
fn claude_cursor_gemini_and_windsurf_json_is_read() {
    let text = r#"{
      "theme": "dark",
      "mcpServers": {
        "files": { "command": "npx", "args": ["-y", "server-files", "내 문서"], "env": { "DEBUG": "1" } },
        "remote": { "url": "https://example.com/sse", "type": "sse", "headers": { "X-Team": "a" } },
        "gemini": { "httpUrl": "https://example.com/mcp", "trust": true },
        "windsurf": { "serverUrl": "https://example.com/w", "disabled": true }
      }
    }"#;
    assert_eq!(
        imported(text),
        json!({
            "files": { "command": "npx", "args": ["-y", "server-files", "내 문서"], "env": { "DEBUG": "1" }, "enabled": false },
            "remote": { "url": "https://example.com/sse", "transport": "sse", "headers": { "X-Team": "a" }, "enabled": false },
            "gemini": { "url": "https://example.com/mcp", "transport": "http", "enabled": false },
            "windsurf": { "url": "https://example.com/w", "enabled": false },
        })
    );
}

#[test]
fn vs_code_json_with_comments_and_inputs_is_read() {
    let text = r#"// My servers
    {
      "inputs": [{ "type": "promptString", "id": "api-key", "password": true }],
      "servers": {
        "a": { /* local */ "type": "stdio", "command": "a", "cwd": "${workspaceFolder}",
               "env": { "KEY": "${input:api-key}", "OTHER": "${env:OTHER}" }, },
        "b": { "type": "http", "url": "https://b.example/mcp", },
      },
    }"#;
    let expected = json!({
        "a": { "command": "a", "args": [], "env": { "KEY": "${API_KEY}", "OTHER": "${OTHER}" }, "enabled": false },
        "b": { "url": "https://b.example/mcp", "transport": "http", "enabled": false },
    });
    assert_eq!(imported(text), expected);
    let nested = format!(
        "{{ \"mcp\": {} }}",
        text.trim_start_matches("// My servers")
    );
    assert_eq!(imported(&nested), expected, "settings.json");
}

#[test]
fn codex_toml_is_read() {
    let text = r#"
model = "gpt-5"

[mcp_servers.docs]
command = "uvx"
args = ["docs==1.0"]
env_vars = ["DOCS_HOME"]

[mcp_servers.web]
url = "https://example.com/mcp"
bearer_token_env_var = "WEB_TOKEN"
env_http_headers = { "X-Team" = "TEAM" }
"#;
    assert_eq!(
        imported(text),
        json!({
            "docs": { "command": "uvx", "args": ["docs==1.0"], "env": { "DOCS_HOME": "${DOCS_HOME}" }, "enabled": false },
            "web": { "url": "https://example.com/mcp", "headers": { "X-Team": "${TEAM}", "Authorization": "Bearer ${WEB_TOKEN}" }, "enabled": false },
        })
    );
}

#[test]
fn opencode_and_zed_json_is_read() {
    let opencode = r#"{ "mcp": {
        "local": { "type": "local", "command": ["bun", "x", "server"], "environment": { "A": "{env:A}" } },
        "far": { "type": "remote", "url": "https://example.com/mcp", "headers": { "X-B": "b" } }
    } }"#;
    assert_eq!(
        imported(opencode),
        json!({
            "local": { "command": "bun", "args": ["x", "server"], "env": { "A": "${A}" }, "enabled": false },
            "far": { "url": "https://example.com/mcp", "headers": { "X-B": "b" }, "enabled": false },
        })
    );
    let zed = r#"{ "context_servers": {
        "old": { "command": { "path": "/bin/old", "args": ["run"], "env": { "A": "a" } }, "settings": {} },
        "new": { "source": "custom", "command": "new", "args": [] },
    } }"#;
    assert_eq!(
        imported(zed),
        json!({
            "old": { "command": "/bin/old", "args": ["run"], "env": { "A": "a" }, "enabled": false },
            "new": { "command": "new", "args": [], "enabled": false },
        })
    );
}

#[test]
fn goose_yaml_is_read_and_built_in_extensions_are_skipped() {
    let home = TestHome::empty();
    let text = "GOOSE_MODEL: x\nextensions:\n  developer:\n    type: builtin\n    name: developer\n  \
                disk:\n    type: stdio\n    cmd: npx\n    args: [-y, disk, 8080]\n    envs:\n      A: a\n    \
                env_keys:\n    - DISK_TOKEN\n    timeout: 300\n  web:\n    type: streamable_http\n    \
                uri: https://example.com/mcp\n  old:\n    type: sse\n    uri: https://example.com/sse\n";
    write(&home, ".config/goose/config.yaml", text);
    let output = import(&home, &["goose", "--yes"]).expect(0);
    assert_eq!(
        servers(&home),
        json!({
            "disk": { "command": "npx", "args": ["-y", "disk", "8080"], "env": { "A": "a", "DISK_TOKEN": "${DISK_TOKEN}" }, "enabled": false },
            "web": { "url": "https://example.com/mcp", "transport": "http", "enabled": false },
            "old": { "url": "https://example.com/sse", "transport": "sse", "enabled": false },
        })
    );
    let skipped =
        "Skipped developer: it is an extension of type `builtin`, which is part of its client.";
    assert!(output.out.contains(skipped), "{output:?}");
}

#[test]
fn equal_servers_are_skipped_and_taken_names_get_a_number() {
    let home = TestHome::empty();
    home.write(
        "mcp-servers.json",
        &json!({ "mcpServers": {
            "same": { "command": "x", "args": ["${KEY}"] }, "other": { "command": "y" },
        } }),
    );
    let text = r#"{ "mcpServers": { "same": { "command": "x", "args": ["${KEY}"] },
                    "other": { "command": "z" }, "humble": { "command": "h" } } }"#;
    write(&home, "f", text);
    let output = import(&home, &["f", "--yes"]).expect(0);
    assert!(
        output.out.contains("Skipped same: you already have it."),
        "{output:?}"
    );
    let added = servers(&home);
    assert_eq!(
        added["other-2"],
        json!({ "command": "z", "args": [], "enabled": false })
    );
    assert_eq!(added["humble-2"]["command"], "h");
    assert_eq!(added.as_object().map(serde_json::Map::len), Some(4));
    let again = import(&home, &["f", "--yes"]).expect(0);
    assert!(
        again
            .out
            .contains("Skipped other: you already have it as `other-2`."),
        "{again:?}"
    );
    assert!(again.err.contains("There is nothing to add."), "{again:?}");
    assert_eq!(servers(&home), added);
}

#[test]
fn servers_can_be_selected_and_an_unknown_name_is_a_usage_error() {
    let home = TestHome::empty();
    let server = json!({ "command": "x" });
    write(
        &home,
        "f",
        &json!({ "mcpServers": { "one": server, "two": server } }).to_string(),
    );
    let output = import(&home, &["f", "--only", "tow", "--yes"]).expect(2);
    assert_eq!(
        output.err,
        "There is no server `tow`. Did you mean `two`?\n"
    );
    import(&home, &["f", "--yes", "--only", "two"]).expect(0);
    assert_eq!(
        servers(&home),
        json!({ "two": { "command": "x", "args": [], "enabled": false } })
    );
}

#[test]
fn an_import_adds_nothing_without_consent() {
    let home = TestHome::empty();
    let path = write(
        &home,
        ".cursor/mcp.json",
        r#"{ "mcpServers": { "a": { "command": "x y", "args": ["a b", "$(c)", ""] } } }"#,
    );
    let output = import(&home, &["cursor"]).expect(2);
    let expected = format!(
        "From {}:\na\n    command  \"x y\" \"a b\" $(c) \"\"\n",
        path.display()
    );
    assert_eq!(output.out, expected);
    assert!(output.err.contains("Use --yes"), "{output:?}");
    let output = import(&home, &["cursor", "--json"]).expect(2);
    let report = output.json();
    assert_eq!(report["added"], json!(false));
    assert_eq!(report["servers"][0]["args"], json!(["a b", "$(c)", ""]));
    assert_eq!(servers(&home), json!({}));
    let output = import(&home, &["cursor", "--json", "--yes"]).expect(0);
    assert_eq!(output.json()["added"], json!(true));
    assert_eq!(servers(&home)["a"]["enabled"], json!(false));
}

#[test]
fn variables_that_change_the_program_are_pointed_out() {
    let home = TestHome::empty();
    let env = r#"{ "LD_PRELOAD": "/tmp/a.so", "node_options": "-r /tmp/a.js", "LANG": "C" }"#;
    let text = format!(r#"{{ "mcpServers": {{ "a": {{ "command": "x", "env": {env} }} }} }}"#);
    write(&home, "a.json", &text);
    let output = import(&home, &["a.json", "--yes"]).expect(0);
    let shown = format!("{}{}", output.out, output.err);
    let warning = "Warning: `LD_PRELOAD`, `node_options` can change which program runs.";
    let words: Vec<&str> = shown.split_whitespace().collect();
    assert!(words.join(" ").contains(warning), "{shown}");
}

#[test]
fn a_hostile_entry_of_an_import_cannot_forge_lines() {
    let home = TestHome::empty();
    let text = json!({ "mcpServers": { "a": {
        "command": "x", "args": ["1\nb\n    command  good", "\u{1b}[2K\u{202e}"],
        "env": { "A\nB": "c" }, "description": "d\ne",
    } } });
    write(&home, "f", &text.to_string());
    let output = import(&home, &["f"]).expect(2);
    assert_eq!(output.out.lines().count(), 5, "{}", output.out);
    assert!(
        !output.out.contains(['\u{1b}', '\u{202e}']),
        "{}",
        output.out
    );
    assert!(
        output
            .out
            .contains(r#"command  x "1\nb\n    command  good""#),
        "{}",
        output.out
    );
}

#[test]
fn the_known_clients_are_listed_with_their_files() {
    let home = TestHome::empty();
    let output = import(&home, &[]).expect(0);
    assert!(
        output
            .err
            .starts_with("No known client has MCP servers here."),
        "{output:?}"
    );
    let servers = r#"{ "mcpServers": { "a\u200b": { "command": "x" }, "b": { "command": "x" } } }"#;
    let cursor = write(&home, ".cursor/mcp.json", servers);
    write(&home, ".gemini/settings.json", r#"{ "theme": "x" }"#);
    write(&home, ".codex/config.toml", "[mcp_servers\n");
    let output = import(&home, &[]).expect(0);
    assert!(
        output
            .out
            .contains(&format!("cursor  {}\n    a⟨U+200B⟩, b\n", cursor.display())),
        "{output:?}"
    );
    assert!(
        output.out.contains("config.toml, line 1: not valid TOML: "),
        "{output:?}"
    );
    assert!(!output.out.contains("gemini"), "{output:?}");
    let report = import(&home, &["--json"]).expect(0).json();
    assert_eq!(report["clients"][0]["servers"], json!(["a\u{200b}", "b"]));
    let output = import(&home, &["zed"]).expect(1);
    assert!(
        output
            .err
            .starts_with("No settings of Zed were found. These files do not exist: "),
        "{output:?}"
    );
    let output = import(&home, &["crusor"]).expect(2);
    assert_eq!(
        output.err,
        "There is no client and no file `crusor`. Did you mean `cursor`?\n"
    );
}

#[test]
fn claude_code_servers_of_the_user_and_the_current_project_are_imported() {
    let home = TestHome::empty();
    let folder = home.path().canonicalize().expect("a path");
    let server = json!({ "command": "x" });
    let file = json!({ "mcpServers": { "user": server }, "projects": {
        folder.to_string_lossy().as_ref(): { "mcpServers": { "project": server } },
        "/elsewhere": { "mcpServers": { "elsewhere": server } },
    } });
    write(&home, ".claude.json", &file.to_string());
    import(&home, &["claude-code", "--yes"]).expect(0);
    let added = servers(&home);
    let names: Vec<&String> = added.as_object().expect("an object").keys().collect();
    assert_eq!(names, ["user", "project"]);
}
