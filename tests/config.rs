//! Settings on disk: read leniently, told with line and column, changed in one
//! value only, also by two programs at once.

use humble::config::{
    self, ConfigError, Home, Settings, read_servers_with, read_settings_with, read_system_prompt,
};
use humble::domain::model::{ApiKey, Limits, Secret, ToolRole};
use humble::domain::server::{Inherit, RemoteTransport};
use humble::domain::{
    Dialect, Launch, ModelRef, ProviderKind, ServerConfig, ServerId, Think, ToolMode,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fs;
use std::time::Duration;
use tempfile::TempDir;

struct Place {
    home: Home,
    _folder: TempDir,
}

fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    Place {
        home: Home::at(folder.path()),
        _folder: folder,
    }
}

fn with_config(text: impl AsRef<[u8]>) -> Place {
    let place = place();
    fs::write(place.home.config(), text).unwrap();
    place
}

fn with_servers(text: impl AsRef<[u8]>) -> Place {
    let place = place();
    fs::write(place.home.servers(), text).unwrap();
    place
}

fn variables(name: &str) -> Option<String> {
    let known = [
        ("OPENAI_API_KEY", "sk-env"),
        ("MINE", "sk-mine"),
        ("EMPTY", ""),
        ("TORN", "a\nb"),
        ("PORT", "8080"),
    ];
    let found = known.iter().find(|(known, _)| *known == name);
    found.map(|(_, value)| (*value).to_owned())
}

impl Place {
    fn settings(&self) -> Settings {
        read_settings_with(&self.home, &variables).value
    }

    /// Each banner as cause and sentence, without the path of the folder.
    fn banners(&self) -> Vec<(String, String)> {
        let settings = read_settings_with(&self.home, &variables).banners;
        let servers = read_servers_with(&self.home, &variables).banners;
        let folder = format!("{}/", self.home.root().display());
        settings
            .into_iter()
            .chain(servers)
            .map(|banner| (banner.cause, banner.notice.sentence().replace(&folder, "")))
            .collect()
    }

    fn servers(&self) -> Vec<ServerConfig> {
        read_servers_with(&self.home, &variables).value
    }

    fn server(&self, id: &str) -> ServerConfig {
        let mut servers = self.servers().into_iter();
        servers.find(|server| server.id.as_str() == id).unwrap()
    }

    fn config_text(&self) -> String {
        fs::read_to_string(self.home.config()).unwrap()
    }

    fn servers_text(&self) -> String {
        fs::read_to_string(self.home.servers()).unwrap()
    }
}

fn one_model(entry: Value) -> Place {
    with_config(json!({ "models": [entry] }).to_string())
}

fn reference(name: &str, provider: ProviderKind) -> ModelRef {
    ModelRef {
        name: name.to_owned(),
        provider,
        model: name.to_owned(),
    }
}

#[test]
fn a_missing_file_is_normal() {
    let place = place();
    assert_eq!(place.settings(), Settings::default());
    assert_eq!(place.banners(), []);
    assert_eq!(place.servers().len(), 1);
}

