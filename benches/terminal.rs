//! `cargo bench --bench terminal`: runs the real program on a pseudo-terminal against a local model
//! server and measures it from outside. Prints a table of figures and their bounds.
//!
//! `-- --quick` measures less and skips the longest conversations; `-- --strict` fails if a figure
//! exceeds its bound; the name of a part, such as `resting`, runs only that part.

#[path = "terminal/answers.rs"]
mod answers;
#[path = "../tests/support/home.rs"]
mod home;
#[path = "terminal/idle.rs"]
mod idle;
#[path = "support/memory.rs"]
mod memory;
#[path = "../tests/support/model_server/mod.rs"]
mod model_server;
#[path = "terminal/process.rs"]
mod process;
#[path = "terminal/program.rs"]
mod program;
#[path = "terminal/report.rs"]
mod report;
#[path = "terminal/sessions.rs"]
mod sessions;
#[path = "terminal/streaming.rs"]
mod streaming;

use home::TestHome;
use model_server::ModelServer;
use report::Report;
use std::process::ExitCode;

const CHAT: &str = "/api/chat";

struct Scale {
    starts: usize,
    words: usize,
    keys: usize,
    /// Bytes of an answer sent at full speed.
    answer_bytes: usize,
    /// Bytes of the conversations in which the cost of a token is measured.
    conversations: &'static [usize],
    /// Bytes of the conversation that is opened and saved.
    large_conversation: Option<usize>,
}

const FULL_SCALE: Scale = Scale {
    starts: 20,
    words: 2_000,
    keys: 300,
    answer_bytes: 1_000_000,
    conversations: &[1_000_000, 10_000_000],
    large_conversation: Some(50_000_000),
};

const QUICK_SCALE: Scale = Scale {
    starts: 5,
    words: 500,
    keys: 60,
    answer_bytes: 200_000,
    conversations: &[1_000_000],
    large_conversation: None,
};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has_flag = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let scale = if has_flag("--quick") {
        QUICK_SCALE
    } else {
        FULL_SCALE
    };
    let mut parts = arguments
        .iter()
        .filter(|argument| !argument.starts_with('-'));
    let selected = parts.next().map(String::as_str);
    let is_selected = |part: &str| selected.is_none_or(|selected| selected == part);
    let mut report = Report::default();
    if is_selected("resting") {
        idle::measure(&mut report, &scale);
    }
    if is_selected("words") {
        streaming::measure_words(&mut report, &scale);
    }
    if is_selected("keys") {
        streaming::measure_keys(&mut report, &scale);
    }
    if is_selected("shapes") {
        streaming::measure_shapes(&mut report, &scale);
    }
    if is_selected("sessions") {
        sessions::measure(&mut report, &scale);
    }
    print!("{}", report.to_text());
    match has_flag("--strict") && report.has_exceeded_bound() {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    }
}

fn ollama() -> (ModelServer, TestHome) {
    let server = ModelServer::start();
    let home = TestHome::with_ollama(&server.url());
    (server, home)
}
