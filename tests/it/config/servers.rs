//! `mcp-servers.json`: every accepted form, and the reasons for rejecting others.

use super::*;
use humble::domain::model::Secret;
use humble::domain::server::{InheritedEnv, RemoteTransport};
use humble::domain::{LaunchConfig, SecretRegistry, ServerConfig};
use std::time::Duration;

#[test]
fn every_accepted_form_of_a_server_is_read() {
    let fixture = with_servers(
        r#"{ "mcpServers": {
            "files": { "name": "ignored", "type": "command", "description": "d", "command": "npx",
                       "args": ["-p", "${PORT}", "${x:-1}"], "env": { "A": "${MINE}" }, "cwd": "/w",
                       "inheritEnv": ["FOO"], "startupTimeoutSeconds": 2.5, "toolTimeoutSeconds": 9, "toolsOff": ["rm"], "toolsPinned": ["mv"] },
            "docs": { "url": "https://example.com/sse", "env": { "Authorization": "Bearer x" } },
            "wiki": { "url": "http://localhost:${PORT}/mcp", "transport": "http", "enabled": false },
            "old":  { "type": "sse", "url": "https://e/", "env": { "a": "1" }, "headers": { "A": "2" } },
            "new":  { "type": "streamable-http", "transport": "http", "url": "https://e/" },
            "all":  { "type": "stdio", "command": "c", "inheritEnv": true },
            "humble": { "toolsOff": [] }
        } }"#,
    );
    assert_eq!(fixture.banners(), []);
    let servers = fixture.servers();
    let ids: Vec<_> = servers.iter().map(|server| server.id.as_str()).collect();
    let expected = ["humble", "files", "docs", "wiki", "old", "new", "all"];
    assert_eq!(ids, expected);
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let remote = |url: &str, transport, headers| LaunchConfig::Remote {
        url: url.to_owned(),
        transport,
        headers,
    };
    let stdio = |command: &str, inherit| LaunchConfig::Stdio {
        command: command.to_owned(),
        args: Vec::new(),
        env: Vec::new(),
        cwd: std::env::current_dir().ok(),
        inherit,
    };
    let files = ServerConfig {
        id: ServerId::new("files"),
        description: Some("d".to_owned()),
        enabled: true,
        launch: LaunchConfig::Stdio {
            command: "npx".to_owned(),
            args: ["-p", "8080", "${x:-1}"].map(str::to_owned).to_vec(),
            env: vec![pair("A", "sk-mine")],
            cwd: Some("/w".into()),
            inherit: InheritedEnv::AllowListAnd(vec!["FOO".to_owned()]),
        },
        disabled_tools: ["rm".to_owned()].into(),
        always_offered: ["mv".to_owned()].into(),
        startup_timeout: Duration::from_millis(2500),
        tool_timeout: Duration::from_secs(9),
        protocol: Default::default(),
        oauth: Default::default(),
        secrets: vec![Secret::new("sk-mine")],
        missing_variables: Vec::new(),
    };
    assert_eq!(servers[1], files);
    let headers = vec![pair("Authorization", "Bearer x")];
    let expected = [
        LaunchConfig::BuiltIn,
        files.launch,
        remote("https://example.com/sse", RemoteTransport::Auto, headers),
        remote("http://localhost:8080/mcp", RemoteTransport::Http, vec![]),
        remote("https://e/", RemoteTransport::Sse, vec![pair("A", "2")]),
        remote("https://e/", RemoteTransport::Http, vec![]),
        stdio("c", InheritedEnv::All),
    ];
    let launches: Vec<_> = servers.iter().map(|server| server.launch.clone()).collect();
    assert_eq!(launches, expected);
    assert!(!servers[3].enabled);
    let redacted = redact_servers(&servers, "sk-mine, Bearer x");
    assert_eq!(redacted, "[hidden], [hidden]");
}

fn redact_servers(servers: &[ServerConfig], text: &str) -> String {
    let secrets = SecretRegistry::default();
    for server in servers {
        secrets.add(server.config_secrets());
    }
    secrets.redact_known_values(text)
}

