//! Several processes share one home. Many are killed at random moments, and its files are edited
//! from outside. Every answer that was shown completely must be in a session, every file must
//! parse, and no setting may be lost.
//!
//! `HUMBLE_ROUNDS=500` runs more rounds; `HUMBLE_SEED=N` runs only the round of that seed.

#[path = "../support/model_server/mod.rs"]
mod model_server;
#[path = "../support/test_rng.rs"]
mod test_rng;

use humble::config::{self, Home};
use humble::domain::ToolMode;
use model_server::{ModelServer, ollama_loaded, ollama_text};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use tempfile::TempDir;
use test_rng::TestRng;

const CHAT: &str = "/api/chat";
const ROUNDS: u64 = 50;
const WAIT_TIMEOUT: Duration = Duration::from_secs(30);

struct AskProcess {
    child: Child,
    lines: Receiver<String>,
}

struct SharedHome {
    home: TempDir,
    server: ModelServer,
    rng: TestRng,
    answer_count: u64,
    /// Answers that were shown completely.
    shown_answers: Vec<String>,
    edit_count: u64,
    mode: Option<ToolMode>,
}

impl SharedHome {
    fn new(seed: u64) -> Self {
        let server = ModelServer::start();
        server.always_reply("/api/ps", ollama_loaded(&["m"]));
        let home = TempDir::new().expect("a temporary folder");
        let model = json!({
            "name": "m", "provider": "ollama", "baseUrl": server.url(), "active": true,
        });
        let config = json!({ "models": [model], "edits": 0, "mine": { "kept": true } });
        fs::write(home.path().join("config.json"), config.to_string())
            .expect("the home is writable");
        let rng = TestRng::new(seed);
        let shown_answers = Vec::new();
        Self {
            home,
            server,
            rng,
            answer_count: 0,
            shown_answers,
            edit_count: 0,
            mode: None,
        }
    }

