//! Settings on disk: lenient reading, errors with line and column, and edits of single values, even
//! by two programs at once. This file contains the shared fixtures and the tests of malformed
//! files and of the home folder.

use crate::support::notice_text;
mod add_model;
mod built_in;
mod keys;
mod models;
mod personas;
mod prompt_templates;
mod rewrite;
mod servers;
mod settings_without_effect;
mod sign_in_settings;
mod stored_variables;
mod themes;
mod unusual_files;

use humble::config::{
    self, ConfigError, Home, Settings, read_servers_with, read_settings_with, read_system_prompt,
};
use humble::domain::{ModelRef, ProviderKind, ServerConfig, ServerId, ToolMode};
use notice_text::notice_text;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

struct ConfigFixture {
    home: Home,
    _folder: TempDir,
}

fn config_fixture() -> ConfigFixture {
    let folder = tempfile::tempdir().unwrap();
    ConfigFixture {
        home: Home::at(folder.path()),
        _folder: folder,
    }
}

fn with_config(text: impl AsRef<[u8]>) -> ConfigFixture {
    let fixture = config_fixture();
    fs::write(fixture.home.config(), text).unwrap();
    fixture
}

fn with_servers(text: impl AsRef<[u8]>) -> ConfigFixture {
    let fixture = config_fixture();
    fs::write(fixture.home.servers(), text).unwrap();
    fixture
}

fn variables(name: &str) -> Option<String> {
    let values = [
        ("OPENAI_API_KEY", "sk-env"),
        ("MINE", "sk-mine"),
        ("EMPTY", ""),
        ("MULTILINE", "a\nb"),
        ("PORT", "8080"),
    ];
    let value = values.iter().find(|(key, _)| *key == name);
    value.map(|(_, value)| (*value).to_owned())
}

impl ConfigFixture {
    fn settings(&self) -> Settings {
        read_settings_with(&self.home, &variables).value
    }

