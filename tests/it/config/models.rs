//! `config.json`: models, API keys, screen settings, log level, tool mode and limits.

use super::*;
use humble::config::UiSettings;
use humble::domain::model::{ApiKey, Limits, Secret, ToolRole};
use humble::domain::{Dialect, SecretRegistry, Think};

#[test]
fn missing_files_yield_defaults_without_banners() {
    let fixture = config_fixture();
    assert_eq!(fixture.settings(), Settings::default());
    assert_eq!(fixture.banners(), []);
    assert_eq!(fixture.servers().len(), 1);
}

#[test]
fn screen_settings_are_read() {
    let fixture = with_config(
        r#"{ "ui": { "ascii": true, "keyboardProtocol": "off", "linear": true, "sidebar": "closed" } }"#,
    );
    assert_eq!(fixture.banners(), []);
    let ui = UiSettings {
        is_ascii: true,
        uses_keyboard_protocol: false,
        is_sidebar_open: false,
        is_linear: true,
    };
    assert_eq!(fixture.settings().ui, ui);
    let invalid = with_config(r#"{ "ui": { "ascii": "yes", "sidebar": "left" } }"#);
    assert_eq!(invalid.settings().ui, UiSettings::default());
    assert_eq!(invalid.banners().len(), 2);
}

#[test]
fn models_and_settings_are_read_from_config_json() {
    let fixture = with_config(
        r#"{
  "models": [
    { "name": "gpt-4o", "provider": "openai", "apiKey": "sk-...", "active": true },
    { "name": "qwen3:4b", "provider": "ollama", "baseUrl": "http://localhost:11434/", "keepAlive": "5m" },
    { "name": "sonnet", "model": "claude-sonnet-4-5", "provider": "anthropic", "apiKey": "${MINE}",
      "contextLength": 8192, "think": "high", "toolCalls": "xml", "toolRole": "user",
      "options": { "top_k": 5, "seed": 7 }, "caFile": "ca.pem" }
  ],
  "logLevel": "debug",
  "toolCallMode": "auto",
  "limits": { "toolRounds": 3, "errorsPerTurn": 2, "idleSeconds": 9 },
  "ui": {}, "future": true
}"#,
    );
    assert_eq!(fixture.banners(), []);
    let settings = fixture.settings();
    assert_eq!(settings.log_level, tracing::Level::DEBUG);
    assert_eq!(settings.tool_mode, ToolMode::Auto);
    let limits = Limits {
        tool_rounds: 3,
        errors_per_turn: 2,
        idle_seconds: 9,
    };
    assert_eq!(settings.limits, limits);
    assert_eq!(
        settings.active_model().map(|model| &*model.name),
        Some("gpt-4o")
    );
    let [gpt, qwen, sonnet] = &settings.models[..] else {
        panic!("expected three models: {settings:?}")
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
    assert_eq!(sonnet.tool_role, Some(ToolRole::User));
    assert_eq!(qwen.keep_alive, Some(json!("5m")));
    let options = Value::Object(sonnet.options.clone());
    assert_eq!(options.to_string(), r#"{"top_k":5,"seed":7}"#);
    assert_eq!(sonnet.ca_file, Some(fixture.home.root().join("ca.pem")));
    let secrets = SecretRegistry::default();
    secrets.add(settings.config_secrets());
    assert_eq!(
        secrets.redact("<sk-...> <sk-mine>"),
        "<[hidden]> <[hidden]>"
    );
}

#[test]
fn an_api_key_comes_from_its_configured_source_and_is_not_used_for_another_server() {
    let missing = |name: &str| ApiKey::MissingVariable(name.to_owned());
    let known = |key: &str| ApiKey::Known(Secret::new(key));
    let unusable = |reason: &str| ApiKey::Unusable(reason.to_owned());
    let url = "https://other.example";
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
            json!({ "provider": "openai", "apiKey": "${MULTILINE}" }),
            unusable("the key contains a line break"),
        ),
        (
            json!({ "provider": "openai", "apiKey": "" }),
            unusable("the key is empty"),
        ),
        (
            json!({ "provider": "openai", "apiKey": "키" }),
            unusable("the key contains a non-ASCII character"),
        ),
        (
            json!({ "provider": "openai", "apiKey": "${sk-oops}" }),
            unusable("`${…}` does not contain a variable name"),
        ),
        (json!({ "provider": "ollama", "apiKey": "k" }), known("k")),
    ];
    for (mut entry, expected) in cases {
        entry["name"] = json!("m");
        let fixture = one_model(entry.clone());
        assert_eq!(fixture.settings().models[0].api_key, expected, "{entry}");
    }
}

