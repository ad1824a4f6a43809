//! `humble mcp list` and `humble mcp tools`.

use super::{TestHome, command, home, interrupt, run, wait_for_output, with_test_server};
use serde_json::{Value, json};

/// Servers in four states: working, exiting at once, off, and misconfigured.
fn with_servers_in_four_states() -> TestHome {
    let server = home::test_server_path();
    let home = TestHome::empty()
        .with_server("시험", &server, &[""])
        .with_server("dies", &server, &["dies"])
        .with_server("off", &server, &["dies"])
        .with_server("odd", &server, &[]);
    home.edit_json("mcp-servers.json", |file| {
        file["mcpServers"]["off"]["enabled"] = json!(false);
        file["mcpServers"]["odd"]["url"] = json!("https://example.com");
    });
    home
}

#[test]
fn the_list_shows_each_server_and_does_not_start_disabled_ones() {
    let home = with_servers_in_four_states();
    let output = run(&home, &["mcp", "list"]).expect(1);
    let lines: Vec<&str> = output.out.lines().collect();
    let starts = [
        "humble  connected      2 of 6 tools  ~",
        "시험    connected      ",
        "dies    failed",
        "    Server `dies` could not be started. It exited with status 3: \"no TEST_API_KEY in the \
         environment\".",
        "off     off",
        "odd     misconfigured",
        "    mcp-servers.json: it has both `command` and `url`; give one.",
    ];
    assert_eq!(lines.len(), starts.len(), "{}", output.out);
    for (line, start) in lines.iter().zip(starts) {
        assert!(line.starts_with(start), "{line}\n{start}");
    }
    assert!(lines[1].ends_with("stdio 2025-11-25"), "{}", lines[1]);
    assert_eq!(output.err, "");
    home.assert_no_process_left();
}

#[test]
fn a_server_that_is_still_starting_at_ctrl_c_is_reported() {
    let home = TestHome::empty();
    let started = home.path().join("started");
    let script = "touch \"$0\"; exec sleep 60";
    let home = home.with_server("slow", "sh", &["-c", script, &started.to_string_lossy()]);
    let child = command(&home, &["mcp", "list"])
        .spawn()
        .expect("the program starts");
    home::wait_until("the server starts", || started.exists());
    interrupt(&child);
    let output = wait_for_output(child).expect(130);
    let reason = "It was still starting when the command was interrupted.";
    assert!(output.out.contains(reason), "{}", output.out);
    home.assert_no_process_left();
}

#[test]
fn json_output_of_mcp_list_is_one_object() {
    let home = with_servers_in_four_states();
    let list = run(&home, &["mcp", "list", "--json"]).expect(1).json();
    let servers = list["servers"].as_array().expect("a list");
    let states: Vec<&Value> = servers.iter().map(|server| &server["state"]).collect();
    assert_eq!(
        states,
        ["connected", "connected", "failed", "off", "misconfigured"]
    );
    let mut working = servers[1].clone();
    assert_eq!(working["tools"], working["tools_on"]);
    for key in ["tools", "tools_on", "tokens"] {
        assert!(working[key].as_u64() > Some(10), "{key}: {working}");
        working[key] = json!(null);
    }
    assert_eq!(
        working,
        json!({
            "name": "시험", "description": null, "state": "connected", "transport": "stdio",
            "protocol": "2025-11-25", "tools": null, "tools_on": null, "tokens": null,
            "server": { "name": "test", "version": "1" },
        })
    );
    assert!(
        servers[2]["error"]
            .as_str()
            .expect("an error")
            .contains("exited with status 3")
    );
    assert_eq!(servers[3]["error"], Value::Null);
}

#[test]
fn the_exit_status_is_0_even_if_a_server_is_off() {
    let home = with_test_server("");
    home.edit_json("mcp-servers.json", |file| {
        file["mcpServers"]["test"]["enabled"] = json!(false);
    });
    let output = run(&home, &["mcp", "list"]).expect(0);
    assert!(output.out.contains("test    off"), "{}", output.out);
}