#[test]
fn the_example_of_the_manual_is_understood() {
    let place = with_config(
        r#"{
  "models": [
    { "name": "gpt-4o", "provider": "openai", "apiKey": "sk-...", "active": true },
    { "name": "qwen3:4b", "provider": "ollama", "baseUrl": "http://localhost:11434/" },
    { "name": "sonnet", "model": "claude-sonnet-4-5", "provider": "anthropic", "apiKey": "${MINE}",
      "contextLength": 8192, "think": "high", "toolCalls": "xml", "toolRole": "user", "keepAlive": "5m",
      "options": { "top_k": 5, "temperature": 1, "seed": 7 }, "caFile": "ca.pem" }
  ],
  "logLevel": "debug",
  "toolCallMode": "auto",
  "limits": { "toolRounds": 3, "errorsPerTurn": 2, "idleSeconds": 9 },
  "ui": { "future": true }
}"#,
    );
    assert_eq!(place.banners(), []);
    let settings = place.settings();
    assert_eq!(settings.log_level, tracing::Level::DEBUG);
    assert_eq!(settings.tool_mode, ToolMode::Auto);
    let limits = Limits {
        tool_rounds: 3,
        errors_per_turn: 2,
        idle_seconds: 9,
    };
    assert_eq!(settings.limits, limits);
    assert_eq!(settings.active().map(|model| &*model.name), Some("gpt-4o"));
    let [gpt, qwen, sonnet] = &settings.models[..] else {
        panic!("three models: {settings:?}")
    };
    assert_eq!(gpt.base_url, "https://api.openai.com/v1");
    assert_eq!(gpt.dialect, Dialect::Native);
    assert_eq!(qwen.base_url, "http://localhost:11434");
    assert_eq!(qwen.api_key, ApiKey::NotNeeded);
    assert_eq!(qwen.dialect, Dialect::Prompt);
    assert_eq!(sonnet.model, "claude-sonnet-4-5");
    assert_eq!(sonnet.context_length, Some(8192));
    assert_eq!(sonnet.think, Some(Think::High));
    assert_eq!(sonnet.dialect, Dialect::Xml);
    assert_eq!(sonnet.tool_role, ToolRole::User);
    assert_eq!(sonnet.keep_alive, Some(json!("5m")));
    let options = Value::Object(sonnet.options.clone());
    assert_eq!(options.to_string(), r#"{"top_k":5,"seed":7}"#);
    assert_eq!(sonnet.ca_file, Some(place.home.root().join("ca.pem")));
    let secrets = settings.secrets();
    assert_eq!(secrets, [Secret::new("sk-..."), Secret::new("sk-mine")]);
}

#[test]
fn a_key_comes_from_where_the_person_said_and_goes_to_no_stranger() {
    let missing = |name: &str| ApiKey::MissingVariable(name.to_owned());
    let known = |key: &str| ApiKey::Known(Secret::new(key));
    let unusable = |why: &str| ApiKey::Unusable(why.to_owned());
    let url = "https://stranger.example";
    let cases = [
        (json!({ "provider": "openai" }), known("sk-env")),
        (json!({ "provider": "mistral" }), missing("MISTRAL_API_KEY")),
        (
            json!({ "provider": "anthropic" }),
            missing("ANTHROPIC_API_KEY"),
        ),
        (json!({ "provider": "ollama" }), ApiKey::NotNeeded),
        (
            json!({ "provider": "openai", "baseUrl": url }),
            ApiKey::NotNeeded,
        ),
        (
            json!({ "provider": "openai", "baseUrl": url, "apiKey": "${MINE}" }),
            known("sk-mine"),
        ),
        (
            json!({ "provider": "openai", "apiKey": null }),
            known("sk-env"),
        ),
        (
            json!({ "provider": "openai", "apiKey": "${GONE}" }),
            missing("GONE"),
        ),
        (
            json!({ "provider": "openai", "apiKey": "${EMPTY}" }),
            missing("EMPTY"),
        ),
        (
            json!({ "provider": "openai", "apiKey": "${TORN}" }),
            unusable("the key holds a line end"),
        ),
        (
            json!({ "provider": "openai", "apiKey": "" }),
            unusable("the key is empty"),
        ),
        (
            json!({ "provider": "openai", "apiKey": "키" }),
            unusable("the key holds a character that is not ASCII"),
        ),
        (
            json!({ "provider": "openai", "apiKey": "${}" }),
            unusable("`${}` names no variable"),
        ),
        (json!({ "provider": "ollama", "apiKey": "k" }), known("k")),
    ];
    for (mut entry, expected) in cases {
        entry["name"] = json!("m");
        let place = one_model(entry.clone());
        assert_eq!(place.settings().models[0].api_key, expected, "{entry}");
    }
}