    /// Cause and text of each banner, without the path of the home folder.
    fn banners(&self) -> Vec<(String, String)> {
        let settings = read_settings_with(&self.home, &variables).banners;
        let servers = read_servers_with(&self.home, &variables).banners;
        let folder = format!("{}/", self.home.root().display());
        settings
            .into_iter()
            .chain(servers)
            .map(|banner| {
                (
                    banner.cause.to_string(),
                    notice_text(&banner.notice).replace(&folder, ""),
                )
            })
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

fn one_model(entry: Value) -> ConfigFixture {
    with_config(json!({ "models": [entry] }).to_string())
}

fn reference(name: &str, provider: ProviderKind) -> ModelRef {
    ModelRef {
        name: name.to_owned(),
        provider,
        model: name.to_owned(),
    }
}

/// Whether the file has this mode. On systems without file modes, only checks that it exists.
fn has_mode(path: &Path, mode: u32) -> bool {
    #[cfg(unix)]
    return {
        use std::os::unix::fs::PermissionsExt;
        fs::metadata(path).unwrap().permissions().mode() & 0o777 == mode
    };
    #[cfg(not(unix))]
    return path.exists() && mode > 0;
}

/// Malformed files, with position, error and advice.
const MALFORMED: [(&[u8], &str); 13] = [
    (
        b"{\n  \"models\": [],\n}",
        "line 3, column 1: trailing comma. | Remove the comma after the last entry.",
    ),
    (
        "{\"a\": \"한글\" \"b\"}".as_bytes(),
        "line 1, column 12: expected `,` or `}`. | Put a comma between entries, and a bracket at the end.",
    ),
    (
        b"\xef\xbb\xbf{}",
        "line 1, column 1: the file begins with a byte order mark. | Save it as UTF-8 without a byte order mark.",
    ),
    (
        b"",
        "line 1, column 1: the file is empty. | Write {} to it, or delete it.",
    ),
    (
        b" \n",
        "line 1, column 1: the file is empty. | Write {} to it, or delete it.",
    ),
    (
        b"\n [1]",
        "line 2, column 2: the file is a list, expected an object. | Wrap its contents in an object: { … }.",
    ),
    (
        b"null",
        "line 1, column 1: the file is null, expected an object. | Wrap its contents in an object: { … }.",
    ),
    (
        b"{\"a\":1,\n\xff}",
        "line 2, column 1: a byte that is not UTF-8. | Save it as UTF-8.",
    ),
    (
        b"{\"a\": {",
        "line 1, column 7: the file ends unexpectedly. | A closing bracket or quotation mark is missing.",
    ),
    (
        b"{\n // note\n}",
        "line 2, column 2: a comment. | JSON has no comments: remove it.",
    ),
    (
        b"{'a': 1}",
        "line 1, column 2: a single quotation mark. | Put strings in \"double\" quotation marks.",
    ),
    (
        b"{\"a\": tru}",
        "line 1, column 10: a word other than true, false or null. | Put strings in \"double\" quotation marks.",
    ),
    (
        b"{} {}",
        "line 1, column 4: trailing characters. | Correct it in the file.",
    ),
];

fn expected_message(file: &str, message: &str) -> String {
    let (error, advice) = message.split_once(" | ").unwrap();
    format!("{file}, {error} Starting without it; nothing is saved to it. {advice}")
}

#[test]
fn unknown_keys_are_reported_in_sections_that_only_humble_reads_and_elsewhere_if_misspelled() {
    let text = r#"{
  "telemetry": null, "toolCallMod": "auto",
  "models": [{ "name": "m", "provider": "ollama", "note": "mine", "optons": {} }],
  "limits": { "toolRound": 3, "idleSeconds": 9 },
  "ui": { "colour": true }
}"#;
    let expected = (
        "config.json: unknown keys".to_owned(),
        "config.json, line 4: unknown keys `limits.toolRound`, `ui.colour`, `toolCallMod`, \
         1 more. Did you mean `limits.toolRounds`?"
            .to_owned(),
    );
    assert_eq!(with_config(text).banners(), [expected]);
}

#[test]
fn keys_that_no_setting_reads_are_listed_for_the_log() {
    let text = r#"{
  "telemetry": null, "logLevel": "info", "toolDiet": "auto", "roots": [],
  "models": [
    { "name": "m", "provider": "ollama", "note": "mine", "keepAlive": "5m" },
    { "name": "n", "provider": "openai", "apiKey": "k", "contextlen": 9 }
  ]
}"#;
    let fixture = with_config(text);
    let unused = config::unused_keys(&fixture.home);
    assert_eq!(
        unused,
        ["telemetry", "models[0].note", "models[1].contextlen"]
    );
    assert_eq!(config::unused_keys(&with_config("{").home), [""; 0]);
}

#[test]
fn a_malformed_config_is_reported_with_position_and_advice_and_not_modified() {
    for (bytes, message) in MALFORMED {
        let fixture = with_config(bytes);
        let message = expected_message("config.json", message);
        assert_eq!(fixture.banners(), [("config.json".to_owned(), message)]);
        assert_eq!(fixture.settings(), Settings::default());

        let error = config::set_tool_mode(&fixture.home, ToolMode::Auto).unwrap_err();
        let banner = &read_settings_with(&fixture.home, &variables).banners[0];
        assert_eq!(error.notice().what, banner.notice.what);
        assert_eq!(error.notice().advice, banner.notice.advice);
        assert_eq!(fs::read(fixture.home.config()).unwrap(), bytes);
    }
}

#[test]
fn a_malformed_server_file_is_reported_and_not_modified() {
    for (bytes, message) in MALFORMED {
        let fixture = with_servers(bytes);
        let message = expected_message("mcp-servers.json", message);
        assert_eq!(
            fixture.banners(),
            [("mcp-servers.json".to_owned(), message)]
        );
        assert_eq!(fixture.servers().len(), 1, "only the built-in server");
        let id = ServerId::new("humble");
        let error = config::set_server_enabled(&fixture.home, &id, false).unwrap_err();
        let banner = &read_servers_with(&fixture.home, &variables).banners[0];
        assert_eq!(error.notice().what, banner.notice.what);
        assert_eq!(error.notice().advice, banner.notice.advice);
        assert_eq!(fs::read(fixture.home.servers()).unwrap(), bytes);
    }
}

