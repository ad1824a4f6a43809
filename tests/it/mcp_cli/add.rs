//! `humble mcp add`: new entries, the check of the new server, and rejected servers.

use super::{TestHome, home, run};
use serde_json::{Value, json};

fn servers_file(home: &TestHome) -> String {
    std::fs::read_to_string(home.path().join("mcp-servers.json")).unwrap_or_default()
}

fn servers(home: &TestHome) -> Value {
    let file: Value = serde_json::from_str(&servers_file(home)).expect("JSON");
    file["mcpServers"].clone()
}

#[test]
fn mcp_add_writes_and_checks_a_server() {
    let home = TestHome::empty();
    let server = home::test_server_path();
    let output = run(
        &home,
        &[
            "mcp",
            "add",
            "시험",
            "--description",
            "for tests",
            "--env",
            "MODE=a=b",
            "--",
            &server,
            "",
            "--flag",
        ],
    )
    .expect(0);
    assert_eq!(
        servers(&home),
        json!({ "시험": {
            "description": "for tests", "command": server, "args": ["", "--flag"], "env": { "MODE": "a=b" },
        } })
    );
    let expected_start = "{\n  \"mcpServers\": {\n    \"시험\": {\n      \"description\": ";
    assert!(
        servers_file(&home).starts_with(expected_start),
        "{}",
        servers_file(&home)
    );
    assert!(output.err.starts_with("Added `시험` to "), "{}", output.err);
    let lines: Vec<&str> = output.out.lines().collect();
    assert!(lines[0].starts_with("시험  connected  "), "{}", output.out);
    assert!(
        lines[1].starts_with("    add, echo, fail, "),
        "{}",
        output.out
    );
    home.assert_no_process_left();
}

#[test]
fn adding_a_server_leaves_the_rest_of_the_file_unchanged() {
    let home = TestHome::empty();
    let before = "{\n  \"$schema\": \"x\",\n  \"mcpServers\": {\n    \"b\": { \"command\": \"x\",   \"mine\": [1] },\n    \"a\": \
                  { \"url\": \"http://h/\", \"enabled\": false }\n  },\n  \"other\": {}\n}\n";
    // Readable only by the user, so that the program prints no notice about permissions.
    let path = home.path().join("mcp-servers.json");
    humble::files::replace(&path, before.as_bytes(), 0o600).expect("written");
    let arguments = [
        "mcp",
        "add",
        "new",
        "--url",
        "https://example.com/mcp",
        "--transport",
        "http",
    ];
    let header_arguments = [
        "--header",
        "Authorization: Bearer ${TOKEN}",
        "--header",
        "X-A=b:c",
        "--disabled",
    ];
    let output = run(&home, &[&arguments[..], &header_arguments].concat()).expect(0);
    let after = servers_file(&home);
    let (start, rest) = before.split_at(before.find("\n  },").expect("the end of the servers"));
    assert!(after.starts_with(start) && after.ends_with(rest), "{after}");
    assert_eq!(
        servers(&home)["new"],
        json!({
            "url": "https://example.com/mcp", "transport": "http",
            "headers": { "Authorization": "Bearer ${TOKEN}", "X-A": "b:c" }, "enabled": false,
        })
    );
    assert_eq!(output.out, "", "a disabled server is not started");
    assert_eq!(output.err.lines().count(), 1, "{}", output.err);
}

#[test]
fn a_server_is_added_to_the_list_of_an_older_home() {
    let home = TestHome::empty();
    home.write(
        "mcp-servers.json",
        &json!({ "mcpServers": [{ "name": "a", "command": "x" }] }),
    );
    run(&home, &["mcp", "add", "b", "--no-check", "--", "y"]).expect(0);
    let expected =
        json!([{ "name": "a", "command": "x" }, { "name": "b", "command": "y", "args": [] }]);
    assert_eq!(servers(&home), expected);
}