#[test]
fn an_invalid_model_entry_is_reported_and_the_others_are_used() {
    let cases = [
        (json!("text"), "it is a string, expected an object."),
        (
            json!({ "provider": "openai" }),
            "it has neither `name` nor `model`; give at least one.",
        ),
        (
            json!({ "name": "m", "provider": "opnai" }),
            "`provider` is `opnai`, expected one of `ollama`, `openai`, `mistral`, `anthropic`; did you mean `openai`?",
        ),
        (
            json!({ "name": "m" }),
            "it has no `provider`; expected one of `ollama`, `openai`, `mistral`, `anthropic`.",
        ),
        (
            json!({ "name": 5, "provider": "openai" }),
            "`name` is 5, expected a string.",
        ),
        (
            json!({ "name": "m", "provider": "openai", "apiKey": ["sk-secret"] }),
            "`apiKey` is a list, expected a string.",
        ),
        (
            json!({ "provider": "opnai", "name": [], "think": "hihg", "baseUrl": "ftp://h", "apiKey": 1 }),
            "`name` is a list, expected a string. \
             `provider` is `opnai`, expected one of `ollama`, `openai`, `mistral`, `anthropic`; did you mean `openai`? \
             `baseUrl` begins with `ftp://`, expected `http://` or `https://`. \
             `apiKey` is 1, expected a string. \
             `think` is `hihg`, expected one of `true`, `false`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`; did you mean `high`?",
        ),
        (
            json!({ "name": "m", "provider": "openai", "baseUrl": "api.example.com" }),
            "`baseUrl` has no scheme; start it with `https://` or `http://`.",
        ),
    ];
    for (entry, problem) in cases {
        let good = json!({ "name": "good", "provider": "ollama" });
        let text = json!({ "models": [entry, good] }).to_string();
        let fixture = with_config(text);
        let name = match entry.get("name").and_then(Value::as_str) {
            Some(name) => format!(" (`{name}`)"),
            None => String::new(),
        };
        let message = format!(
            "config.json, line 1: model 1{name}: {problem} \
             Correct it in the file; until then this model is not used."
        );
        let expected = ("config.json: model 1".to_owned(), message);
        assert_eq!(fixture.banners(), [expected]);
        let settings = fixture.settings();
        assert_eq!(settings.models[0].name, "good");
        assert!(settings.has_model_entries);
    }
}

#[test]
fn only_an_invalid_optional_field_of_a_model_is_ignored() {
    let cases = [
        (
            json!({ "contextLength": 0 }),
            "`contextLength` is 0, expected a whole number of at least 1.",
        ),
        (
            json!({ "contextLength": "8k" }),
            "`contextLength` is a string, expected a whole number of at least 1.",
        ),
        (
            json!({ "think": "hihg" }),
            "`think` is `hihg`, expected one of `true`, `false`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`; did you mean `high`?",
        ),
        (
            json!({ "toolCalls": "natve" }),
            "`toolCalls` is `natve`, expected one of `auto`, `native`, `prompt`, `xml`; did you mean `native`?",
        ),
        (
            json!({ "toolRole": "system" }),
            "`toolRole` is `system`, expected one of `tool`, `user`.",
        ),
        (
            json!({ "keepAlive": true }),
            "`keepAlive` must be a string such as \"5m\" or a number of seconds.",
        ),
        (
            json!({ "options": [] }),
            "`options` is a list, expected an object.",
        ),
        (
            json!({ "active": "yes" }),
            "`active` is a string, expected true or false.",
        ),
        (json!({ "caFile": 1 }), "`caFile` is 1, expected a string."),
        (
            json!({ "active": 1, "options": 2 }),
            "`options` is 2, expected an object. `active` is 1, expected true or false.",
        ),
    ];
    let valid = json!({ "name": "m", "provider": "openai" });
    let expected_model = one_model(valid.clone()).settings().models.remove(0);
    for (fields, problems) in cases {
        let mut entry = valid.clone();
        let fields = fields.as_object().unwrap().clone();
        let ignored = if fields.len() == 1 {
            "this field"
        } else {
            "these fields"
        };
        entry.as_object_mut().unwrap().extend(fields);
        let fixture = one_model(entry);
        let message = format!(
            "config.json, line 1: model 1 (`m`): {problems} \
             Correct it in the file; the model is used without {ignored}."
        );
        let expected = ("config.json: model 1".to_owned(), message);
        assert_eq!(fixture.banners(), [expected]);
        assert_eq!(
            fixture.settings().models,
            std::slice::from_ref(&expected_model)
        );
    }
}

