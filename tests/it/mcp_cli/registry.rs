//! `humble mcp search` and `humble mcp add NAMESPACE/NAME` against a registry on this machine.

use super::model_server::{ModelServer, Reply};
use super::{CommandOutput, TestHome, run};
use serde_json::{Value, json};
use std::fs;

pub(super) const LIST: &str = "/v0.1/servers";

pub(super) fn home_with_registry(url: &str) -> TestHome {
    let home = TestHome::empty();
    home.write("config.json", &json!({ "registryUrl": url }));
    home
}

pub(super) fn page(servers: &[Value], next_cursor: Option<&str>) -> Reply {
    let servers: Vec<Value> = servers
        .iter()
        .map(|server| json!({ "server": server }))
        .collect();
    Reply::json(
        200,
        &json!({ "servers": servers, "metadata": { "nextCursor": next_cursor } }),
    )
}

fn server(name: &str, fields: &Value) -> Value {
    let mut server = json!({ "name": name, "version": "1.2.3", "description": "Weather\nfor all" });
    let fields = fields.as_object().expect("an object").clone();
    server.as_object_mut().expect("an object").extend(fields);
    server
}

/// A server with one package: an npm package, except where these fields replace its own.
pub(super) fn npm(fields: &Value) -> Value {
    let mut package = json!({
        "registryType": "npm", "identifier": "@ann/weather", "version": "1.2.3",
        "transport": { "type": "stdio" },
    });
    let fields = fields.as_object().expect("an object").clone();
    package.as_object_mut().expect("an object").extend(fields);
    json!({ "packages": [package] })
}

fn servers(home: &TestHome) -> Option<Value> {
    let text = fs::read_to_string(home.path().join("mcp-servers.json")).ok()?;
    let file: Value = serde_json::from_str(&text).expect("JSON");
    Some(file["mcpServers"].clone())
}

/// Adds `io.github.ann/weather` with these fields. Returns the output and the entry, if any.
pub(super) fn add(fields: &Value, arguments: &[&str]) -> (CommandOutput, Option<Value>) {
    let registry = ModelServer::start();
    registry.always_reply(LIST, page(&[server("io.github.ann/weather", fields)], None));
    let home = home_with_registry(&registry.url());
    let arguments = [&["mcp", "add", "io.github.ann/weather"][..], arguments].concat();
    let output = run(&home, &arguments);
    let entry = servers(&home).map(|servers| servers["weather"].clone());
    (output, entry)
}

#[test]
fn mcp_search_shows_owner_version_and_transports() {
    let registry = ModelServer::start();
    let remote = json!({ "remotes": [{ "type": "streamable-http", "url": "https://h/" }] });
    let found = [
        server("io.github.ann/weather", &npm(&json!({}))),
        server("com.example/wet\u{1b}", &remote),
        server("com.example/wet", &remote),
    ];
    registry.always_reply(LIST, page(&found, None));
    let home = home_with_registry(&format!("{}/", registry.url()));
    let output = run(&home, &["mcp", "search", "날씨 &x", "--limit", "7"]).expect(0);
    let expected = "io.github.ann/weather  1.2.3\n    owner    ann on github.com\n    \
                    about    Weather⟨LF⟩for all\n    via      npm\n\
                    com.example/wet  1.2.3\n    owner    the owner of example.com\n    \
                    about    Weather⟨LF⟩for all\n    via      http\n";
    assert_eq!(output.out, expected);
    assert!(
        output.err.contains("Nobody has reviewed these servers."),
        "{output:?}"
    );
    let requests = registry.requests();
    let query = "search=%EB%82%A0%EC%94%A8+%26x&version=latest&limit=7";
    assert_eq!(
        (requests[0].path.as_str(), requests[0].query.as_str()),
        (LIST, query)
    );
    let report = run(&home, &["mcp", "search", "x", "--json"])
        .expect(0)
        .json();
    assert_eq!(report["servers"][1]["transports"], json!(["http"]));
}

#[test]
fn a_search_says_whether_there_are_more_matches() {
    let named = |name: &str| server(&format!("a.b/{name}"), &json!({}));
    let more = "Only the first 2 matches are shown; --limit N shows more.";
    for (names, next, expected) in [
        (&["1", "2", "3"][..], None, true),
        (&["1", "2"], Some("c"), true),
        (&["1", "2"], None, false),
    ] {
        let registry = ModelServer::start();
        let servers: Vec<Value> = names.iter().map(|name| named(name)).collect();
        registry.always_reply(LIST, page(&servers, next));
        let home = home_with_registry(&registry.url());
        let output = run(&home, &["mcp", "search", "b", "--limit", "2"]).expect(0);
        assert_eq!(output.err.contains(more), expected, "{output:?}");
    }
}

#[test]
fn pages_are_followed_up_to_the_limit_and_never_in_a_loop() {
    let registry = ModelServer::start();
    let named = |name: &str| server(&format!("a.b/{name}"), &json!({}));
    registry.queue_reply(LIST, page(&[named("1"), named("2")], Some("x&y")));
    registry.queue_reply(LIST, page(&[named("3")], Some("x&y")));
    let home = home_with_registry(&registry.url());
    let output = run(&home, &["mcp", "search", "b"]).expect(0);
    assert_eq!(
        output
            .out
            .lines()
            .filter(|line| line.starts_with("a.b/"))
            .count(),
        3
    );
    let requests = registry.requests();
    assert_eq!(requests.len(), 2);
    assert!(
        requests[1].query.ends_with("&cursor=x%26y"),
        "{}",
        requests[1].query
    );
    let endless = ModelServer::start();
    for number in 0..30 {
        let cursor = number.to_string();
        endless.queue_reply(LIST, page(&[named(&cursor)], Some(&cursor)));
    }
    let home = home_with_registry(&endless.url());
    run(&home, &["mcp", "search", "b", "--limit", "100"]).expect(0);
    assert_eq!(endless.requests().len(), 10);
}

