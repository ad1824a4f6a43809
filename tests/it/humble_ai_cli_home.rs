//! A home folder of humble-ai-cli, opened by the real program on a pseudo-terminal. The program
//! changes nothing in it until the user changes a setting, and then only that setting.

use crate::support::home;
use crate::support::pty;
use home::TestHome;
use pty::{ESC, PtyTerminal, TerminalOptions};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

const CTRL_O: &str = "\x0f";

const CONFIG: &str = "{\r\n\t\"models\": [\r\n\t\t{\"provider\": \"openai\", \"name\": \"gpt-4o\", \"apiKey\": \"sk-old-home-key\", \"active\": false, \"note\": \"회사 키\"},\r\n\t\t{ \"provider\":\"ollama\", \"name\":\"gpt-oss:20b\", \"baseUrl\":\"http://127.0.0.1:9\", \"active\":true }\r\n\t],\r\n\t\"logLevel\": \"warn\",\r\n\t\"toolCallMode\": \"manual\",\r\n\t\"telemetry\": null\r\n}\r\n";

const SERVERS: &str = r#"{
  "version": 1,
  "mcpServers": [
    { "name": "files", "type": "command", "description": "로컬 파일", "enabled": true,
      "command": "no-such-command-of-an-old-home", "args": ["-y"], "env": {} },
    { "name": "docs", "type": "sse", "enabled": false, "url": "http://127.0.0.1:9/sse",
      "env": { "Authorization": "Bearer old-home-token" } },
    { "name": "wiki", "type": "streamable-http", "url": "http://127.0.0.1:9/mcp", "enabled": false }
  ]
}"#;

const PROMPT: &str = "You are an agent.\nAnswer with {\"chooseFunction\": {\"name\": \"…\"}}\n";

const SESSIONS: [(&str, &str); 2] = [
    (
        "20251016_162030_대화_제목_이다.json",
        r#"{"model":"gpt-4o","startedAt":"2025-10-16T16:20:01+09:00","messages":[{"role":"user","content":"대화 제목 이다"},{"role":"assistant","content":"네, 대화입니다."}]}"#,
    ),
    (
        "20251017_090000_hello_2.json",
        "{\n  \"model\": \"gpt-oss:20b\",\n  \"startedAt\": \"2025-10-17T00:00:00Z\",\n  \"messages\": [\n    { \"role\": \"user\", \"content\": \"hello\" },\n    { \"role\": \"tool\", \"content\": \"old\" },\n    { \"role\": \"assistant\", \"content\": \"hi\" }\n  ]\n}\n",
    ),
];

fn old_home() -> TestHome {
    let home = TestHome::empty();
    fs::create_dir_all(home.path().join("sessions")).expect("prepared");
    fs::create_dir_all(home.path().join("logs")).expect("prepared");
    let log = ("logs/application-hac-2025-10-16.log", "old line\n");
    let files = [
        ("config.json", CONFIG),
        ("mcp-servers.json", SERVERS),
        ("system_prompt.txt", PROMPT),
        log,
    ];
    let sessions = SESSIONS.map(|(name, text)| (format!("sessions/{name}"), text));
    let files = files.map(|(name, text)| (name.to_owned(), text));
    let long_ago = SystemTime::now() - Duration::from_secs(90 * 24 * 3600);
    for (name, text) in files.into_iter().chain(sessions) {
        let path = home.path().join(name);
        fs::write(&path, text).expect("prepared");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("prepared");
        let file = fs::File::options()
            .write(true)
            .open(&path)
            .expect("prepared");
        file.set_modified(long_ago).expect("prepared");
    }
    home
}

/// Bytes, modification time in seconds and nanoseconds, mode and inode of a file.
type FileState = (Vec<u8>, i64, i64, u32, u64);

fn snapshot(home: &TestHome) -> BTreeMap<PathBuf, FileState> {
    let files = home.files().into_iter().map(|path| {
        let bytes = fs::read(&path).expect("readable");
        let metadata = fs::metadata(&path).expect("metadata");
        let file = (
            bytes,
            metadata.mtime(),
            metadata.mtime_nsec(),
            metadata.mode(),
            metadata.ino(),
        );
        (path, file)
    });
    files.collect()
}

fn changed_files(before: &BTreeMap<PathBuf, FileState>, home: &TestHome) -> Vec<PathBuf> {
    let after = snapshot(home);
    before
        .iter()
        .filter(|(path, file)| after.get(*path) != Some(file))
        .map(|(path, _)| path.clone())
        .collect()
}

fn open(home: &TestHome) -> PtyTerminal {
    let terminal = TerminalOptions::in_home(home).start();
    terminal.wait_for_text("gpt-oss:20b");
    terminal
}