#[test]
fn an_oversized_config_is_reported() {
    let fixture = with_config(vec![b' '; (16 << 20) + 1]);
    let sentence = "config.json is larger than 16 MB. Starting without it; nothing is saved to \
                    it. Settings files are small: move this file away, or remove large \
                    values from it.";
    let expected = ("config.json".to_owned(), sentence.to_owned());
    assert_eq!(fixture.banners(), [expected]);
    let error = config::set_tool_mode(&fixture.home, ToolMode::Auto).unwrap_err();
    assert!(matches!(error, ConfigError::TooLarge { megabytes: 16, .. }));
}

#[test]
fn a_folder_or_symlink_loop_instead_of_the_file_is_reported() {
    let fixture = config_fixture();
    fs::create_dir(fixture.home.config()).unwrap();
    let sentence = "config.json cannot be read: it is a folder. Starting without it; nothing is \
                    saved to it. Make it a readable file.";
    let expected = ("config.json".to_owned(), sentence.to_owned());
    assert_eq!(fixture.banners(), [expected]);
    let error = config::set_tool_mode(&fixture.home, ToolMode::Auto).unwrap_err();
    assert!(matches!(error, ConfigError::Unreadable { .. }), "{error}");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("config.json", fixture.home.servers()).unwrap();
        fs::remove_dir(fixture.home.config()).unwrap();
        std::os::unix::fs::symlink("mcp-servers.json", fixture.home.config()).unwrap();
        assert_eq!(fixture.banners().len(), 2);
    }
}

#[test]
fn a_home_below_a_file_is_reported_with_advice() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let home = Home::at(folder.path().join("file/home"));
    let banners = read_settings_with(&home, &variables).banners;
    let sentence = notice_text(&banners[0].notice);
    assert!(
        sentence.ends_with("Name another folder with --home."),
        "{sentence}"
    );
}

#[test]
fn the_first_run_creates_folders_and_prompt_and_a_deleted_prompt_stays_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path().join("new/home"));
    assert_eq!(home.prepare(), []);
    let prompt = include_bytes!("../../../assets/default_system_prompt.md");
    assert_eq!(fs::read(home.system_prompt()).unwrap(), prompt);
    assert!(has_mode(&home.system_prompt(), 0o600));
    for folder in [home.sessions(), home.logs(), home.cache()] {
        assert!(has_mode(&folder, 0o700));
    }
    assert!(has_mode(home.root(), 0o700));
    fs::remove_file(home.system_prompt()).unwrap();
    assert_eq!(home.prepare(), []);
    assert!(
        !home.system_prompt().exists(),
        "a deleted prompt stays deleted"
    );
    assert_eq!(read_system_prompt(&home).value, "");
}

#[test]
fn an_existing_system_prompt_is_kept() {
    let fixture = config_fixture();
    fs::write(fixture.home.system_prompt(), "mine\n").unwrap();
    assert_eq!(fixture.home.prepare(), []);
    assert_eq!(read_system_prompt(&fixture.home).value, "mine\n");
}

#[test]
fn a_home_blocked_by_a_file_shows_a_banner() {
    let fixture = config_fixture();
    let file = fixture.home.root().join("file");
    fs::write(&file, "").unwrap();
    for root in [file.clone(), file.join("below")] {
        let banners = Home::at(&root).prepare();
        assert_eq!(banners.len(), 1);
        let text = notice_text(&banners[0].notice);
        assert!(text.contains("is a file"), "{text}");
    }
}

#[test]
fn a_binary_or_outdated_system_prompt_is_reported() {
    let fixture = config_fixture();
    fs::write(fixture.home.system_prompt(), b"a\nb\xff").unwrap();
    let load = read_system_prompt(&fixture.home);
    assert_eq!(load.value, "");
    let text = notice_text(&load.banners[0].notice);
    assert!(text.contains("line 2 is not UTF-8"), "{text}");
    fs::write(fixture.home.system_prompt(), "use chooseFunction").unwrap();
    let load = read_system_prompt(&fixture.home);
    assert_eq!(load.value, "use chooseFunction");
    assert_eq!(load.banners[0].cause.to_string(), "system_prompt.txt");
}