#[test]
fn a_launch_is_bound_to_the_folder_unless_it_is_the_same_everywhere() {
    let is_bound = |command: &str, args: &[&str]| {
        let entry = json!({ "command": command, "args": args });
        let fixture = with_servers(json!({ "mcpServers": { "s": entry } }).to_string());
        let LaunchConfig::Stdio { cwd, .. } = fixture.servers().remove(1).launch else {
            panic!("{command} is not started as a process");
        };
        assert!(cwd.is_none() || cwd == std::env::current_dir().ok());
        cwd.is_some()
    };
    for (command, args) in [
        ("python", &["-m", "server"][..]),
        ("/usr/bin/python", &["-m", "server"]),
        ("/usr/bin/python", &["-mserver"]),
        ("/bin/sh", &["-c", "exec ./server"]),
        ("/bin/node", &["--import=./setup.js", "/srv/server.js"]),
        ("/bin/node", &["--import", "server.js"]),
        ("/bin/node", &[""]),
        ("./server", &[]),
        ("server", &[]),
    ] {
        assert!(is_bound(command, args), "{command} {args:?}");
    }
    for (command, args) in [
        ("/srv/server", &[][..]),
        (
            "/srv/server",
            &["-v", "--stdio", "-", "--root=/data", "/logs"],
        ),
    ] {
        assert!(!is_bound(command, args), "{command} {args:?}");
    }
}

#[test]
fn a_key_that_occurs_twice_is_named() {
    let fixture = with_servers(
        r#"{ "mcpServers": { "a": { "command": "x", "env": { "K": "1", "K": "2" } }, "b": {}, "b": {} } }"#,
    );
    fs::write(
        fixture.home.config(),
        r#"{ "limits": { "toolRounds": 5, "toolRounds": 9 } }"#,
    )
    .unwrap();
    let rest = "Only the last value applies. Remove the others from the file.";
    let banners = [
        (
            "config.json: limits.toolRounds",
            "config.json: `limits.toolRounds` occurs twice.",
        ),
        (
            "mcp-servers.json: mcpServers.a.env.K",
            "mcp-servers.json: `mcpServers.a.env.K` occurs twice, and 1 more.",
        ),
    ];
    let expected = banners.map(|(cause, text)| (cause.to_owned(), format!("{text} {rest}")));
    assert_eq!(fixture.banners(), expected);
    assert_eq!(fixture.settings().limits.tool_rounds, 9);
}

fn disabled_with(entry: Value) -> Vec<String> {
    let fixture = with_servers(json!({ "mcpServers": { "humble": entry } }).to_string());
    fixture.servers()[0]
        .disabled_tools
        .iter()
        .cloned()
        .collect()
}

#[test]
fn fetch_page_is_on_only_if_tools_on_names_it() {
    let default = ["fetch_page", "get_cat_fact", "ollama_chat", "say_hello"];
    assert_eq!(disabled_with(json!({})), default);
    assert_eq!(disabled_with(json!({ "toolsOff": [] })), ["fetch_page"]);
    assert_eq!(
        disabled_with(json!({ "toolsOff": ["say_hello"] })),
        ["fetch_page", "say_hello"]
    );
    assert_eq!(
        disabled_with(json!({ "toolsOn": ["fetch_page"] })),
        default[1..]
    );
    assert_eq!(
        disabled_with(json!({ "toolsOn": ["say_hello"] })),
        default[..3]
    );
    let all = json!({ "toolsOn": ["fetch_page"], "toolsOff": [] });
    assert_eq!(disabled_with(all), [] as [&str; 0]);
    let both = json!({ "toolsOn": ["fetch_page"], "toolsOff": ["fetch_page"] });
    assert_eq!(disabled_with(both), ["fetch_page"]);
}

#[test]
fn switching_fetch_page_on_and_off_is_remembered() {
    let fixture = with_servers(r#"{ "mcpServers": { "humble": { "toolsOff": ["say_hello"] } } }"#);
    let humble = ServerId::new("humble");
    let is_off = || fixture.servers()[0].disabled_tools.contains("fetch_page");
    assert!(is_off());
    for enabled in [true, true, false, true] {
        config::set_tool_enabled(&fixture.home, &humble, "fetch_page", enabled).expect("saved");
        assert_eq!(is_off(), !enabled);
    }
    let file = std::fs::read_to_string(fixture.home.servers()).expect("written");
    let file: Value = serde_json::from_str(&file).expect("JSON");
    assert_eq!(
        file["mcpServers"]["humble"],
        json!({ "toolsOff": ["say_hello"], "toolsOn": ["fetch_page"] })
    );
}

#[test]
fn unknown_names_of_built_in_tools_are_reported() {
    let fixture = with_servers(
        r#"{ "mcpServers": {
            "other": { "command": "c", "toolsOff": ["Any_Name"] },
            "humble": { "toolsOff": ["get_time", "Fetch_Page"], "toolsOn": ["fetch-page"] }
        } }"#,
    );
    let banners = config::read_servers(&fixture.home).banners;
    let notices: Vec<String> = banners
        .iter()
        .map(|banner| banner.notice.summary())
        .collect();
    for (notice, (key, name)) in notices
        .iter()
        .zip([("toolsOff", "Fetch_Page"), ("toolsOn", "fetch-page")])
    {
        let expected = format!("line 3: server `humble`, `{key}`: there is no tool `{name}`.");
        assert!(notice.contains(&expected), "{notice}");
        assert!(
            notice
                .contains("get_cat_fact, fetch_page, create_note, search_notes, summarize_notes."),
            "{notice}"
        );
    }
    assert_eq!(notices.len(), 2);
}

