//! Unusual files and folders: named pipes, links, CRLF line endings, permissions that are too wide
//! or too narrow, and outdated system prompts.

use super::*;
use humble::config::{ConfigLoad, outdated_system_prompt, replace_system_prompt};
use std::os::unix::fs::{PermissionsExt, symlink};

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn causes(home: &Home) -> Vec<String> {
    let banners = ConfigLoad::from_files(home).banners.into_iter();
    banners.map(|banner| banner.cause.to_string()).collect()
}

#[test]
fn a_named_pipe_instead_of_a_file_is_reported_without_blocking() {
    let fixture = config_fixture();
    fs::create_dir(fixture.home.personas()).unwrap();
    let persona = fixture.home.personas().join("p.md");
    let files = [
        fixture.home.config(),
        fixture.home.servers(),
        fixture.home.system_prompt(),
        persona,
    ];
    for file in &files {
        let mode = rustix::fs::Mode::RWXU;
        rustix::fs::mkfifoat(rustix::fs::CWD, file, mode).unwrap();
    }
    let load = ConfigLoad::from_files(&fixture.home);
    let causes: Vec<_> = load
        .banners
        .iter()
        .map(|banner| banner.cause.to_string())
        .collect();
    assert_eq!(
        causes,
        ["config.json", "mcp-servers.json", "system_prompt.txt"]
    );
    let why = "it is not a regular file";
    assert!(
        load.banners
            .iter()
            .all(|banner| notice_text(&banner.notice).contains(why))
    );
    assert_eq!(load.snapshot.personas[0].text, Err(why.to_owned()));
    let result = config::set_tool_mode(&fixture.home, ToolMode::Auto);
    assert!(matches!(result, Err(ConfigError::Unreadable { .. })));
}

#[test]
fn crlf_line_endings_are_accepted() {
    let fixture = with_config("{\r\n  \"toolCallMode\": \"auto\",\r\n  \"logLevel\": 5\r\n}\r\n");
    assert_eq!(fixture.settings().tool_mode, ToolMode::Auto);
    let (_, text) = fixture.banners().remove(0);
    assert!(
        text.starts_with("config.json, line 3: `logLevel` is 5"),
        "{text}"
    );
    config::set_tool_mode(&fixture.home, ToolMode::Manual).unwrap();
    let expected = "{\r\n  \"toolCallMode\": \"manual\",\r\n  \"logLevel\": 5\r\n}\r\n";
    assert_eq!(fixture.config_text(), expected);
}

#[test]
fn a_symlinked_home_is_followed() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("real")).unwrap();
    symlink("real", folder.path().join("link")).unwrap();
    let home = Home::at(folder.path().join("link"));
    assert_eq!(home.prepare(), []);
    config::set_tool_mode(&home, ToolMode::Auto).unwrap();
    assert!(folder.path().join("real/config.json").exists());
    assert!(folder.path().join("link").is_symlink());
    // A dangling link is reported.
    symlink("nowhere/at/all", folder.path().join("dangling")).unwrap();
    let banners = Home::at(folder.path().join("dangling")).prepare();
    let text = notice_text(&banners[0].notice);
    assert!(text.contains("is not writable"), "{text}");
}

#[test]
fn a_relative_home_is_resolved_against_the_working_folder() {
    let home = Home::resolve(Some("some/where".into())).unwrap();
    let current = std::env::current_dir().unwrap();
    assert_eq!(home.root(), current.join("some/where"));
}

#[test]
fn an_unwritable_home_is_reported() {
    // Not even root can create files in /proc.
    let home = Home::at("/proc/self/humble");
    let text = notice_text(&home.prepare()[0].notice);
    assert!(text.contains("settings are not saved"), "{text}");
    let error = config::set_tool_mode(&home, ToolMode::Auto).unwrap_err();
    assert!(matches!(error, ConfigError::Unwritable { .. }), "{error}");
}

