//! `humble sessions` and `humble completions`: the real binary without a screen.

use crate::support::cli::{self, humble, stderr_of, stdout_of};
use serde_json::{Value, json};
use std::fs;
use std::process::Output;
use std::time::{Duration, Instant};
use tempfile::TempDir;

fn run(home: &TempDir, arguments: &[&str]) -> Output {
    cli::run(home.path(), arguments)
}

fn write_session(home: &TempDir, name: &str, model: &str, prompt: &str, answer: &str) {
    fs::create_dir_all(home.path().join("sessions")).expect("created");
    let messages = json!([
        { "role": "user", "content": prompt },
        { "role": "assistant", "content": answer },
    ]);
    let file = json!({ "model": model, "messages": messages });
    let path = home.path().join("sessions").join(name);
    fs::write(path, file.to_string()).expect("written");
}

/// A home with three saved conversations, one of them in Korean, and a broken file.
fn home() -> TempDir {
    let home = TempDir::new().expect("a temporary folder");
    let write = |name, model, prompt, answer| write_session(&home, name, model, prompt, answer);
    write(
        "20240101_090000_Trip.json",
        "gpt-4o",
        "Trip to Seoul",
        "Fly.",
    );
    write(
        "20240201_090000_Trip.json",
        "qwen3:4b",
        "Trip to Busan",
        "Take the train. 호텔은 해운대.",
    );
    write(
        "20240301_090000_날씨.json",
        "qwen3:4b",
        "서울 날씨",
        "맑음\u{1b}[2J",
    );
    fs::write(home.path().join("sessions/broken.json"), "{").expect("written");
    home
}

fn json_of(output: &Output) -> Value {
    serde_json::from_str(&stdout_of(output)).expect("JSON")
}

fn files(value: &Value) -> Vec<&str> {
    let sessions = value["sessions"].as_array().expect("a list");
    sessions
        .iter()
        .filter_map(|session| session["file"].as_str())
        .collect()
}