#[test]
fn a_bad_entry_is_named_and_the_others_work() {
    let cases = [
        (json!("text"), "it is a text, an object is expected."),
        (
            json!({ "provider": "openai" }),
            "it has neither `name` nor `model`; give at least one.",
        ),
        (
            json!({ "name": "m", "provider": "opnai" }),
            "`provider` is `opnai`, one of `ollama`, `openai`, `mistral`, `anthropic` is expected; did you mean `openai`?",
        ),
        (
            json!({ "name": "m" }),
            "it has no `provider`; one of `ollama`, `openai`, `mistral`, `anthropic` is expected.",
        ),
        (
            json!({ "name": 5, "provider": "openai" }),
            "`name` is 5, a text is expected.",
        ),
        (
            json!({ "name": "m", "provider": "openai", "apiKey": ["sk-secret"] }),
            "`apiKey` is a list, a text is expected.",
        ),
        (
            json!({ "name": "m", "provider": "openai", "contextLength": 0 }),
            "`contextLength` is 0, a whole number from 1 on is expected.",
        ),
        (
            json!({ "name": "m", "provider": "openai", "contextLength": "8k" }),
            "`contextLength` is a text, a whole number from 1 on is expected.",
        ),
        (
            json!({ "name": "m", "provider": "openai", "think": "hihg" }),
            "`think` is `hihg`, one of `true`, `false`, `low`, `medium`, `high` is expected; did you mean `high`?",
        ),
        (
            json!({ "name": "m", "provider": "openai", "toolCalls": "Native" }),
            "`toolCalls` is `Native`, one of `auto`, `native`, `prompt`, `xml` is expected; did you mean `native`?",
        ),
        (
            json!({ "name": "m", "provider": "openai", "toolRole": "system" }),
            "`toolRole` is `system`, one of `tool`, `user` is expected.",
        ),
        (
            json!({ "name": "m", "provider": "openai", "baseUrl": "api.example.com" }),
            "`baseUrl` has no scheme; put `https://` or `http://` before it.",
        ),
    ];
    for (entry, fault) in cases {
        let good = json!({ "name": "good", "provider": "ollama" });
        let text = json!({ "models": [entry, good] }).to_string();
        let place = with_config(text);
        let name = match entry.get("name").and_then(Value::as_str) {
            Some(name) => format!(" (`{name}`)"),
            None => String::new(),
        };
        let sentence = format!(
            "config.json, line 1: model 1{name}: {fault} \
             Correct it there; everything else in the file is used."
        );
        let expected = ("config.json: model 1".to_owned(), sentence);
        assert_eq!(place.banners(), [expected]);
        let settings = place.settings();
        assert_eq!(settings.models[0].name, "good");
        assert!(settings.lists_models);
    }
}

#[test]
fn a_bad_setting_at_the_root_is_named_and_the_default_stays() {
    let place = with_config(
        "{\n  \"logLevel\": \"inof\",\n  \"toolCallMode\": true,\n  \"models\": {},\n\
         \"limits\": {\n    \"toolRounds\": 0.5 }\n}",
    );
    let advice = "Correct it there; everything else in the file is used.";
    let expected = [
        ("models", "line 4: `models` is an object, a list is expected."),
        (
            "logLevel",
            "line 2: `logLevel` is `inof`, one of `debug`, `info`, `warn`, `error` is expected; did you mean `info`?",
        ),
        (
            "toolCallMode",
            "line 3: `toolCallMode` is true, one of `manual`, `auto` is expected.",
        ),
        (
            "limits.toolRounds",
            "line 6: `toolRounds` is 0.5, a whole number from 1 on is expected.",
        ),
    ]
    .map(|(about, fault)| {
        (
            format!("config.json: {about}"),
            format!("config.json, {fault} {advice}"),
        )
    });
    assert_eq!(place.banners(), expected);
    assert_eq!(place.settings(), Settings::default());
}

