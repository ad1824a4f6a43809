//! `humble probe`: the real binary against model servers whose model follows only some dialects.

use crate::support::cli::{humble, stderr_of, stdout_of};
use crate::support::model_server;
use model_server::dialect_models::{
    ReplyFn, dialect_of, follows_native, follows_nothing, follows_prompt, hangs_in_prompt,
};
use model_server::{Gate, ModelServer, Reply, ollama_loaded, ollama_text};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Command, Output};
use tempfile::TempDir;

const CHAT: &str = "/api/chat";

struct ProbeFixture {
    home: TempDir,
    server: ModelServer,
}

impl ProbeFixture {
    fn new(answer: ReplyFn) -> Self {
        let fixture = Self {
            home: TempDir::new().expect("temporary folder"),
            server: ModelServer::start(),
        };
        fixture
            .server
            .always_reply("/api/ps", ollama_loaded(&["qwen3:4b"]));
        fixture.server.reply_with(CHAT, answer);
        fixture.write(&config(&fixture.server.url()));
        fixture
    }

    fn write(&self, text: &str) {
        // Use the file permissions that the program itself sets.
        let path = self.home.path().join("config.json");
        humble::files::replace(&path, text.as_bytes(), 0o600).expect("written");
    }

    fn config(&self) -> String {
        std::fs::read_to_string(self.home.path().join("config.json")).expect("config.json")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        humble(self.home.path(), arguments)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the program runs")
    }

    fn text_in_folder(&self, folder: &str) -> String {
        std::fs::read_dir(self.home.path().join(folder))
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|file| std::fs::read_to_string(file.path()).ok())
            .collect()
    }
}

/// A hand-written `config.json`.
fn config(url: &str) -> String {
    format!(
        "{{\n  \"mine\": [1, 2],\n  \"models\": [\n    {{ \"name\": \"other\", \"provider\": \"ollama\" }},\n    \
         {{ \"active\": true, \"name\": \"qwen3:4b\", \"note\": \"빠름\", \"provider\": \"ollama\", \"baseUrl\": \"{url}\" }}\n  ]\n}}\n"
    )
}

