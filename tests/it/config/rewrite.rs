//! Editing one setting leaves the rest of the file unchanged.

use super::*;
use humble::config::NotesFolder;
use humble::domain::Dialect;
use proptest::prelude::*;

#[test]
fn a_rewrite_changes_only_the_value() {
    let text = "{ \"zeta\": 1.50,\r\n\t\"models\": [\r\n\t\t{\"name\":\"a\",\"provider\":\"ollama\", \"x\": 12345678901234567890123, \"active\":true},\r\n\
                \t\t{ \"model\" : \"b\", \"provider\" : \"mistral\", \"\\u006eote\": \"\\/\" }\r\n\t], \"alpha\": null }";
    let fixture = with_config(text);
    config::set_active_model(&fixture.home, &reference("b", ProviderKind::Mistral)).unwrap();
    let expected = text
        .replace("\"active\":true", "\"active\":false")
        .replace("\"\\/\" }", "\"\\/\", \"active\": true }");
    assert_eq!(fixture.config_text(), expected);
    config::set_active_model(&fixture.home, &reference("a", ProviderKind::Ollama)).unwrap();
    config::set_tool_mode(&fixture.home, ToolMode::Auto).unwrap();
    let expected = text
        .replace("\"\\/\" }", "\"\\/\", \"active\": false }")
        .replace("null }", "null, \"toolCallMode\": \"auto\" }");
    assert_eq!(fixture.config_text(), expected);
}

#[test]
fn setting_a_dialect_changes_only_that_models_entry() {
    let text = "{ \"zeta\": 1.50,\r\n\"models\": [ 7,\r\n\t{\"name\":\"a\",\"provider\":\"ollama\",\"toolCalls\":\"auto\",\"x\":1e3},\
                \r\n\t{\"model\":\"a\",\"provider\":\"mistral\",\"note\":\"\\/한\"} ] }";
    let fixture = with_config(text);
    let ollama = reference("a", ProviderKind::Ollama);
    config::set_tool_calls(&fixture.home, &ollama, Dialect::Xml).unwrap();
    let expected = text.replace("\"auto\"", "\"xml\"");
    assert_eq!(fixture.config_text(), expected);
    let mistral = reference("a", ProviderKind::Mistral);
    config::set_tool_calls(&fixture.home, &mistral, Dialect::Prompt).unwrap();
    let expected = expected.replace("한\"}", "한\",\"toolCalls\": \"prompt\"}");
    assert_eq!(fixture.config_text(), expected);
    let unknown = reference("aa", ProviderKind::Ollama);
    let error = config::set_tool_calls(&fixture.home, &unknown, Dialect::Xml).unwrap_err();
    assert!(error.to_string().ends_with("did you mean `a`?"), "{error}");
    assert_eq!(fixture.config_text(), expected);
}

#[test]
fn the_notes_folder_is_stored_next_to_other_notes_settings() {
    let folder = |path: &str| NotesFolder {
        path: path.into(),
        is_new: false,
    };
    let text = "{ \"notes\": {\r\n\t\"embedModel\": \"mini\", \"vault\": \"~/old\" }, \"x\": 1e3 }";
    let fixture = with_config(text);
    config::set_notes_vault(&fixture.home, &folder("/노트/a \"b\"")).unwrap();
    let expected = text.replace("~/old", "/노트/a \\\"b\\\"");
    assert_eq!(fixture.config_text(), expected);
    for text in ["{}", "{ \"notes\": null }"] {
        let fixture = with_config(text);
        config::set_notes_vault(&fixture.home, &folder("/notes")).unwrap();
        let expected = serde_json::json!({ "notes": { "vault": "/notes" } });
        let stored: serde_json::Value = serde_json::from_str(&fixture.config_text()).unwrap();
        assert_eq!(stored, expected, "{text}");
    }
    let fixture = with_config("{ \"notes\": \"~/notes\" }");
    let error = config::set_notes_vault(&fixture.home, &folder("/notes")).unwrap_err();
    assert!(error.to_string().contains("`notes` is"), "{error}");
    assert_eq!(fixture.config_text(), "{ \"notes\": \"~/notes\" }");
}

#[cfg(unix)]
#[test]
fn a_notes_folder_is_resolved_to_its_real_path() {
    let home = tempfile::TempDir::new().unwrap();
    let root = fs::canonicalize(home.path()).unwrap();
    fs::create_dir(root.join("real")).unwrap();
    fs::create_dir(root.join("space ")).unwrap();
    fs::write(root.join("file"), "").unwrap();
    std::os::unix::fs::symlink(root.join("real"), root.join("link")).unwrap();
    std::os::unix::fs::symlink(root.join("nowhere"), root.join("broken")).unwrap();
    let find = |name: &str| NotesFolder::find(&format!("{}/{name}", root.display()));
    let found = |name: &str, is_new| {
        let path = root.join(name);
        Ok(NotesFolder { path, is_new })
    };
    assert_eq!(find("link"), found("real", false));
    assert_eq!(find("real/../real/"), found("real", false));
    assert_eq!(find("link/new"), found("real/new", true));
    for (name, why) in [
        ("file", "it is not a folder"),
        ("file/x", "part of the path is a file, not a folder"),
        ("a/b", "the folder does not exist"),
        ("broken", "the folder does not exist"),
        ("new/..", "the folder does not exist"),
        ("space /.", "config.json cannot contain this path"),
    ] {
        let error = find(name).unwrap_err().what;
        assert!(
            error.ends_with(&format!("cannot be used: {why}.")),
            "{name}: {error}"
        );
    }
}