#[test]
fn an_old_home_opens_completely_and_unchanged() {
    let home = old_home();
    let before = snapshot(&home);
    let mut terminal = open(&home);
    for shown in [
        "files",
        "docs",
        "wiki",
        "chooseFunction",
        "/system-prompt replace",
    ] {
        terminal.wait_for_text(shown);
    }
    terminal.press(CTRL_O);
    terminal.wait_for_text("대화 제목 이다");
    terminal.wait_for_text("hello");
    terminal.press(ESC);
    terminal.wait_until_gone("── Sessions");
    terminal.send_prompt("/reload");
    terminal.wait_for_text("nothing changes");
    terminal.quit();
    assert_eq!(changed_files(&before, &home), Vec::<PathBuf>::new());

    let mut terminal = open(&home);
    terminal.send_prompt("/set-model 1");
    terminal.wait_for_text("Using gpt-4o");
    let config = home.path().join("config.json");
    home::wait_until("the choice is saved", || {
        fs::read_to_string(&config).is_ok_and(|text| text != CONFIG)
    });
    terminal.quit();
    assert_eq!(changed_files(&before, &home), vec![config.clone()]);
    let expected = CONFIG
        .replace("\"active\":true", "\"active\":false")
        .replace("\"active\": false,", "\"active\": true,");
    assert_eq!(fs::read_to_string(&config).expect("text"), expected);
}

#[test]
fn a_written_file_of_an_old_home_becomes_private_with_one_notice() {
    let home = old_home();
    let config = home.path().join("config.json");
    let mode = || fs::metadata(&config).expect("metadata").mode() & 0o777;
    assert_eq!(mode(), 0o644);
    let mut terminal = open(&home);
    terminal.send_prompt("/set-model 1");
    terminal.wait_for_text("Using gpt-4o");
    terminal.wait_for_text("Other users of this machine could read config.json.");
    assert_eq!(mode(), 0o600);
    terminal.send_prompt("/set-model 2");
    terminal.wait_for_text("Using gpt-oss:20b");
    terminal.wait_until_gone("Using gpt-oss:20b");
    assert!(!pty::contains_text(
        &terminal.screen(),
        "could read config.json"
    ));
    terminal.quit();
}

#[test]
fn a_harmless_edit_during_a_run_applies_and_a_dangerous_one_needs_consent() {
    let home = old_home();
    let mut terminal = open(&home);
    let config = home.path().join("config.json");
    fs::write(&config, CONFIG.replace("warn", "debug")).expect("prepared");
    terminal.wait_for_text("logLevel is now debug");
    // Many editors and tools replace a file instead of writing to it.
    let auto = CONFIG.replace("warn", "debug").replace("manual", "auto");
    fs::write(home.path().join("new"), &auto).expect("prepared");
    fs::rename(home.path().join("new"), &config).expect("prepared");
    terminal.wait_for_text("Settings changed");
    terminal.wait_for_text("Press a key to choose");
    assert!(pty::contains_text(&terminal.screen(), "manual"));
    terminal.press("n");
    terminal.wait_until_gone("Apply the changes?");
    terminal.wait_for_text("config.json has changes that you rejected");
    terminal.send_prompt("/reload");
    terminal.wait_for_text("Press a key to choose");
    terminal.press("f");
    terminal.wait_for_text("The change was applied.");
    // A broken file, and its repair.
    fs::write(&config, "{ rubbish").expect("prepared");
    terminal.wait_for_text("config.json, line 1, column 3");
    fs::write(&config, &auto).expect("prepared");
    terminal.wait_for("the banner disappears", |screen| {
        !screen.contents().contains("line 1, column 3")
    });
    assert!(pty::contains_text(&terminal.screen(), "auto"));
    terminal.quit();
    assert_eq!(fs::read_to_string(&config).expect("text"), auto);
    // The edit raised the log level.
    let message_end = "the settings files were read again; changes: 1";
    let logs = logs(&home);
    let is_logged =
        |line: &str| line.contains(" DEBUG humble::engine") && line.ends_with(message_end);
    assert!(logs.lines().any(is_logged), "{logs}");
}

fn logs(home: &TestHome) -> String {
    let files = home.files().into_iter();
    files
        .filter(|path| path.extension().is_some_and(|extension| extension == "log"))
        .map(|path| fs::read_to_string(path).expect("text"))
        .collect()
}

#[test]
fn no_secret_of_an_old_home_reaches_another_file() {
    let home = old_home();
    let config = home.path().join("config.json");
    fs::write(&config, CONFIG.replace("warn", "debug")).expect("prepared");
    let mut terminal = open(&home);
    terminal.send_prompt("/set-model 1");
    terminal.wait_for_text("Using gpt-4o");
    terminal.send_prompt("/set-model 2");
    terminal.wait_for_text("Using gpt-oss:20b");
    terminal.send_prompt("Is anybody there?");
    terminal.wait_for_text("Nothing listens at");
    fs::write(
        &config,
        CONFIG.replace("sk-old-home-key", "sk-newer-secret"),
    )
    .expect("prepared");
    terminal.wait_for_text("Settings changed");
    terminal.wait_for_text("hidden, 15 characters");
    terminal.wait_for_text("Press a key to choose");
    terminal.press("n");
    terminal.wait_until_gone("Apply the changes?");
    terminal.quit();
    for path in home.files() {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if ["config.json", "mcp-servers.json"].contains(&name.as_str()) {
            continue;
        }
        let text = String::from_utf8_lossy(&fs::read(&path).expect("readable")).into_owned();
        for secret in ["sk-old-home-key", "sk-newer-secret", "old-home-token"] {
            assert!(!text.contains(secret), "{secret} in {}", path.display());
        }
    }
    let logs = logs(&home);
    assert!(
        logs.contains("DEBUG") && logs.contains("Is anybody there?"),
        "{logs}"
    );
}