    /// Starts a process, for which it queues a unique answer.
    fn start(&mut self) -> AskProcess {
        self.answer_count += 1;
        let answer = format!("answer-{:04}-끝", self.answer_count);
        self.server
            .queue_reply(CHAT, ollama_text(&[&answer[..7], &answer[7..]]));
        let option = *self.rng.pick(&["--save", "--continue"]);
        let prompt = format!("question {}", self.rng.below(3));
        let mut child = Command::new(env!("CARGO_BIN_EXE_humble"))
            .arg("--home")
            .arg(self.home.path())
            .args(["--no-tools", "ask", option, &prompt])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary runs");
        let stdout = child.stdout.take().expect("a pipe");
        let (line_sender, lines) = channel();
        // The thread ends with the process's output.
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if line_sender.send(line).is_err() {
                    return;
                }
            }
        });
        AskProcess { child, lines }
    }

    /// Lets a process end, kills it at a random moment, or kills it as soon as its answer
    /// appears. Records the answers shown until then.
    fn finish(&mut self, mut process: AskProcess) {
        let wait = match self.rng.below(4) {
            0 => WAIT_TIMEOUT,
            1 => Duration::from_millis(self.rng.below(150) as u64),
            _ => {
                let line = process.lines.recv_timeout(WAIT_TIMEOUT);
                self.shown_answers.extend(line);
                let _ = process.child.kill();
                Duration::ZERO
            }
        };
        if wait == WAIT_TIMEOUT {
            self.shown_answers
                .extend(process.lines.recv_timeout(WAIT_TIMEOUT));
        } else {
            // The timeout only sets the moment of the kill.
            self.shown_answers.extend(process.lines.recv_timeout(wait));
            let _ = process.child.kill();
        }
        process.child.wait().expect("a child of this test");
        self.shown_answers.extend(process.lines.try_iter());
    }

    fn config_home(&self) -> Home {
        Home::at(self.home.path())
    }

    /// Changes a setting through the program, as a user would.
    fn set_tool_mode(&mut self) {
        let mode = *self.rng.pick(&[ToolMode::Auto, ToolMode::Manual]);
        config::set_tool_mode(&self.config_home(), mode).expect("the home is writable");
        self.mode = Some(mode);
    }

    /// Edits `config.json` as an editor would: changes one key and replaces the file.
    fn edit_config(&mut self) {
        let path = self.home.path().join("config.json");
        let text = fs::read_to_string(&path).expect("the file exists");
        let mut file: Value = serde_json::from_str(&text).expect("config.json parses");
        self.edit_count += 1;
        file["edits"] = self.edit_count.into();
        let temporary = self.home.path().join("config.json~");
        fs::write(&temporary, file.to_string()).expect("the home is writable");
        fs::rename(temporary, path).expect("the home is writable");
    }

    /// Edits a session from outside: appends messages or adds an unknown key.
    fn edit_session(&mut self) {
        let files = self.sessions();
        if files.is_empty() {
            return;
        }
        let path = self.rng.pick(&files).clone();
        let text = fs::read_to_string(&path).expect("the file exists");
        let mut file: Value = serde_json::from_str(&text).expect("a session parses");
        if self.rng.one_in(2) {
            let messages = file["messages"].as_array_mut().expect("a list");
            messages.push(json!({ "role": "user", "content": "outside", "id": 7 }));
            messages.push(json!({ "role": "assistant", "content": "outside too" }));
        } else {
            file["tag"] = json!("outside");
        }
        let temporary = path.with_extension("json~");
        fs::write(&temporary, file.to_string()).expect("the home is writable");
        fs::rename(temporary, path).expect("the home is writable");
    }

    fn sessions(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.home.path().join("sessions")) else {
            return Vec::new();
        };
        let paths = entries.map(|entry| entry.expect("a readable folder").path());
        let mut paths: Vec<PathBuf> = paths
            .filter(|path| {
                path.extension()
                    .is_some_and(|extension| extension == "json")
            })
            .collect();
        paths.sort();
        paths
    }

    fn random_step(&mut self) {
        match self.rng.below(6) {
            0 => self.set_tool_mode(),
            1 => self.edit_config(),
            2 => self.edit_session(),
            3 => {
                let process = self.start();
                self.finish(process);
            }
            _ => {
                let (first, second) = (self.start(), self.start());
                // Both processes may be running now.
                if self.rng.one_in(3) {
                    self.set_tool_mode();
                }
                self.finish(second);
                self.finish(first);
            }
        }
    }

    /// Runs one more process to its end, on the files that the others left.
    fn run_last_process(&mut self) {
        let mut process = self.start();
        self.shown_answers
            .extend(process.lines.recv_timeout(WAIT_TIMEOUT));
        let status = process.child.wait().expect("a child of this test");
        assert!(status.success(), "{status}");
    }

    fn check_files(&self) {
        let texts = self.sessions().into_iter().map(|path| {
            let text = fs::read_to_string(&path).expect("the file exists");
            let parsed: Result<Value, _> = serde_json::from_str(&text);
            let file = parsed.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            assert!(file["messages"].is_array(), "{}", path.display());
            text
        });
        let texts: Vec<String> = texts.collect();
        for answer in self.shown_answers.iter().filter(|line| !line.is_empty()) {
            let is_saved = texts.iter().any(|text| text.contains(answer.as_str()));
            assert!(is_saved, "`{answer}` was shown but is in no session");
        }
        let config =
            fs::read_to_string(self.home.path().join("config.json")).expect("the file exists");
        let config: Value = serde_json::from_str(&config).expect("config.json parses");
        assert_eq!(config["edits"], self.edit_count);
        assert_eq!(config["mine"], json!({ "kept": true }));
        assert_eq!(config["models"][0]["active"], true);
        let mode = self.mode.map(|mode| mode.name().into());
        assert_eq!(config.get("toolCallMode"), mode.as_ref());
    }
}

fn run_round(seed: u64) {
    let mut shared_home = SharedHome::new(seed);
    for _ in 0..1 + shared_home.rng.below(4) {
        shared_home.random_step();
    }
    shared_home.run_last_process();
    shared_home.check_files();
}

fn number_from_variable(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn no_shown_answer_and_no_setting_is_ever_lost() {
    let rounds = number_from_variable("HUMBLE_ROUNDS").unwrap_or(ROUNDS);
    let seeds = match number_from_variable("HUMBLE_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..rounds,
    };
    for seed in seeds {
        let outcome = std::panic::catch_unwind(|| run_round(seed));
        assert!(outcome.is_ok(), "HUMBLE_SEED={seed} failed");
    }
}