#[test]
fn values_of_variables_are_secrets_unless_short_or_public() {
    let text = json!({ "mcpServers": {
        "a": { "url": "http://${SHORT}/${PATHLIKE}/mcp?x=${PATHLIKE}", "headers": { "X": "${AUTH}" } },
        "b": { "command": "c", "args": ["--at=${AUTH}", "${HOME}/x"], "env": { "E": "${SHORT}" } },
    } });
    let variables = |name: &str| {
        let value = match name {
            "SHORT" => "h:123",
            "PATHLIKE" => "Se cret/p?q=1",
            "AUTH" => "Bearer tok-en",
            "HOME" => "/home/somebody",
            _ => return None,
        };
        Some(value.to_owned())
    };
    let fixture = with_servers(text.to_string());
    let servers = read_servers_with(&fixture.home, &variables).value;
    let secrets =
        |index: usize| -> Vec<&str> { servers[index].secrets.iter().map(Secret::expose).collect() };
    let auth = ["Bearer%20tok-en", "Bearer tok-en", "bearer tok-en"];
    assert!(
        auth.iter().all(|spelling| secrets(1).contains(spelling)),
        "{:?}",
        secrets(1)
    );
    for spelling in ["Se cret/p?q=1", "Se cret/p", "Se%20cret/p"] {
        assert!(secrets(1).contains(&spelling), "{:?}", secrets(1));
        assert!(!secrets(2).contains(&spelling), "{:?}", secrets(2));
    }
    assert!(secrets(2).contains(&"tok-en"), "{:?}", secrets(2));
    assert!(!secrets(1).contains(&"h:123") && !secrets(2).contains(&"/home/somebody"));
    assert_eq!(redact_servers(&servers, "<Se%20cret/p>"), "<[hidden]>");
}

#[test]
fn a_misconfigured_server_is_listed_with_the_reason() {
    let cases = [
        (json!({}), "it has neither `command` nor `url`; give one"),
        (
            json!({ "command": "c", "url": "http://h" }),
            "it has both `command` and `url`; give one",
        ),
        (json!([]), "the entry is a list, expected an object"),
        (
            json!({ "url": "http://h", "transport": "htpp" }),
            "`transport` is `htpp`, expected one of `stdio`, `command`, `sse`, `http`, `streamable-http`; did you mean `http`?",
        ),
        (
            json!({ "url": "http://h", "type": "stdio" }),
            "it has a `url`, but its `type` or `transport` needs a `command`",
        ),
        (
            json!({ "command": "c", "args": "x" }),
            "`args` is a string, expected a list of strings",
        ),
        (
            json!({ "command": "c", "args": [1] }),
            "`args` is a list, expected a list of strings",
        ),
        (
            json!({ "command": "c", "env": { "A": 1 } }),
            "`A` in `env` is a number, expected a string",
        ),
        (
            json!({ "command": "c", "env": { "A": "${GONE}" } }),
            "`env` needs the variable GONE, which is not set",
        ),
        (
            json!({ "url": "http://${GONE}/" }),
            "`url` needs the variable GONE, which is not set",
        ),
        (
            json!({ "url": "ws://h" }),
            "`url` must begin with `http://` or `https://`",
        ),
        (
            json!({ "url": "http://h", "headers": { "a b": "c" } }),
            "`a b` is not a valid header name",
        ),
        (
            json!({ "command": "c", "enabled": "no" }),
            "`enabled` is a string, expected true or false",
        ),
        (
            json!({ "command": "c", "toolTimeoutSeconds": -1 }),
            "`toolTimeoutSeconds` is -1, expected a number of seconds above 0 and at most 86400",
        ),
        (json!({ "command": " " }), "`command` is empty"),
    ];
    for (entry, why) in cases {
        let good = json!({ "command": "good" });
        let text = json!({ "mcpServers": { "bad": entry, "good": good } }).to_string();
        let fixture = with_servers(text);
        let why = why.to_owned();
        assert_eq!(
            fixture.server("bad").launch,
            LaunchConfig::Misconfigured { why }
        );
        let good = fixture.server("good").launch;
        assert!(matches!(good, LaunchConfig::Stdio { .. }), "{good:?}");
    }
}

