//! `cargo bench --bench terminal`: the real program on a pseudo-terminal, with a
//! model server of its own, measured from outside. It prints one table of figures
//! and of the bounds that they are meant to keep.
//!
//! `-- --quick` is shorter and leaves the longest conversations out; `-- --strict`
//! fails where a bound is not kept; a word, such as `resting`, runs one part.

#[path = "terminal/answers.rs"]
mod answers;
#[path = "../tests/support/home.rs"]
mod home;
#[path = "terminal/idle.rs"]
mod idle;
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

/// How much of everything is measured.
struct Scale {
    starts: usize,
    words: usize,
    keys: usize,
    /// Bytes of an answer that is sent as fast as it can be.
    answer_bytes: usize,
    /// Bytes of the conversations in which the cost of a token is measured.
    conversations: &'static [usize],
    /// Bytes of the one that is saved.
    large: Option<usize>,
}

const FULL_SCALE: Scale = Scale {
    starts: 20,
    words: 2_000,
    keys: 300,
    answer_bytes: 1_000_000,
    conversations: &[1_000_000, 10_000_000],
    large: Some(50_000_000),
};

const QUICK_SCALE: Scale = Scale {
    starts: 5,
    words: 500,
    keys: 60,
    answer_bytes: 200_000,
    conversations: &[1_000_000],
    large: None,
};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let scale = if has("--quick") {
        QUICK_SCALE
    } else {
        FULL_SCALE
    };
    let mut parts = arguments
        .iter()
        .filter(|argument| !argument.starts_with('-'));
    let one = parts.next().map(String::as_str);
    let wants = |part: &str| one.is_none_or(|one| one == part);
    let mut table = Report::default();
    if wants("resting") {
        idle::measure(&mut table, &scale);
    }
    if wants("words") {
        streaming::words(&mut table, &scale);
    }
    if wants("keys") {
        streaming::keys(&mut table, &scale);
    }
    if wants("shapes") {
        streaming::shapes(&mut table, &scale);
    }
    if wants("sessions") {
        sessions::measure(&mut table, &scale);
    }
    print!("{}", table.text());
    match has("--strict") && table.has_row_over() {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    }
}

/// A model server, and a home whose one model is there.
fn ollama() -> (ModelServer, TestHome) {
    let server = ModelServer::start();
    let home = TestHome::with_ollama(&server.url());
    (server, home)
}
