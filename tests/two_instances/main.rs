//! Several processes share one home and are killed at any moment while files are edited
//! from outside. Every completely shown answer must be in a session, every file must parse,
//! and no setting may be lost.
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
/// Only a hang takes longer than this.
const WAIT_DEADLINE: Duration = Duration::from_secs(30);

/// A running process and the lines of its standard output.
struct Run {
    child: Child,
    lines: Receiver<String>,
}

struct Environment {
    home: TempDir,
    server: ModelServer,
    dice: TestRng,
    answers: u64,
    /// Answers that were shown completely.
    shown: Vec<String>,
    edits: u64,
    mode: Option<ToolMode>,
}

impl Environment {
    fn new(seed: u64) -> Self {
        let server = ModelServer::start();
        server.always_reply("/api/ps", ollama_loaded(&["m"]));
        let home = TempDir::new().expect("a temporary folder");
        let model = json!({
            "name": "m", "provider": "ollama", "baseUrl": server.url(), "active": true,
        });
        let config = json!({ "models": [model], "edits": 0, "mine": { "kept": true } });
        fs::write(home.path().join("config.json"), config.to_string()).expect("written");
        let dice = TestRng::new(seed);
        let shown = Vec::new();
        Self {
            home,
            server,
            dice,
            answers: 0,
            shown,
            edits: 0,
            mode: None,
        }
    }

    /// Starts `humble ask` and queues a unique answer for it.
    fn start(&mut self) -> Run {
        self.answers += 1;
        let answer = format!("answer-{:04}-끝", self.answers);
        self.server
            .queue_reply(CHAT, ollama_text(&[&answer[..7], &answer[7..]]));
        let option = *self.dice.pick(&["--save", "--continue"]);
        let prompt = format!("question {}", self.dice.below(3));
        let mut child = Command::new(env!("CARGO_BIN_EXE_humble"))
            .arg("--home")
            .arg(self.home.path())
            .args(["--no-tools", "ask", option, &prompt])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary runs");
        let out = child.stdout.take().expect("a pipe");
        let (line, lines) = channel();
        // The thread ends with the process's output.
        std::thread::spawn(move || {
            for read in BufReader::new(out).lines().map_while(Result::ok) {
                if line.send(read).is_err() {
                    return;
                }
            }
        });
        Run { child, lines }
    }

    /// Lets a process end, kills it at a random moment, or kills it as soon as its answer
    /// appears. Answers shown until then count.
    fn finish(&mut self, mut run: Run) {
        let wait = match self.dice.below(4) {
            0 => WAIT_DEADLINE,
            1 => Duration::from_millis(self.dice.below(150) as u64),
            _ => {
                let line = run.lines.recv_timeout(WAIT_DEADLINE);
                self.shown.extend(line);
                let _ = run.child.kill();
                Duration::ZERO
            }
        };
        if wait == WAIT_DEADLINE {
            self.shown.extend(run.lines.recv_timeout(WAIT_DEADLINE));
        } else {
            // The timeout only sets the moment of the kill.
            self.shown.extend(run.lines.recv_timeout(wait));
            let _ = run.child.kill();
        }
        run.child.wait().expect("a child of this test");
        self.shown.extend(run.lines.try_iter());
    }

    fn config(&self) -> Home {
        Home::at(self.home.path())
    }

    /// Changes a setting through the program, as a user would.
    fn set(&mut self) {
        let mode = *self.dice.pick(&[ToolMode::Auto, ToolMode::Manual]);
        config::set_tool_mode(&self.config(), mode).expect("written");
        self.mode = Some(mode);
    }

    /// Edits config.json like an editor: changes one key and replaces the file.
    fn edit_config(&mut self) {
        let path = self.home.path().join("config.json");
        let text = fs::read_to_string(&path).expect("there");
        let mut file: Value = serde_json::from_str(&text).expect("config.json parses");
        self.edits += 1;
        file["edits"] = self.edits.into();
        let temporary = self.home.path().join("config.json~");
        fs::write(&temporary, file.to_string()).expect("written");
        fs::rename(temporary, path).expect("renamed");
    }

