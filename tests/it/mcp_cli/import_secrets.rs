//! `humble mcp import`: secrets become variables.

use super::TestHome;
use super::import::{import, imported, servers, write};
use serde_json::json;

#[test]
fn secrets_of_an_import_are_neither_written_nor_printed() {
    let text = r#"{ "mcpServers": {
      "git hub": {
        "command": "npx",
        "args": ["--api-key", "aaa-hidden", "--token=bbb-hidden", "-H", "X-Auth: Bearer ccc-hidden",
                 "ghp_dddhidden123", "https://u:eee-hidden@h.example/?api_key=fff-hidden", "-e", "K_TOKEN=ggg-hidden"],
        "env": { "API_KEY": "hhh-hidden", "HEADERS": "{\"Authorization\": \"Bearer iii-hidden\"}",
                 "JSON": "{\"password\": \"jjj-hidden\"}", "URL": "postgres://u:kkk-hidden@h/db", "MODE": "sk-lllhidden1",
                 "SET_KEY": "${SET_KEY}", "USE_AUTH": "true" }
      },
      "web": { "url": "https://example.com/s/0123456789mmmhiddenmmm0123/mcp?token=nnn-hidden",
               "headers": { "Authorization": "Bearer ooo-hidden", "X-API-Key": "ppp-hidden" } },
      "other": { "command": "x", "env": { "API_KEY": "qqq-hidden" } },
      "in-command": { "command": "npx --api-key rrr-hidden" }
    } }"#;
    for arguments in [
        &["f", "--yes"][..],
        &["f", "--yes", "--json"],
        &["f", "--json"],
        &["f"],
    ] {
        let home = TestHome::empty();
        write(&home, "f", text);
        let output = import(&home, arguments);
        let file = servers(&home).to_string();
        for text in [&output.out, &output.err, &file] {
            assert!(!text.contains("hidden"), "{arguments:?}: {text}");
        }
        if !arguments.contains(&"--yes") {
            continue;
        }
        let output = output.expect(0);
        let added = servers(&home);
        let first = &added["git hub"];
        assert_eq!(first["args"][1], "${API_KEY}", "{file}");
        assert_eq!(first["args"][2], "--token=${TOKEN}");
        assert_eq!(first["args"][4], "X-Auth: Bearer ${X_AUTH}");
        assert_eq!(first["args"][8], "K_TOKEN=${K_TOKEN}");
        // A different secret of the same name gets a variable of its own.
        assert_eq!(first["env"]["API_KEY"], "${GIT_HUB_API_KEY}");
        assert_eq!(added["other"]["env"]["API_KEY"], "${OTHER_API_KEY}");
        assert_eq!(
            first["env"]["HEADERS"],
            "{\"Authorization\": \"Bearer ${HEADERS}\"}"
        );
        assert_eq!(first["env"]["JSON"], "${JSON}");
        assert_eq!(first["env"]["SET_KEY"], "${SET_KEY}");
        assert_eq!(first["env"]["USE_AUTH"], "true");
        assert_eq!(
            added["web"]["headers"]["Authorization"]
                .as_str()
                .map(|text| &text[..9]),
            Some("Bearer ${")
        );
        assert_eq!(added["web"]["headers"]["X-API-Key"], "${X_API_KEY}");
        if arguments.contains(&"--json") {
            let skipped = &output.json()["skipped"][0];
            assert_eq!(skipped["name"], "in-command");
        } else {
            assert!(
                output.err.contains("set these variables: API_KEY, "),
                "{output:?}"
            );
        }
    }
}

#[test]
fn secrets_are_copied_on_request_but_never_printed() {
    let text = r#"{ "mcpServers": {
        "a": { "command": "x", "args": ["--token=aaa-hidden"], "env": { "API_KEY": "bbb-hidden" } },
        "b": { "url": "https://example.com/mcp", "headers": { "Authorization": "Bearer ccc-hidden" } }
    } }"#;
    let home = TestHome::empty();
    write(&home, "f", text);
    let output = import(&home, &["f", "--yes"]).expect(0);
    assert!(
        output.err.contains("--copy-secrets copies them"),
        "{output:?}"
    );
    let home = TestHome::empty();
    write(&home, "f", text);
    for arguments in [
        &["f", "--copy-secrets", "--json"][..],
        &["f", "--copy-secrets", "--yes"],
    ] {
        let output = import(&home, arguments);
        assert!(!format!("{output:?}").contains("hidden"), "{output:?}");
    }
    let added = servers(&home);
    assert_eq!(added["a"]["args"], json!(["--token=${TOKEN}"]));
    assert_eq!(added["a"]["env"], json!({ "API_KEY": "${API_KEY}" }));
    let stored = json!({ "TOKEN": "aaa-hidden", "API_KEY": "bbb-hidden" });
    assert_eq!(added["a"]["variables"], stored);
    let variables = added["b"]["variables"].as_object().expect("an object");
    assert_eq!(
        variables.values().collect::<Vec<_>>(),
        [&json!("ccc-hidden")]
    );
    let file = home.path().join("mcp-servers.json");
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &file.metadata().expect("the file exists").permissions(),
    );
    assert_eq!(mode & 0o777, 0o600);
    let output = import(&home, &["f", "--copy-secrets", "--yes"]).expect(0);
    assert!(output.out.contains("you already have it"), "{output:?}");
}

/// The README of `mcp-remote` recommends this form.
#[test]
fn arguments_follow_a_renamed_env_variable_of_their_server() {
    let text = r#"{ "mcpServers": {
        "first": { "command": "x", "env": { "AUTH": "first-hidden" } },
        "a": { "command": "npx", "args": ["mcp-remote", "--header", "Authorization:${AUTH}"],
               "env": { "AUTH": "Bearer abc-hidden" } } } }"#;
    let added = imported(text);
    assert_eq!(added["first"]["env"], json!({ "AUTH": "${AUTH}" }));
    assert_eq!(added["a"]["args"][2], "Authorization:${A_AUTH}");
    assert_eq!(added["a"]["env"], json!({ "AUTH": "${A_AUTH}" }));
}