#[test]
fn packages_become_pinned_commands() {
    let env = json!({ "environmentVariables": [
        { "name": "API_KEY", "isRequired": true, "isSecret": true },
        { "name": "REGION", "isRequired": true, "default": "eu" },
        { "name": "PROXY" },
    ] });
    let (output, entry) = add(&npm(&env), &["--yes"]);
    let output = output.expect(0);
    assert_eq!(
        entry,
        Some(json!({
            "description": "Weather\nfor all", "command": "npx", "args": ["-y", "@ann/weather@1.2.3"],
            "env": { "API_KEY": "${API_KEY}", "REGION": "eu" }, "enabled": false,
        }))
    );
    assert!(
        output
            .out
            .contains("    command  npx -y @ann/weather@1.2.3\n"),
        "{output:?}"
    );
    assert!(
        output
            .out
            .contains("    note     Optional variables: `PROXY`.\n"),
        "{output:?}"
    );
    let warning = "published by ann on github.com. Nobody has reviewed it.";
    assert!(output.err.contains(warning), "{output:?}");
    let arguments = json!([
        { "type": "positional", "value": "serve" },
        { "type": "named", "name": "--port", "value": "{port}", "variables": { "port": { "default": "80" } } },
        { "type": "named", "name": "--user", "isRequired": true },
        { "type": "named", "name": "--verbose" },
    ]);
    for (package, expected) in [
        (
            json!({ "registryType": "pypi", "identifier": "weather" }),
            json!(["weather==1.2.3"]),
        ),
        (
            json!({ "registryType": "oci", "identifier": "ghcr.io/ann/w" }),
            json!(["run", "-i", "--rm", "ghcr.io/ann/w:1.2.3"]),
        ),
        (
            json!({ "registryType": "oci", "identifier": "ghcr.io/ann/w:2" }),
            json!(["run", "-i", "--rm", "ghcr.io/ann/w:2"]),
        ),
        (
            json!({ "packageArguments": arguments }),
            json!([
                "-y",
                "@ann/weather@1.2.3",
                "serve",
                "--port",
                "80",
                "--user",
                "${USER}"
            ]),
        ),
    ] {
        let (output, entry) = add(&npm(&package), &["--yes", "--json"]);
        output.expect(0);
        assert_eq!(entry.expect("an entry")["args"], expected, "{package}");
    }
}

#[test]
fn remotes_are_added_with_variables_for_secrets() {
    let fields = json!({ "remotes": [
        { "type": "sse", "url": "https://h.example/sse" },
        { "type": "streamable-http", "url": "https://h.example/{team}", "headers": [
            { "name": "Authorization", "value": "Bearer {api-key}", "isSecret": true },
            { "name": "X-Id", "isRequired": true },
        ] },
    ] });
    let (output, entry) = add(&fields, &["--yes", "--transport", "http"]);
    output.expect(0);
    let entry = entry.expect("an entry");
    assert_eq!(entry["url"], "https://h.example/${TEAM}");
    let headers = json!({ "Authorization": "Bearer ${API_KEY}", "X-Id": "${X_ID}" });
    assert_eq!(entry["headers"], headers);
    for (remote, part) in [
        (
            json!({ "type": "sse", "url": "http://h.example/" }),
            "does not begin with `https://`",
        ),
        (
            json!({ "type": "sse", "url": "https://a:b@h/" }),
            "contains credentials",
        ),
        (
            json!({ "type": "sse", "url": "https://h/${OPENAI_API_KEY}" }),
            "contains `$`",
        ),
        (
            json!({ "type": "ws", "url": "https://h/" }),
            "transport `ws` is unknown",
        ),
    ] {
        let (output, entry) = add(&json!({ "remotes": [remote] }), &["--yes"]);
        let output = output.expect(1);
        assert!(output.out.contains(part), "{output:?}");
        assert_eq!(entry, None);
    }
}

#[test]
fn a_registry_server_is_not_added_without_consent_or_under_a_taken_name() {
    let (output, entry) = add(&npm(&json!({})), &[]);
    let output = output.expect(2);
    assert!(
        output.out.contains("npx -y @ann/weather@1.2.3"),
        "{output:?}"
    );
    assert_eq!(entry, None);
    let registry = ModelServer::start();
    let weather = server("io.github.ann/weather", &npm(&json!({})));
    registry.always_reply(
        LIST,
        page(
            &[server("io.github.ann/weather-2", &json!({})), weather],
            None,
        ),
    );
    let home = home_with_registry(&registry.url());
    home.write(
        "mcp-servers.json",
        &json!({ "mcpServers": { "weather": { "command": "x" } } }),
    );
    let arguments = ["mcp", "add", "io.github.ann/weather", "--yes"];
    run(&home, &arguments).expect(0);
    assert_eq!(
        servers(&home).expect("servers")["weather-2"]["command"],
        "npx"
    );
    let output = run(&home, &arguments).expect(0);
    assert!(
        output.out.contains("you already have it as `weather-2`"),
        "{output:?}"
    );
    let output = run(&home, &["mcp", "add", "io.github.ann/none", "--yes"]).expect(1);
    assert!(
        output.err.contains("lists no server `io.github.ann/none`"),
        "{output:?}"
    );
}