#[test]
fn invalid_servers_are_rejected_and_the_file_is_unchanged() {
    let home = TestHome::empty();
    home.write(
        "mcp-servers.json",
        &json!({ "mcpServers": { "test": { "command": "x" } } }),
    );
    let before = servers_file(&home);
    let long = "x".repeat(65);
    for (arguments, part) in [
        (
            &["test", "--", "y"][..],
            "already lists a server `test`. Choose another name",
        ),
        (&["humble", "--", "y"], "`humble` is the built-in server"),
        (&[" a", "--", "y"], "starts or ends with a space"),
        (&["a\u{1b}[2J", "--", "y"], "control character"),
        (&[long.as_str(), "--", "y"], "longer than 64 characters"),
        (&["new"], "--url"),
        (
            &["new", "--url", "ftp://h"],
            "`url` must begin with `http://`",
        ),
        (
            &["new", "--url", "http://h/", "--", "y"],
            "cannot be used with",
        ),
        (
            &["new", "--url", "http://h/", "--header", "no"],
            "--header takes NAME=VALUE.",
        ),
        (
            &["new", "--url", "http://h/", "--header", "a b=c"],
            "is not a valid header name",
        ),
        (
            &["new", "--env", "A=1", "--env", "A=2", "--", "y"],
            "--env gives `A` twice.",
        ),
        (&["new", "--", " "], "`command` is empty"),
        (
            &["new", "--transport", "sse", "--", "y"],
            "--transport and --header need --url",
        ),
    ] {
        let output = run(&home, &[&["mcp", "add"][..], arguments].concat()).expect(2);
        let stderr = output.err.to_lowercase();
        assert!(
            stderr.contains(&part.to_lowercase()),
            "{arguments:?}: {}",
            output.err
        );
        assert!(!output.err.contains('\u{1b}'), "{}", output.err);
        assert_eq!(servers_file(&home), before, "{arguments:?}");
    }
}

#[test]
fn mcp_add_does_not_change_a_broken_file() {
    let home = TestHome::empty();
    let broken = "{ \"mcpServers\": {\n  \"a\": { \"command\": \"x\" }, }\n}\n";
    std::fs::write(home.path().join("mcp-servers.json"), broken).expect("written");
    let output = run(&home, &["mcp", "add", "b", "--", "y"]).expect(1);
    assert!(
        output.err.contains("mcp-servers.json, line 2, column 28"),
        "{}",
        output.err
    );
    assert_eq!(servers_file(&home), broken);
}

#[test]
fn a_server_that_cannot_be_started_stays_in_the_file_and_is_reported() {
    let home = TestHome::empty();
    let output = run(
        &home,
        &["mcp", "add", "new", "--json", "--", "no-such-command"],
    )
    .expect(1);
    let report = output.json();
    assert_eq!(
        (&report["added"], &report["state"]),
        (&json!(true), &json!("failed"))
    );
    assert!(
        report["error"]
            .as_str()
            .expect("an error")
            .contains("Command `no-such-command` was not found")
    );
    assert!(
        output.err.contains("The server stays in the file"),
        "{}",
        output.err
    );
    assert_eq!(
        servers(&home)["new"],
        json!({ "command": "no-such-command", "args": [] })
    );
}

#[test]
fn a_plain_text_secret_is_warned_about_without_repeating_it() {
    let home = TestHome::empty();
    let arguments = [
        "mcp",
        "add",
        "new",
        "--no-check",
        "--env",
        "API_TOKEN=abc123",
        "--env",
        "B_KEY=${B_KEY}",
        "--",
        "y",
    ];
    let output = run(&home, &arguments).expect(0);
    assert!(
        output.err.contains(
            "`API_TOKEN` is in the file in plain text. To keep it out, write `${API_TOKEN}`"
        ),
        "{}",
        output.err
    );
    assert!(
        !output.err.contains("abc123") && !output.err.contains("B_KEY"),
        "{}",
        output.err
    );
    assert_eq!(
        servers(&home)["new"]["env"],
        json!({ "API_TOKEN": "abc123", "B_KEY": "${B_KEY}" })
    );
}

#[test]
fn an_unset_variable_does_not_prevent_adding() {
    let home = TestHome::empty();
    let output = run(
        &home,
        &[
            "mcp",
            "add",
            "new",
            "--env",
            "A=${HUMBLE_NOT_SET}",
            "--",
            "y",
        ],
    )
    .expect(1);
    assert!(
        output
            .out
            .contains("`env` needs the variable HUMBLE_NOT_SET, which is not set"),
        "{}",
        output.out
    );
    assert_eq!(
        servers(&home)["new"]["env"],
        json!({ "A": "${HUMBLE_NOT_SET}" })
    );
}