#[test]
fn the_list_is_newest_first_and_names_broken_files() {
    let home = home();
    let output = run(&home, &["sessions", "list"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = stdout_of(&output);
    let rows: Vec<&str> = text.lines().collect();
    assert!(
        rows[0].contains("broken.json  ") && rows[0].contains("broken: it is not valid JSON"),
        "{text}"
    );
    let expected = "1 Mar 2024   qwen3:4b     2  20240301_090000_날씨.json  서울 날씨";
    assert_eq!(rows[1], expected, "{text}");
    let expected = "1 Jan 2024   gpt-4o       2  20240101_090000_Trip.json  Trip to Seoul";
    assert_eq!(rows[3], expected, "{text}");
    let listed = run(&home, &["sessions", "list", "--json"]);
    let listed = json_of(&listed);
    let expected = [
        "broken.json",
        "20240301_090000_날씨.json",
        "20240201_090000_Trip.json",
        "20240101_090000_Trip.json",
    ];
    assert_eq!(files(&listed), expected);
    assert!(listed["sessions"][0]["error"].is_string());
    assert_eq!(listed["sessions"][2]["messages"], 2);
    let empty = TempDir::new().expect("a temporary folder");
    let output = run(&empty, &["sessions", "list"]);
    assert_eq!(stdout_of(&output), "No saved conversations yet.\n");
}

#[test]
fn sessions_search_finds_texts_and_applies_filters() {
    let home = home();
    let search = |words: &[&str]| {
        let arguments = [&["sessions", "search", "--json"], words].concat();
        let output = run(&home, &arguments);
        (output.status.code(), json_of(&output))
    };
    let (code, found) = search(&["해운", "train"]);
    assert_eq!(
        (code, files(&found)),
        (Some(0), vec!["20240201_090000_Trip.json"])
    );
    assert_eq!(
        found["sessions"][0]["excerpt"],
        "Take the train. 호텔은 해운대."
    );
    let (_, found) = search(&["trip", "model:GPT"]);
    assert_eq!(files(&found), ["20240101_090000_Trip.json"]);
    let (_, found) = search(&["trip", "after:2024-02"]);
    assert_eq!(files(&found), ["20240201_090000_Trip.json"]);
    let (code, found) = search(&["nowhere"]);
    assert_eq!((code, files(&found)), (Some(1), Vec::new()));
    let output = run(&home, &["sessions", "search", "after:soon"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr_of(&output).starts_with("`after:soon` is not a date."),
        "{output:?}"
    );
    let output = run(&home, &["sessions", "search", "날씨"]);
    assert_eq!(
        stdout_of(&output),
        "1 Mar 2024  qwen3:4b     2  20240301_090000_날씨.json  서울 날씨\n    서울 날씨\n"
    );
}

#[test]
fn a_conversation_is_exported_by_name() {
    let home = home();
    let folder = TempDir::new().expect("a temporary folder");
    let export = |arguments: &[&str]| {
        let arguments = [&["sessions", "export"], arguments].concat();
        let mut command = humble(home.path(), &arguments);
        command.current_dir(folder.path());
        command.output().expect("the program runs")
    };
    let output = export(&["busan", "--answers", "--last", "1"]);
    assert_eq!(stdout_of(&output), "Take the train. 호텔은 해운대.\n");
    let output = export(&["Trip to Busan", "--format", "html"]);
    assert!(stdout_of(&output).starts_with("<!DOCTYPE html>"));
    let output = export(&["Trip to Busan", "--output", "page.html"]);
    let path = folder
        .path()
        .canonicalize()
        .expect("a path")
        .join("page.html");
    assert_eq!(
        stdout_of(&output),
        format!("Exported to {}\n", path.display())
    );
    assert!(
        fs::read_to_string(&path)
            .expect("a page")
            .starts_with("<!DOCTYPE html>")
    );
    fs::write(&path, "mine").expect("written");
    let output = export(&["Trip to Busan", "--output", "page.html"]);
    let expected = format!("{} exists. Use --force to replace it.\n", path.display());
    assert_eq!(
        (output.status.code(), stderr_of(&output)),
        (Some(1), expected)
    );
    assert_eq!(fs::read_to_string(&path).expect("a file"), "mine");
    let output = export(&["Trip to Busan", "-o", "page.html", "--force"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let output = export(&["Trip to Busan", "-o", "."]);
    assert!(
        stdout_of(&output).contains("Trip to Busan.md"),
        "{output:?}"
    );
    let output = export(&["broken.json"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    for usage in [&["x", "--last", "0"][..], &["x", "--format", "pdf"]] {
        assert_eq!(export(usage).status.code(), Some(2), "{usage:?}");
    }
}

#[test]
fn an_ambiguous_or_unknown_name_is_a_usage_error() {
    let home = home();
    for (arguments, command) in [
        (&["sessions", "show", "trip"][..], "sessions show"),
        (&["sessions", "export", "trip"], "sessions export"),
        (&["sessions", "rm", "trip", "--yes"], "sessions rm"),
        (&["--session", "trip"], "--session"),
    ] {
        let output = run(&home, arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let expected = format!(
            "`trip` matches several conversations. Choose one by its file name:\n\
             \u{20} 1 Feb 2024  20240201_090000_Trip.json  Trip to Busan\n\
             \u{20} 1 Jan 2024  20240101_090000_Trip.json  Trip to Seoul\n\
             For example: humble {command} 20240201_090000_Trip.json\n"
        );
        assert_eq!(
            (stdout_of(&output), stderr_of(&output)),
            (String::new(), expected)
        );
    }
    let output = run(&home, &["sessions", "show", "Tripp to Busan"]);
    assert_eq!(output.status.code(), Some(2));
    let expected =
        "There is no conversation `Tripp to Busan`. Did you mean `20240201_090000_Trip.json`?\n";
    assert_eq!(stderr_of(&output), expected);
}

#[test]
fn without_a_terminal_deleting_needs_the_yes_option_and_can_be_undone() {
    let home = home();
    let path = home.path().join("sessions/20240201_090000_Trip.json");
    let output = run(&home, &["sessions", "rm", "Trip to Busan"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(path.exists());
    let output = run(&home, &["sessions", "rm", "Trip to Busan", "--yes"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(
        stdout_of(&output).starts_with("Deleted \"Trip to Busan\"."),
        "{output:?}"
    );
    assert!(!path.exists());
    let days = fs::read_dir(home.path().join("trash")).expect("a trash");
    let day = days.flatten().next().expect("a day").path();
    assert!(day.join("20240201_090000_Trip.json").exists());
    let output = run(&home, &["sessions", "restore"]);
    assert_eq!(
        stdout_of(&output),
        "Restored \"Trip to Busan\" (20240201_090000_Trip.json).\n"
    );
    assert!(path.exists());
    let output = run(&home, &["sessions", "restore"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
}

#[test]
fn secrets_from_the_settings_are_not_exported() {
    let home = TempDir::new().expect("a temporary folder");
    let key = "sk-configured-0123456789abcdef";
    let model = json!({ "name": "gpt", "provider": "openai", "model": "gpt-4o", "apiKey": key });
    let config = json!({ "models": [model] }).to_string();
    fs::write(home.path().join("config.json"), config).expect("written");
    write_session(
        &home,
        "a.json",
        "gpt",
        "What is my key?",
        &format!("It is {key}."),
    );
    for format in ["md", "json", "html"] {
        let output = run(&home, &["sessions", "export", "a", "--format", format]);
        let text = stdout_of(&output);
        assert!(text.contains("It is ") && !text.contains(key), "{text}");
    }
    let shown = stdout_of(&run(&home, &["sessions", "show", "a"]));
    assert!(shown.contains("It is ") && !shown.contains(key), "{shown}");
}

#[test]
fn a_part_of_a_file_name_is_enough_for_every_command() {
    let home = home();
    let output = run(&home, &["sessions", "show", "0201_09", "--answers"]);
    assert_eq!(stdout_of(&output), "Take the train. 호텔은 해운대.\n");
    let output = run(&home, &["sessions", "export", "_날씨", "--answers"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let output = run(&home, &["sessions", "rm", "090000", "--yes"]);
    assert_eq!(output.status.code(), Some(2), "several match");
    assert_eq!(stderr_of(&output).lines().count(), 5, "{output:?}");
    let last = stderr_of(&output).lines().last().map(str::to_owned);
    let example = "For example: humble sessions rm 20240301_090000_날씨.json";
    assert_eq!(last.as_deref(), Some(example));
    let output = run(&home, &["sessions", "rm", "0101_09", "--yes"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let listed = json_of(&run(&home, &["sessions", "list", "--json"]));
    assert!(!files(&listed).contains(&"20240101_090000_Trip.json"));
}

#[test]
fn the_text_before_the_fault_of_a_broken_file_is_not_found() {
    let home = home();
    let text = r#"{"model":"m","messages":[{"role":"user","content":"zebra crossing"}"#;
    let path = home.path().join("sessions/20240401_090000_Zoo.json");
    fs::write(path, text).expect("written");
    let search = |word: &str| {
        let output = run(&home, &["sessions", "search", "--json", word]);
        files(&json_of(&output)).len()
    };
    assert_eq!((search("zebra"), search("zoo")), (0, 1));
}

/// The next search finds everything, no matter when the program was killed.
#[test]
fn a_program_killed_while_indexing_leaves_a_usable_index() {
    let home = TempDir::new().expect("a temporary folder");
    let filler = "some ordinary words of a conversation ".repeat(300);
    for number in 0..600 {
        let answer = format!("{filler} 표시{number}");
        write_session(
            &home,
            &format!("{number:03}.json"),
            "m",
            "question",
            &answer,
        );
    }
    let index = home.path().join("cache/sessions.sqlite");
    for round in 0..4 {
        let mut child = humble(home.path(), &["sessions", "search", "표시599"]);
        let mut child = child.spawn().expect("started");
        let deadline = Instant::now() + Duration::from_secs(30);
        while !index.exists() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(20 + 40 * round));
        child.kill().expect("killed");
        child.wait().expect("ended");
    }
    let output = run(&home, &["sessions", "search", "표시599", "--json"]);
    assert_eq!(files(&json_of(&output)), ["599.json"], "{output:?}");
    assert_eq!(stderr_of(&output), "");
    let output = run(&home, &["sessions", "search", "question", "--json"]);
    assert_eq!(files(&json_of(&output)).len(), 600);
}

#[test]
fn completions_name_the_commands() {
    let home = TempDir::new().expect("a temporary folder");
    for shell in ["bash", "zsh", "fish"] {
        let output = run(&home, &["completions", shell]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(stdout_of(&output).contains("sessions"), "{shell}");
    }
    assert_eq!(run(&home, &["completions", "x"]).status.code(), Some(2));
}