#[test]
fn a_new_settings_file_is_private_to_the_user() {
    let fixture = config_fixture();
    config::set_tool_mode(&fixture.home, ToolMode::Auto).unwrap();
    assert_eq!(
        fixture.config_text(),
        "{\n  \"toolCallMode\": \"auto\"\n}\n"
    );
    config::set_server_enabled(&fixture.home, &ServerId::new("humble"), false).unwrap();
    let expected = "{\n  \"mcpServers\": { \"humble\": { \"enabled\": false } }\n}\n";
    assert_eq!(fixture.servers_text(), expected);
    assert!(!fixture.server("humble").enabled);
    assert!(has_mode(&fixture.home.config(), 0o600));
}

#[cfg(unix)]
#[test]
fn a_symlink_is_kept_and_its_target_becomes_private() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let fixture = config_fixture();
    let elsewhere = tempfile::tempdir().unwrap();
    let target = elsewhere.path().join("real.json");
    fs::write(&target, "{}").unwrap();
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("second.json", fixture.home.config()).unwrap();
    symlink(&target, fixture.home.root().join("second.json")).unwrap();
    config::set_tool_mode(&fixture.home, ToolMode::Auto).unwrap();
    assert!(fixture.home.config().is_symlink());
    assert!(fs::read_to_string(&target).unwrap().contains("auto"));
    assert!(has_mode(&target, 0o600));
}

#[test]
fn an_unknown_model_or_server_is_rejected() {
    let fixture = one_model(json!({ "name": "gpt-4o", "provider": "openai" }));
    let before = fixture.config_text();
    let error = config::set_active_model(&fixture.home, &reference("gpt4o", ProviderKind::OpenAi))
        .unwrap_err();
    assert!(
        error.to_string().ends_with("did you mean `gpt-4o`?"),
        "{error}"
    );
    assert_eq!(fixture.config_text(), before);
    let error = config::set_server_enabled(&fixture.home, &ServerId::new("x"), true).unwrap_err();
    assert!(
        matches!(error, ConfigError::UnknownServer { .. }),
        "{error}"
    );
    assert!(!fixture.home.servers().exists());
}

#[test]
fn concurrent_saves_lose_nothing() {
    let tools: Vec<String> = (0..40).map(|number| format!("tool-{number}")).collect();
    let fixture = with_servers(r#"{"mcpServers":{"a":{"command":"x"},"b":{"command":"y"}}}"#);
    std::thread::scope(|scope| {
        for (tools_of_thread, id) in [
            (&tools[..20], "a"),
            (&tools[20..], "a"),
            (&tools[..20], "b"),
        ] {
            let home = &fixture.home;
            scope.spawn(move || {
                for tool in tools_of_thread {
                    config::set_tool_enabled(home, &ServerId::new(id), tool, false).unwrap();
                }
            });
        }
    });
    assert_eq!(fixture.server("a").disabled_tools.len(), 40);
    assert_eq!(fixture.server("b").disabled_tools.len(), 20);
    for tool in &tools {
        config::set_tool_enabled(&fixture.home, &ServerId::new("a"), tool, true).unwrap();
    }
    assert!(fixture.server("a").disabled_tools.is_empty());
}

#[test]
fn a_long_held_lock_is_an_error_instead_of_a_hang() {
    let fixture = with_config("{}");
    let _lock = humble::files::FileLock::acquire_for(&fixture.home.config()).unwrap();
    let error = config::set_tool_mode(&fixture.home, ToolMode::Auto).unwrap_err();
    assert!(
        error.to_string().contains("another program has locked"),
        "{error}"
    );
    assert_eq!(fixture.config_text(), "{}");
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
    fn unknown_keys_of_the_server_file_and_their_order_survive_any_edit(
        members in prop::collection::vec(("[a-c\"\\\\한]{0,3}", json_value()), 0..6),
        position in 0_usize..6,
        is_pretty in any::<bool>(),
        is_enabled in any::<bool>(),
    ) {
        let mut members: Vec<(String, Value)> = members;
        let server = json!({ "command": "x", "later": { "한": [1.5, null] } });
        members.insert(position.min(members.len()), ("mcpServers".to_owned(), json!({ "s": server })));
        let root = Value::Object(members.into_iter().collect());
        let text = if is_pretty { serde_json::to_string_pretty(&root).unwrap() } else { root.to_string() };
        let fixture = with_servers(&text);
        let id = ServerId::new("s");
        config::set_server_enabled(&fixture.home, &id, is_enabled).unwrap();
        config::set_tool_enabled(&fixture.home, &id, "t", false).unwrap();
        config::set_tool_mode(&fixture.home, ToolMode::Auto).unwrap();
        config::set_server_enabled(&fixture.home, &ServerId::new("humble"), is_enabled).unwrap();
        let changed = fixture.servers_text();
        let mut expected: Value = serde_json::from_str(&text).unwrap();
        expected["mcpServers"]["s"]["enabled"] = json!(is_enabled);
        expected["mcpServers"]["s"]["toolsOff"] = json!(["t"]);
        expected["mcpServers"]["humble"] = json!({ "enabled": is_enabled });
        let actual: Value = serde_json::from_str(&changed).unwrap();
        prop_assert_eq!(actual.to_string(), expected.to_string());
    }
}