    /// Edits a session from outside: appends messages or adds an unknown key.
    fn edit_session(&mut self) {
        let files = self.sessions();
        if files.is_empty() {
            return;
        }
        let path = self.dice.pick(&files).clone();
        let text = fs::read_to_string(&path).expect("there");
        let mut file: Value = serde_json::from_str(&text).expect("a session parses");
        if self.dice.one_in(2) {
            let list = file["messages"].as_array_mut().expect("a list");
            list.push(json!({ "role": "user", "content": "outside", "id": 7 }));
            list.push(json!({ "role": "assistant", "content": "outside too" }));
        } else {
            file["tag"] = json!("outside");
        }
        let temporary = path.with_extension("json~");
        fs::write(&temporary, file.to_string()).expect("written");
        fs::rename(temporary, path).expect("renamed");
    }

    fn sessions(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.home.path().join("sessions")) else {
            return Vec::new();
        };
        let paths = entries.map(|entry| entry.expect("readable").path());
        let mut paths: Vec<PathBuf> = paths
            .filter(|path| {
                path.extension()
                    .is_some_and(|extension| extension == "json")
            })
            .collect();
        paths.sort();
        paths
    }

    fn step(&mut self) {
        match self.dice.below(6) {
            0 => self.set(),
            1 => self.edit_config(),
            2 => self.edit_session(),
            3 => {
                let run = self.start();
                self.finish(run);
            }
            _ => {
                let (first, second) = (self.start(), self.start());
                // Both processes may be running now.
                if self.dice.one_in(3) {
                    self.set();
                }
                self.finish(second);
                self.finish(first);
            }
        }
    }

    /// Runs one more process to completion, over the files that the others left.
    fn settle(&mut self) {
        let mut run = self.start();
        self.shown.extend(run.lines.recv_timeout(WAIT_DEADLINE));
        let status = run.child.wait().expect("a child of this test");
        assert!(status.success(), "{status}");
    }

    fn check_cuts(&self) {
        let texts = self.sessions().into_iter().map(|path| {
            let text = fs::read_to_string(&path).expect("there");
            let parsed: Result<Value, _> = serde_json::from_str(&text);
            let file = parsed.unwrap_or_else(|fault| panic!("{}: {fault}", path.display()));
            assert!(file["messages"].is_array(), "{}", path.display());
            text
        });
        let texts: Vec<String> = texts.collect();
        for answer in self.shown.iter().filter(|line| !line.is_empty()) {
            let is_kept = texts.iter().any(|text| text.contains(answer.as_str()));
            assert!(is_kept, "`{answer}` was shown but is in no session");
        }
        let config = fs::read_to_string(self.home.path().join("config.json")).expect("there");
        let config: Value = serde_json::from_str(&config).expect("config.json parses");
        assert_eq!(config["edits"], self.edits);
        assert_eq!(config["mine"], json!({ "kept": true }));
        assert_eq!(config["models"][0]["active"], true);
        let mode = self.mode.map(|mode| mode.name().into());
        assert_eq!(config.get("toolCallMode"), mode.as_ref());
    }
}

fn round(seed: u64) {
    let mut world = Environment::new(seed);
    for _ in 0..1 + world.dice.below(4) {
        world.step();
    }
    world.settle();
    world.check_cuts();
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn no_shown_answer_and_no_setting_is_ever_lost() {
    let rounds = number("HUMBLE_ROUNDS").unwrap_or(ROUNDS);
    let seeds = match number("HUMBLE_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..rounds,
    };
    for seed in seeds {
        let outcome = std::panic::catch_unwind(|| round(seed));
        assert!(outcome.is_ok(), "HUMBLE_SEED={seed} fails");
    }
}