/// Replaces the seconds in a table with `S`, so that the rest can be compared.
fn without_seconds(text: &str) -> String {
    let is_seconds = |word: &str| {
        let (units, tenths) = word.split_once('.').unwrap_or_default();
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        digits(units) && digits(tenths)
    };
    let line = |line: &str| match line.rsplit_once(' ') {
        Some((rest, last)) if is_seconds(last) => format!("{} S", rest.trim_end()),
        _ => line.to_owned(),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_table_shows_which_dialect_a_model_follows() {
    let fixture = ProbeFixture::new(follows_prompt);
    let output = fixture.run(&["probe"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let expected = "\
qwen3:4b works with tools: best in `prompt`.

dialect  called  well-formed  answered  seconds
native   no      -            no S
prompt   yes     yes          yes S
xml      no      -            no S

`prompt` is already in use.";
    assert_eq!(without_seconds(&stdout_of(&output)), expected);
    assert_eq!(
        stderr_of(&output),
        "Trying `native` …\nTrying `prompt` …\nTrying `xml` …\n"
    );
    assert_eq!(fixture.config(), config(&fixture.server.url()));
    assert_eq!(
        fixture.text_in_folder("sessions") + &fixture.text_in_folder("journal"),
        ""
    );
    assert!(!fixture.home.path().join("history").exists());
    let log = fixture.text_in_folder("logs");
    assert!(log.contains("the secret word is "), "{log}");
    assert!(log.contains("probe of qwen3:4b: prompt: "), "{log}");
}

#[test]
fn a_better_dialect_is_saved_only_on_request() {
    let fixture = ProbeFixture::new(follows_native);
    let output = fixture.run(&["probe"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = stdout_of(&output);
    assert!(text.starts_with("qwen3:4b works with tools: best in `native`.\n"));
    assert!(text.ends_with("`prompt` is in use, but `native` does better.\n"));
    let expected = "Nothing was saved. Use --save to save it.\n";
    assert!(
        stderr_of(&output).ends_with(expected),
        "{}",
        stderr_of(&output)
    );
    assert_eq!(fixture.config(), config(&fixture.server.url()));
    let output = fixture.run(&["probe", "--save"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let expected = "Saved `native` as `toolCalls` of qwen3:4b in config.json.\n";
    assert!(
        stderr_of(&output).ends_with(expected),
        "{}",
        stderr_of(&output)
    );
    let before = config(&fixture.server.url());
    let url = format!("\"{}\"", fixture.server.url());
    let after = before.replace(&url, &format!("{url}, \"toolCalls\": \"native\""));
    assert_eq!(fixture.config(), after);
    let output = fixture.run(&["probe", "--save"]);
    assert!(stdout_of(&output).ends_with("`native` is already in use.\n"));
    assert_eq!(fixture.config(), after);
}

#[test]
fn json_output_of_a_probe_is_one_object() {
    let fixture = ProbeFixture::new(follows_native);
    let output = fixture.run(&["probe", "--json", "--model", "qwen3:4b"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let mut value: Value = serde_json::from_str(&stdout_of(&output)).expect("one object");
    for result in value["results"].as_array_mut().expect("a list") {
        assert!(result["seconds"].is_number());
        result["seconds"] = json!(0);
    }
    let result = |dialect: &str, works: bool| {
        json!({
            "dialect": dialect, "tried": true, "called": works, "well_formed": works, "form": null,
            "answered": works, "seconds": 0, "fault": null,
        })
    };
    let expected = json!({
        "model": "qwen3:4b", "provider": "ollama",
        "results": [result("native", true), result("prompt", false), result("xml", false)],
        "best": "native", "in_use": "prompt", "verdict": "works",
        "words": "qwen3:4b works with tools: best in `native`.", "is_complete": true, "saved": false,
    });
    assert_eq!(value, expected);
    let output = fixture.run(&["probe", "--json", "--save"]);
    let value: Value = serde_json::from_str(&stdout_of(&output)).expect("one object");
    assert_eq!(value["saved"], true);
    assert!(fixture.config().contains("\"toolCalls\": \"native\""));
}

#[test]
fn a_model_that_calls_nothing_is_a_failure_with_advice() {
    let fixture = ProbeFixture::new(follows_nothing);
    let output = fixture.run(&["probe", "--save"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let start = "qwen3:4b did not call a tool in any dialect. A larger model";
    assert!(
        stdout_of(&output).starts_with(start),
        "{}",
        stdout_of(&output)
    );
    assert_eq!(fixture.config(), config(&fixture.server.url()));
}

#[test]
fn an_unreachable_server_is_reported_once() {
    let fixture = ProbeFixture::new(follows_nothing);
    fixture.write(&config("http://127.0.0.1:1"));
    let output = fixture.run(&["probe"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let stderr = stderr_of(&output);
    assert_eq!(
        stderr
            .matches("Nothing listens at http://127.0.0.1:1.")
            .count(),
        1,
        "{stderr}"
    );
    assert!(!stderr.contains("/retry"), "{stderr}");
    let text = "It is not known whether qwen3:4b works with tools.\n";
    assert_eq!(stdout_of(&output), text);
}

#[test]
fn usage_and_settings_errors_are_reported_before_anything_is_sent() {
    let fixture = ProbeFixture::new(follows_nothing);
    let cases: [(&[&str], i32, &str); 4] = [
        (&["probe", "--no-tools"], 2, "remove --no-tools"),
        (&["probe", "--persona", "weather"], 2, "remove --persona"),
        (&["probe", "--save", "--no-save"], 2, "cannot be used with"),
        (
            &["probe", "--model", "gpt"],
            2,
            "There is no model `gpt` in config.json. It lists: other, qwen3:4b.",
        ),
    ];
    for (arguments, code, message) in cases {
        let output = fixture.run(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
        assert!(
            stderr_of(&output).contains(message),
            "{}",
            stderr_of(&output)
        );
    }
    fixture.write(r#"{ "models": [ { "name": "a", "provider": "ollama" } ] }"#);
    let output = fixture.run(&["probe"]);
    assert_eq!(output.status.code(), Some(1));
    let message = "No active model is configured. Name one with --model: a.";
    assert!(
        stderr_of(&output).contains(message),
        "{}",
        stderr_of(&output)
    );
    fixture.write("{ broken");
    let output = fixture.run(&["probe"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr_of(&output).contains("line 1, column 3"),
        "{}",
        stderr_of(&output)
    );
    assert!(fixture.server.bodies(CHAT).is_empty());
}

#[cfg(unix)]
#[test]
fn an_interrupted_probe_shows_partial_results_and_saves_nothing() {
    let fixture = ProbeFixture::new(hangs_in_prompt);
    let child = fixture
        .command(&["probe", "--save"])
        .spawn()
        .expect("the program starts");
    fixture.server.blocking_wait_for(|log| {
        let chats = log.requests.iter().filter(|request| request.path == CHAT);
        chats.clone().any(|request| dialect_of(request) == "prompt")
    });
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("the process exists");
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    let text = without_seconds(&stdout_of(&output));
    let expected = "\
qwen3:4b works with tools: best in `native`.

dialect  called  well-formed  answered  seconds
native   yes     yes          yes S

Not every dialect was tested, so nothing was saved.";
    assert_eq!(text, expected);
    assert_eq!(fixture.config(), config(&fixture.server.url()));
}

#[test]
fn an_api_key_reaches_neither_the_table_nor_the_log() {
    let fixture = ProbeFixture::new(follows_nothing);
    let url = fixture.server.url();
    let refusal = Reply::json(401, &json!({ "error": "no access with sk-secret-12345" }));
    fixture.server.queue_reply(CHAT, refusal);
    let model = json!({
        "name": "qwen3:4b", "provider": "ollama", "baseUrl": url, "apiKey": "sk-secret-12345", "active": true,
    });
    fixture.write(&json!({ "models": [model], "logLevel": "debug" }).to_string());
    let output = fixture.run(&["probe"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        fixture.server.bodies(CHAT).len(),
        1,
        "the other dialects would fail too"
    );
    let all_output = stdout_of(&output) + &stderr_of(&output) + &fixture.text_in_folder("logs");
    assert!(all_output.contains("no access with"), "{all_output}");
    assert!(!all_output.contains("sk-secret"), "{all_output}");
}

#[test]
fn loading_the_model_is_reported() {
    let fixture = ProbeFixture::new(follows_prompt);
    fixture.server.always_reply("/api/ps", ollama_loaded(&[]));
    let gate = Gate::closed();
    let slow_reply = ollama_text(&["Hello!"]).gate_after(0, &gate);
    fixture.server.queue_reply(CHAT, slow_reply);
    let mut child = fixture
        .command(&["probe"])
        .spawn()
        .expect("the program starts");
    let stderr = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut lines = stderr.lines().map(|line| line.expect("UTF-8"));
    let is_loading_line = |line: &String| line == "Loading the model …";
    assert!(lines.by_ref().any(|line| is_loading_line(&line)));
    gate.open();
    let next_line = lines.next();
    assert_eq!(next_line.as_deref(), Some("Waiting for its answer …"));
    let drain = std::thread::spawn(move || lines.count());
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    drain.join().expect("stderr was read to its end");
}