#[test]
fn the_built_in_servers_name_is_reserved() {
    let fixture =
        with_servers(r#"{"mcpServers":{"a":{"command":"x"},"humble":{"url":"http://h"}}}"#);
    let servers = fixture.servers();
    let why = "`humble` is the built-in server; choose another name".to_owned();
    assert_eq!(servers[0].launch, LaunchConfig::Misconfigured { why });
    assert_eq!(servers.len(), 2);
}

#[test]
fn files_of_other_clients_and_older_homes_are_read_and_changed_in_place() {
    let cases = [
        (
            r#"{"a":{"command":"x"},"$schema":"s"}"#,
            r#"{"a":{"command":"x","enabled": false},"$schema":"s","humble": { "enabled": false }}"#,
        ),
        (
            r#"{"inputs":[],"servers":{"a":{"command":"x"}}}"#,
            r#"{"inputs":[],"servers":{"a":{"command":"x","enabled": false},"humble": { "enabled": false }}}"#,
        ),
        (
            r#"{"mcpServers":[{"name":"a","command":"x"}]}"#,
            r#"{"mcpServers":[{"name":"a","command":"x","enabled": false},{ "name": "humble", "enabled": false }]}"#,
        ),
    ];
    for (before, after) in cases {
        let fixture = with_servers(before);
        assert!(matches!(
            fixture.server("a").launch,
            LaunchConfig::Stdio { .. }
        ));
        config::set_server_enabled(&fixture.home, &ServerId::new("a"), false).unwrap();
        config::set_server_enabled(&fixture.home, &ServerId::new("humble"), false).unwrap();
        assert_eq!(fixture.servers_text(), after);
        assert_eq!(fixture.servers().len(), 2);
        assert!(fixture.servers().iter().all(|server| !server.enabled));
    }
}

#[test]
fn setting_values_are_case_insensitive() {
    let fixture = with_servers(
        r#"{ "mcpServers": {
            "a": { "url": "https://e/", "transport": "HTTP", "protocol": "Legacy" },
            "b": { "url": "https://e/", "type": "Sse" },
            "c": { "command": "c", "type": "STDIO" }
        } }"#,
    );
    let before = fixture.servers_text();
    let servers = fixture.servers();
    let transport = |index: usize| match &servers[index].launch {
        LaunchConfig::Remote { transport, .. } => *transport,
        other => panic!("{other:?}"),
    };
    assert_eq!(transport(1), RemoteTransport::Http);
    assert_eq!(transport(2), RemoteTransport::Sse);
    assert_eq!(
        servers[1].protocol,
        humble::domain::server::ProtocolMode::Legacy
    );
    assert!(matches!(servers[3].launch, LaunchConfig::Stdio { .. }));
    config::set_server_enabled(&fixture.home, &ServerId::new("a"), false).unwrap();
    let expected = before.replace("\"Legacy\" }", "\"Legacy\", \"enabled\": false }");
    assert_eq!(fixture.servers_text(), expected);
}

#[test]
fn names_generated_for_servers_are_unique() {
    let fixture = with_servers(
        r#"{ "mcpServers": [
            { "command": "a", "name": "server-2" }, { "command": "b" },
            { "command": "c", "name": "server-2" }, { "command": "d", "name": "server-2-2" }
        ] }"#,
    );
    let servers = fixture.servers();
    let ids: Vec<_> = servers.iter().map(|server| server.id.as_str()).collect();
    assert_eq!(
        ids,
        ["humble", "server-2", "server-2-3", "server-3", "server-2-2"]
    );
    config::set_server_enabled(&fixture.home, &ServerId::new("server-2-3"), false).unwrap();
    let expected = r#"{ "command": "b", "enabled": false }"#;
    assert!(
        fixture.servers_text().contains(expected),
        "{}",
        fixture.servers_text()
    );
}

#[test]
fn a_new_server_may_use_unset_variables() {
    let new_server = |url: &str| humble::domain::NewServer {
        name: "new".to_owned(),
        description: None,
        enabled: true,
        launch: humble::domain::NewServerLaunch::Url {
            url: url.to_owned(),
            transport: RemoteTransport::Auto,
            headers: Vec::new(),
        },
        values: Vec::new(),
    };
    for url in [
        "${HUMBLE_UNSET}",
        "${HUMBLE_UNSET}/mcp",
        "https://${HUMBLE_UNSET}/mcp",
        "https://h:${HUMBLE_UNSET}/mcp",
        "https://h/${HUMBLE_UNSET}/mcp",
        "${HUMBLE_UNSET}://h:${HUMBLE_UNSET}/",
    ] {
        let server = config::preview_server(&new_server(url)).expect(url);
        let LaunchConfig::Misconfigured { why } = server.launch else {
            panic!("{url}");
        };
        assert!(why.contains("HUMBLE_UNSET, which is not set"), "{why}");
    }
    for url in ["ftp://${HUMBLE_UNSET}/", "no url", "needs the variable"] {
        assert!(config::preview_server(&new_server(url)).is_err(), "{url}");
    }
}