#[test]
fn of_several_active_models_none_is_used() {
    let place = with_config(
        json!({ "models": [
            { "name": "a", "provider": "ollama", "active": true },
            { "name": "b", "provider": "openai", "active": true },
        ] })
        .to_string(),
    );
    let sentence = "2 models are marked active: `a` (ollama), `b` (openai). \
                    None of them is used until one is picked. Pick one with /set-model.";
    assert_eq!(
        place.banners(),
        [("active model".to_owned(), sentence.to_owned())]
    );
    assert_eq!(place.settings().active(), None);
    config::set_active_model(&place.home, &reference("b", ProviderKind::OpenAi)).unwrap();
    assert_eq!(place.banners(), []);
    let settings = place.settings();
    assert_eq!(settings.active().map(|model| &*model.name), Some("b"));
}

/// What does not parse, and what is said about it.
const MALFORMED: [(&[u8], &str); 13] = [
    (
        b"{\n  \"models\": [],\n}",
        "line 3, column 1: trailing comma. | Remove the comma after the last entry.",
    ),
    (
        "{\"a\": \"한글\" \"b\"}".as_bytes(),
        "line 1, column 12: expected `,` or `}`. | Put a comma between two entries, and a bracket at the end.",
    ),
    (
        b"\xef\xbb\xbf{}",
        "line 1, column 1: it begins with a byte order mark. | Save it as UTF-8 without a byte order mark.",
    ),
    (
        b"",
        "line 1, column 1: the file is empty. | Write {} into it, or delete it.",
    ),
    (
        b" \n",
        "line 1, column 1: the file is empty. | Write {} into it, or delete it.",
    ),
    (
        b"\n [1]",
        "line 2, column 2: it is a list, an object is expected. | Put what it holds into an object: { … }.",
    ),
    (
        b"null",
        "line 1, column 1: it is null, an object is expected. | Put what it holds into an object: { … }.",
    ),
    (
        b"{\"a\":1,\n\xff}",
        "line 2, column 1: a byte that is not UTF-8. | Save it as UTF-8.",
    ),
    (
        b"{\"a\": {",
        "line 1, column 7: the file ends too early. | Close what is open: a bracket or a quotation mark is missing.",
    ),
    (
        b"{\n // note\n}",
        "line 2, column 2: a comment. | JSON knows no comments: remove it.",
    ),
    (
        b"{'a': 1}",
        "line 1, column 2: a single quotation mark. | Write texts in \"double\" quotation marks.",
    ),
    (
        b"{\"a\": tru}",
        "line 1, column 10: a word that is none of true, false and null. | Write texts in \"double\" quotation marks.",
    ),
    (
        b"{} {}",
        "line 1, column 4: trailing characters. | Correct it there.",
    ),
];

fn expected_words(file: &str, words: &str) -> String {
    let (place, advice) = words.split_once(" | ").unwrap();
    format!("{file}, {place} The program runs without it, and nothing is saved into it. {advice}")
}

#[test]
fn a_file_that_does_not_parse_is_told_with_place_and_cure_and_left_alone() {
    for (bytes, words) in MALFORMED {
        let place = with_config(bytes);
        let words = expected_words("config.json", words);
        assert_eq!(place.banners(), [("config.json".to_owned(), words)]);
        assert_eq!(place.settings(), Settings::default());

        let refused = config::set_tool_mode(&place.home, ToolMode::Auto).unwrap_err();
        let banner = &read_settings_with(&place.home, &variables).banners[0];
        assert_eq!(refused.notice(), banner.notice);
        assert_eq!(fs::read(place.home.config()).unwrap(), bytes);
    }
}

#[test]
fn the_same_holds_for_the_file_of_servers() {
    for (bytes, words) in MALFORMED {
        let place = with_servers(bytes);
        let words = expected_words("mcp-servers.json", words);
        assert_eq!(place.banners(), [("mcp-servers.json".to_owned(), words)]);
        assert_eq!(place.servers().len(), 1, "the built-in one");
        let id = ServerId::new("humble");
        let refused = config::set_server_enabled(&place.home, &id, false).unwrap_err();
        let banner = &read_servers_with(&place.home, &variables).banners[0];
        assert_eq!(refused.notice(), banner.notice);
        assert_eq!(fs::read(place.home.servers()).unwrap(), bytes);
    }
}