#[test]
fn world_readable_api_keys_are_reported_and_file_modes_are_not_changed() {
    let fixture = one_model(json!({ "name": "m", "provider": "openai", "apiKey": "sk-12345678" }));
    let config = fixture.home.config();
    set_mode(fixture.home.root(), 0o755);
    set_mode(&config, 0o644);
    let reported = causes(&fixture.home);
    // If the folder above the home is private, other users cannot reach the file.
    let parent = fixture.home.root().parent().unwrap().metadata().unwrap();
    let is_open = parent.permissions().mode() & 0o001 != 0;
    assert_eq!(
        reported.contains(&"permissions".to_owned()),
        is_open,
        "{reported:?}"
    );
    assert!(has_mode(&config, 0o644) && has_mode(fixture.home.root(), 0o755));
    set_mode(fixture.home.root(), 0o700);
    assert_eq!(causes(&fixture.home), [""; 0]);
    set_mode(fixture.home.root(), 0o755);
    set_mode(&config, 0o640);
    assert_eq!(causes(&fixture.home), [""; 0]);
    // A file without keys may be readable by others.
    set_mode(&config, 0o644);
    fs::write(&config, "{ \"logLevel\": \"debug\" }").unwrap();
    assert_eq!(causes(&fixture.home), [""; 0]);
}

#[test]
fn world_readable_sign_in_secrets_are_reported() {
    for secrets in [
        json!({ "clientSecret": "s3cret-value" }),
        json!({ "privateKey": "-----BEGIN KEY-----\nabc\n-----END KEY-----" }),
    ] {
        let mut entry = json!({ "url": "https://docs.example/mcp", "transport": "http",
            "clientId": "me", "grantType": "client_credentials" });
        for (key, value) in secrets.as_object().unwrap() {
            entry[key] = value.clone();
        }
        let fixture = with_servers(json!({ "mcpServers": { "docs": entry } }).to_string());
        set_mode(fixture.home.root(), 0o755);
        set_mode(&fixture.home.servers(), 0o644);
        // If the folder above the home is private, other users cannot reach the file.
        let parent = fixture.home.root().parent().unwrap().metadata().unwrap();
        let is_open = parent.permissions().mode() & 0o001 != 0;
        let expected = if is_open { &["permissions"][..] } else { &[] };
        assert_eq!(causes(&fixture.home), expected, "{secrets}");
    }
}

#[test]
fn an_outdated_prompt_is_replaced_after_review_and_every_copy_is_kept() {
    let fixture = config_fixture();
    let path = fixture.home.system_prompt();
    let backup_path = |suffix: &str| {
        fixture
            .home
            .root()
            .join(format!("system_prompt.txt{suffix}"))
    };
    assert_eq!(
        outdated_system_prompt(&fixture.home),
        Ok(None),
        "there is no prompt"
    );
    fs::write(&path, "Be kind.").unwrap();
    assert_eq!(
        outdated_system_prompt(&fixture.home),
        Ok(None),
        "the prompt is current"
    );
    for (text, suffix) in [
        ("use chooseFunction\r\n", ".bak"),
        ("{\"functionCall\": {}}", ".bak_2"),
    ] {
        fs::write(&path, text).unwrap();
        let shown = outdated_system_prompt(&fixture.home).unwrap().unwrap();
        assert_eq!(&*shown, text);
        assert_eq!(
            replace_system_prompt(&fixture.home, &shown),
            Ok(backup_path(suffix))
        );
        assert_eq!(fs::read_to_string(backup_path(suffix)).unwrap(), text);
        assert!(has_mode(&backup_path(suffix), 0o600));
        let new_text = fs::read_to_string(&path).unwrap();
        assert_eq!(new_text, config::DEFAULT_SYSTEM_PROMPT);
    }
    fs::write(&path, "chooseFunction, but another text").unwrap();
    let error = replace_system_prompt(&fixture.home, "chooseFunction").unwrap_err();
    let text = notice_text(&error.notice());
    assert!(text.contains("was changed in the meantime"), "{text}");
    let contents = fs::read_to_string(&path).unwrap();
    assert_eq!(contents, "chooseFunction, but another text");
    assert!(!backup_path(".bak_3").exists());
}

#[test]
fn a_file_in_place_of_the_log_folder_disables_only_the_log() {
    let fixture = config_fixture();
    fs::write(fixture.home.logs(), "").unwrap();
    let banners = fixture.home.prepare();
    assert_eq!(banners.len(), 1);
    let text = notice_text(&banners[0].notice);
    assert!(text.starts_with("The log cannot be written to "), "{text}");
    assert!(
        text.contains("is a file, not a folder. Everything else still works."),
        "{text}"
    );
    assert!(fixture.home.sessions().is_dir());
}