#[test]
fn a_malformed_variable_reference_is_not_used_as_a_key() {
    let reason = "a variable reference must be exactly `${NAME}`";
    for malformed in [
        "${",
        "${MINE",
        "Bearer ${MINE}",
        "${MINE} ",
        "${MINE}${MINE}x",
    ] {
        let fixture = one_model(json!({ "name": "m", "provider": "openai", "apiKey": malformed }));
        let key = &fixture.settings().models[0].api_key;
        assert_eq!(*key, ApiKey::Unusable(reason.to_owned()), "{malformed}");
    }
}

#[test]
fn an_invalid_root_setting_is_reported_and_the_default_applies() {
    let fixture = with_config(
        "{\n  \"logLevel\": \"inof\",\n  \"toolCallMode\": true,\n  \"models\": {},\n\
         \"limits\": {\n    \"toolRounds\": 0.5 }\n}",
    );
    let advice = "Correct it in the file; the rest of the file is used.";
    let expected = [
        ("models", "line 4: `models` is an object, expected a list."),
        (
            "logLevel",
            "line 2: `logLevel` is `inof`, expected one of `debug`, `info`, `warn`, `error`; did you mean `info`?",
        ),
        (
            "toolCallMode",
            "line 3: `toolCallMode` is true, expected one of `manual`, `auto`.",
        ),
        (
            "limits.toolRounds",
            "line 6: `toolRounds` is 0.5, expected a whole number of at least 1.",
        ),
    ]
    .map(|(setting, problem)| {
        (
            format!("config.json: {setting}"),
            format!("config.json, {problem} {advice}"),
        )
    });
    assert_eq!(fixture.banners(), expected);
    assert_eq!(fixture.settings(), Settings::default());
}

#[test]
fn several_active_models_select_none_until_the_user_chooses() {
    let fixture = with_config(
        json!({ "models": [
            { "name": "a", "provider": "ollama", "active": true },
            { "name": "b", "provider": "openai", "active": true },
        ] })
        .to_string(),
    );
    let message = "2 models are marked active: `a` (ollama), `b` (openai). \
                    None is used until you choose one. [SelectModel]";
    assert_eq!(
        fixture.banners(),
        [("active model".to_owned(), message.to_owned())]
    );
    assert_eq!(fixture.settings().active_model(), None);
    config::set_active_model(&fixture.home, &reference("b", ProviderKind::OpenAi)).unwrap();
    assert_eq!(fixture.banners(), []);
    let settings = fixture.settings();
    assert_eq!(settings.active_model().map(|model| &*model.name), Some("b"));
}

#[test]
fn values_written_by_humble_ai_cli_are_read_in_any_case_and_preserved() {
    let text = r#"{
        "models": [
            { "name": "a", "provider": "Ollama", "active": true, "toolCalls": "XML", "think": "High" },
            { "name": "b", "provider": "OPENAI", "apiKey": "sk-1234" }
        ],
        "logLevel": "DEBUG", "toolCallMode": "Auto"
    }"#;
    let fixture = with_config(text);
    assert_eq!(fixture.banners(), []);
    let settings = fixture.settings();
    let providers: Vec<_> = settings.models.iter().map(|model| model.provider).collect();
    assert_eq!(providers, [ProviderKind::Ollama, ProviderKind::OpenAi]);
    assert_eq!(settings.models[0].dialect, Dialect::Xml);
    assert_eq!(settings.models[0].think, Some(Think::High));
    assert_eq!(settings.log_level, tracing::Level::DEBUG);
    assert_eq!(settings.tool_mode, ToolMode::Auto);
    config::set_tool_mode(&fixture.home, ToolMode::Auto).unwrap();
    let a = reference("a", ProviderKind::Ollama);
    config::set_tool_calls(&fixture.home, &a, Dialect::Xml).unwrap();
    assert_eq!(fixture.config_text(), text);
    config::set_active_model(&fixture.home, &reference("b", ProviderKind::OpenAi)).unwrap();
    let expected = text
        .replace("\"active\": true", "\"active\": false")
        .replace("\"sk-1234\" }", "\"sk-1234\", \"active\": true }");
    assert_eq!(fixture.config_text(), expected);
    config::set_tool_mode(&fixture.home, ToolMode::Manual).unwrap();
    assert_eq!(
        fixture.config_text(),
        expected.replace("\"Auto\"", "\"manual\"")
    );
}