#[test]
fn a_folder_or_a_circle_of_links_in_the_place_of_the_file_is_told() {
    let place = place();
    fs::create_dir(place.home.config()).unwrap();
    let words = |why: &str| {
        let sentence = format!(
            "{}/config.json cannot be read: {why}. The program runs without it, \
             and nothing is saved into it. Make it a file that you may read.",
            place.home.root().display()
        );
        sentence.replace(&format!("{}/", place.home.root().display()), "")
    };
    let mut expected = words("it is a folder");
    expected.replace_range(..1, "c");
    assert_eq!(
        place.banners(),
        [("config.json".to_owned(), expected.clone())]
    );
    let refused = config::set_tool_mode(&place.home, ToolMode::Auto).unwrap_err();
    assert!(
        matches!(refused, ConfigError::Unreadable { .. }),
        "{refused}"
    );
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("config.json", place.home.servers()).unwrap();
        fs::remove_dir(place.home.config()).unwrap();
        std::os::unix::fs::symlink("mcp-servers.json", place.home.config()).unwrap();
        assert_eq!(place.banners().len(), 2);
    }
}

#[test]
fn a_rewrite_changes_nothing_but_the_value() {
    let text = "{ \"zeta\": 1.50,\r\n\t\"models\": [\r\n\t\t{\"name\":\"a\",\"provider\":\"ollama\", \"x\": 12345678901234567890123, \"active\":true},\r\n\
                \t\t{ \"model\" : \"b\", \"provider\" : \"mistral\", \"\\u006eote\": \"\\/\" }\r\n\t], \"alpha\": null }";
    let place = with_config(text);
    config::set_active_model(&place.home, &reference("b", ProviderKind::Mistral)).unwrap();
    let expected = text
        .replace("\"active\":true", "\"active\":false")
        .replace("\"\\/\" }", "\"\\/\", \"active\": true }");
    assert_eq!(place.config_text(), expected);
    config::set_active_model(&place.home, &reference("a", ProviderKind::Ollama)).unwrap();
    config::set_tool_mode(&place.home, ToolMode::Auto).unwrap();
    let expected = text
        .replace("\"\\/\" }", "\"\\/\", \"active\": false }")
        .replace("null }", "null, \"toolCallMode\": \"auto\" }");
    assert_eq!(place.config_text(), expected);
}

#[test]
fn a_file_that_is_not_there_is_made_for_the_person_alone() {
    let place = place();
    config::set_tool_mode(&place.home, ToolMode::Auto).unwrap();
    assert_eq!(place.config_text(), "{\n  \"toolCallMode\": \"auto\"\n}\n");
    config::set_server_enabled(&place.home, &ServerId::new("humble"), false).unwrap();
    let expected = "{\n  \"mcpServers\": { \"humble\": { \"enabled\": false } }\n}\n";
    assert_eq!(place.servers_text(), expected);
    assert!(!place.server("humble").enabled);
    assert_eq!(mode_of(&place.home.config()), 0o600);
}

#[cfg(unix)]
fn mode_of(path: &std::path::Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_a_mode_stays_a_mode() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let place = place();
    let elsewhere = tempfile::tempdir().unwrap();
    let target = elsewhere.path().join("real.json");
    fs::write(&target, "{}").unwrap();
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("second.json", place.home.config()).unwrap();
    symlink(&target, place.home.root().join("second.json")).unwrap();
    config::set_tool_mode(&place.home, ToolMode::Auto).unwrap();
    assert!(place.home.config().is_symlink());
    assert!(fs::read_to_string(&target).unwrap().contains("auto"));
    assert_eq!(mode_of(&target), 0o640);
}