#[test]
fn a_server_that_never_answers_is_abandoned_after_the_timeout() {
    let home = with_test_server("silent");
    let output = run(&home, &["mcp", "list", "--timeout", "0.7"]).expect(1);
    assert!(output.out.contains("test    no answer"), "{}", output.out);
    assert!(
        output.out.contains("    It did not answer within 0.7 s.\n"),
        "{}",
        output.out
    );
    home.assert_no_process_left();
    let output = run(&home, &["mcp", "list", "--timeout", "0"]).expect(2);
    assert!(
        output.err.contains("a number of seconds above 0"),
        "{}",
        output.err
    );
}

#[test]
fn mcp_tools_lists_the_tools_of_a_server_with_their_usage() {
    let home = with_test_server("one-bad-tool");
    let output = run(&home, &["mcp", "tools", "test"]).expect(0);
    let lines: Vec<&str> = output.out.lines().take(6).collect();
    assert!(lines[0].starts_with("test ("), "{}", output.out);
    assert_eq!(
        lines[1..],
        [
            "  Left out: tool `bad` has no inputSchema",
            "  add a=NUMBER b=NUMBER",
            "      The tool add.",
            "  echo text=TEXT",
            "      The tool echo.",
        ]
    );
    let with_schema = run(&home, &["mcp", "tools", "test", "--schema"]).expect(0);
    assert!(
        with_schema.out.contains("        \"properties\": {\n"),
        "{}",
        with_schema.out
    );
}

#[test]
fn json_output_of_mcp_tools_has_schemas_and_states() {
    let home = with_test_server("");
    home.edit_json("mcp-servers.json", |file| {
        file["mcpServers"]["test"]["enabled"] = json!(false);
        file["mcpServers"]["test"]["toolsOff"] = json!(["echo"]);
    });
    let list = run(&home, &["mcp", "tools", "test", "--json"])
        .expect(0)
        .json();
    let tools = list["servers"][0]["tools"].as_array().expect("a list");
    let mut add = tools[0].clone();
    let tool = add.as_object_mut().expect("an object");
    let pin = tool.remove("pin").expect("a pin");
    assert_eq!(pin.as_str().expect("text").len(), 64);
    assert!(
        tool.remove("tokens")
            .is_some_and(|tokens| tokens.as_u64() > Some(10))
    );
    assert_eq!(
        add,
        json!({
            "name": "add", "title": null, "description": "The tool add.",
            "inputSchema": {
                "type": "object",
                "properties": { "a": { "type": "number" }, "b": { "type": "number" } },
                "required": ["a", "b"],
            },
            "annotations": {}, "state": "on",
        })
    );
    assert_eq!(
        (&tools[1]["name"], &tools[1]["state"]),
        (&json!("echo"), &json!("off"))
    );
}

#[test]
fn a_misspelled_server_name_gets_a_suggestion() {
    let home = with_test_server("");
    let output = run(&home, &["mcp", "tools", "tset"]).expect(2);
    assert_eq!(
        output.err,
        "There is no MCP server `tset`. Did you mean `test`?\n"
    );
    let output = run(&home, &["mcp", "tools", "zebra"]).expect(2);
    assert_eq!(
        output.err,
        "There is no MCP server `zebra`. Configured: humble, test.\n"
    );
}

#[test]
fn a_broken_file_is_reported_and_the_built_in_server_still_works() {
    let home = TestHome::empty();
    std::fs::write(
        home.path().join("mcp-servers.json"),
        "{\n \"mcpServers\": [}",
    )
    .expect("written");
    let output = run(&home, &["mcp", "list"]).expect(0);
    assert!(
        output.err.contains("mcp-servers.json, line 2, column"),
        "{}",
        output.err
    );
    assert!(
        output.out.starts_with("humble  connected"),
        "{}",
        output.out
    );
}

#[test]
fn a_server_that_is_a_program_is_not_started_to_sign_in_or_out() {
    let home = TestHome::empty();
    let marker = home.path().join("was-started");
    let home = home.with_server("files", "touch", &[&marker.to_string_lossy()]);
    for command in ["login", "logout"] {
        let output = run(&home, &["mcp", command, "files"]).expect(2);
        assert_eq!(
            (output.out.as_str(), output.err.as_str()),
            (
                "",
                "Server `files` does not use sign-in. It is a program on this machine, which has \
                 no URL to sign in to.\n"
            ),
        );
        assert!(!marker.exists());
    }
}