#[test]
fn an_unknown_model_or_server_is_refused_with_the_nearest() {
    let place = one_model(json!({ "name": "gpt-4o", "provider": "openai" }));
    let before = place.config_text();
    let fault = config::set_active_model(&place.home, &reference("gpt4o", ProviderKind::OpenAi))
        .unwrap_err();
    assert!(
        fault.to_string().ends_with("did you mean `gpt-4o`?"),
        "{fault}"
    );
    assert_eq!(place.config_text(), before);
    let fault = config::set_server_enabled(&place.home, &ServerId::new("x"), true).unwrap_err();
    assert!(
        matches!(fault, ConfigError::UnknownServer { .. }),
        "{fault}"
    );
    assert!(!place.home.servers().exists());
}

#[test]
fn two_programs_that_save_at_once_lose_nothing() {
    let tools: Vec<String> = (0..40).map(|number| format!("tool-{number}")).collect();
    let place = with_servers(r#"{"mcpServers":{"a":{"command":"x"},"b":{"command":"y"}}}"#);
    std::thread::scope(|scope| {
        for (half, id) in [
            (&tools[..20], "a"),
            (&tools[20..], "a"),
            (&tools[..20], "b"),
        ] {
            let home = &place.home;
            scope.spawn(move || {
                for tool in half {
                    config::set_tool_enabled(home, &ServerId::new(id), tool, false).unwrap();
                }
            });
        }
    });
    assert_eq!(place.server("a").tools_off.len(), 40);
    assert_eq!(place.server("b").tools_off.len(), 20);
    for tool in &tools {
        config::set_tool_enabled(&place.home, &ServerId::new("a"), tool, true).unwrap();
    }
    assert!(place.server("a").tools_off.is_empty());
}

#[test]
fn a_lock_that_is_held_for_long_is_an_error_and_no_hang() {
    let place = with_config("{}");
    let _held = humble::files::Lock::beside(&place.home.config()).unwrap();
    let fault = config::set_tool_mode(&place.home, ToolMode::Auto).unwrap_err();
    assert!(
        fault.to_string().contains("another program holds"),
        "{fault}"
    );
    assert_eq!(place.config_text(), "{}");
}

#[test]
fn servers_are_understood_in_every_accepted_form() {
    let place = with_servers(
        r#"{ "mcpServers": {
            "files": { "name": "ignored", "type": "command", "description": "d", "command": "npx",
                       "args": ["-p", "${PORT}", "${x:-1}"], "env": { "A": "${MINE}" }, "cwd": "/w",
                       "inheritEnv": ["FOO"], "startupTimeoutSeconds": 2.5, "toolTimeoutSeconds": 9, "toolsOff": ["rm"] },
            "docs": { "url": "https://example.com/sse", "env": { "Authorization": "Bearer x" } },
            "wiki": { "url": "http://localhost:${PORT}/mcp", "transport": "http", "enabled": false },
            "old":  { "type": "sse", "url": "https://e/", "env": { "a": "1" }, "headers": { "A": "2" } },
            "new":  { "type": "streamable-http", "transport": "http", "url": "https://e/" },
            "all":  { "type": "stdio", "command": "c", "inheritEnv": true },
            "humble": { "toolsOff": [] }
        } }"#,
    );
    assert_eq!(place.banners(), []);
    let servers = place.servers();
    let ids: Vec<_> = servers.iter().map(|server| server.id.as_str()).collect();
    assert_eq!(
        ids,
        ["humble", "files", "docs", "wiki", "old", "new", "all"]
    );
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let remote = |url: &str, transport, headers| Launch::Remote {
        url: url.to_owned(),
        transport,
        headers,
    };
    let stdio = |command: &str, inherit| Launch::Stdio {
        command: command.to_owned(),
        args: Vec::new(),
        env: Vec::new(),
        cwd: None,
        inherit,
    };
    let files = ServerConfig {
        id: ServerId::new("files"),
        description: Some("d".to_owned()),
        enabled: true,
        launch: Launch::Stdio {
            command: "npx".to_owned(),
            args: ["-p", "8080", "${x:-1}"].map(str::to_owned).to_vec(),
            env: vec![pair("A", "sk-mine")],
            cwd: Some("/w".into()),
            inherit: Inherit::Also(vec!["FOO".to_owned()]),
        },
        tools_off: ["rm".to_owned()].into(),
        startup_timeout: Duration::from_millis(2500),
        tool_timeout: Duration::from_secs(9),
    };
    assert_eq!(servers[1], files);
    let headers = vec![pair("Authorization", "Bearer x")];
    let expected = [
        Launch::BuiltIn,
        files.launch,
        remote("https://example.com/sse", RemoteTransport::Guess, headers),
        remote("http://localhost:8080/mcp", RemoteTransport::Http, vec![]),
        remote("https://e/", RemoteTransport::Sse, vec![pair("A", "2")]),
        remote("https://e/", RemoteTransport::Http, vec![]),
        stdio("c", Inherit::Everything),
    ];
    let launches: Vec<_> = servers.iter().map(|server| server.launch.clone()).collect();
    assert_eq!(launches, expected);
    assert!(!servers[3].enabled);
    let secrets = config::server_secrets(&servers);
    assert_eq!(secrets, [Secret::new("Bearer x"), Secret::new("x")]);
}

#[test]
fn a_misconfigured_server_is_listed_with_the_reason() {
    let cases = [
        (json!({}), "it has neither `command` nor `url`; give one"),
        (
            json!({ "command": "c", "url": "http://h" }),
            "it has both `command` and `url`; give one",
        ),
        (json!([]), "the entry is a list, an object is expected"),
        (
            json!({ "url": "http://h", "transport": "htpp" }),
            "`transport` is `htpp`, one of `stdio`, `command`, `sse`, `http`, `streamable-http` is expected; did you mean `http`?",
        ),
        (
            json!({ "url": "http://h", "type": "stdio" }),
            "it has a `url`, but its `type` or `transport` needs a `command`",
        ),
        (
            json!({ "command": "c", "args": "x" }),
            "`args` is a text, a list of texts is expected",
        ),
        (
            json!({ "command": "c", "args": [1] }),
            "`args` is a list, a list of texts is expected",
        ),
        (
            json!({ "command": "c", "env": { "A": 1 } }),
            "`A` in `env` is a number, a text is expected",
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
            "`a b` cannot be the name of a header",
        ),
        (
            json!({ "command": "c", "enabled": "no" }),
            "`enabled` is a text, true or false is expected",
        ),
        (
            json!({ "command": "c", "toolTimeoutSeconds": -1 }),
            "`toolTimeoutSeconds` is -1, a number of seconds above 0, at most 86400, is expected",
        ),
        (json!({ "command": " " }), "`command` is empty"),
    ];
    for (entry, why) in cases {
        let good = json!({ "command": "good" });
        let text = json!({ "mcpServers": { "bad": entry, "good": good } }).to_string();
        let place = with_servers(text);
        let why = why.to_owned();
        assert_eq!(place.server("bad").launch, Launch::Misconfigured { why });
        let good = place.server("good").launch;
        assert!(matches!(good, Launch::Stdio { .. }), "{good:?}");
    }
}

#[test]
fn the_name_of_the_built_in_server_belongs_to_it() {
    let place = with_servers(r#"{"mcpServers":{"a":{"command":"x"},"humble":{"url":"http://h"}}}"#);
    let servers = place.servers();
    let why = "`humble` is the built-in server; give this one another name".to_owned();
    assert_eq!(servers[0].launch, Launch::Misconfigured { why });
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
        let place = with_servers(before);
        assert!(matches!(place.server("a").launch, Launch::Stdio { .. }));
        config::set_server_enabled(&place.home, &ServerId::new("a"), false).unwrap();
        config::set_server_enabled(&place.home, &ServerId::new("humble"), false).unwrap();
        assert_eq!(place.servers_text(), after);
        assert_eq!(place.servers().len(), 2);
        assert!(place.servers().iter().all(|server| !server.enabled));
    }
}

#[test]
fn the_first_run_makes_the_folders_and_the_prompt_and_later_runs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path().join("new/home"));
    assert_eq!(home.prepare(), []);
    let prompt = include_bytes!("../assets/default_system_prompt.md");
    assert_eq!(fs::read(home.system_prompt()).unwrap(), prompt);
    assert_eq!(mode_of(&home.system_prompt()), 0o600);
    for folder in [home.sessions(), home.logs(), home.cache()] {
        assert_eq!(mode_of(&folder), 0o700);
    }
    assert_eq!(mode_of(home.root()), 0o700);
    fs::remove_file(home.system_prompt()).unwrap();
    assert_eq!(home.prepare(), []);
    assert!(!home.system_prompt().exists(), "deleted stays deleted");
    assert_eq!(read_system_prompt(&home).value, "");
}

#[test]
fn a_prompt_that_is_there_already_is_kept() {
    let place = place();
    fs::write(place.home.system_prompt(), "mine\n").unwrap();
    assert_eq!(place.home.prepare(), []);
    assert_eq!(read_system_prompt(&place.home).value, "mine\n");
}

#[test]
fn a_home_that_cannot_be_written_is_a_banner() {
    let place = place();
    let file = place.home.root().join("file");
    fs::write(&file, "").unwrap();
    for root in [file.clone(), file.join("below")] {
        let banners = Home::at(&root).prepare();
        assert_eq!(banners.len(), 1);
        let words = banners[0].notice.sentence();
        assert!(words.contains("is a file"), "{words}");
    }
}

#[test]
fn a_prompt_that_is_no_text_or_teaches_an_older_form_is_told() {
    let place = place();
    fs::write(place.home.system_prompt(), b"a\nb\xff").unwrap();
    let read = read_system_prompt(&place.home);
    assert_eq!(read.value, "");
    let words = read.banners[0].notice.sentence();
    assert!(words.contains("line 2 is not UTF-8"), "{words}");
    fs::write(place.home.system_prompt(), "use chooseFunction").unwrap();
    let read = read_system_prompt(&place.home);
    assert_eq!(read.value, "use chooseFunction");
    assert_eq!(read.banners[0].cause, "system_prompt.txt");
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let object = prop::collection::vec((any::<String>(), inner.clone()), 0..4);
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Value::from),
            object.prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn unknown_keys_and_their_order_survive_any_edit(
        members in prop::collection::vec(("[a-c\"\\\\한]{0,3}", json_value()), 0..6),
        at in 0_usize..6,
        pretty in any::<bool>(),
        on in any::<bool>(),
    ) {
        let mut members: Vec<(String, Value)> = members;
        let server = json!({ "command": "x", "later": { "한": [1.5, null] } });
        members.insert(at.min(members.len()), ("mcpServers".to_owned(), json!({ "s": server })));
        let root = Value::Object(members.into_iter().collect());
        let text = if pretty { serde_json::to_string_pretty(&root).unwrap() } else { root.to_string() };
        let place = with_servers(&text);
        let id = ServerId::new("s");
        config::set_server_enabled(&place.home, &id, on).unwrap();
        config::set_tool_enabled(&place.home, &id, "t", false).unwrap();
        config::set_tool_mode(&place.home, ToolMode::Auto).unwrap();
        config::set_server_enabled(&place.home, &ServerId::new("humble"), on).unwrap();
        let changed = place.servers_text();
        let mut expected: Value = serde_json::from_str(&text).unwrap();
        expected["mcpServers"]["s"]["enabled"] = json!(on);
        expected["mcpServers"]["s"]["toolsOff"] = json!(["t"]);
        expected["mcpServers"]["humble"] = json!({ "enabled": on });
        let found: Value = serde_json::from_str(&changed).unwrap();
        prop_assert_eq!(found.to_string(), expected.to_string());
    }
}
