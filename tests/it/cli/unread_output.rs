//! `humble ask` with output that no one reads.

use super::*;
use rustix::process::{Pid, Signal, kill_process};
use std::io::Read;
use std::time::{Duration, Instant};

/// An unread pipe blocks the thread that writes the answer.
#[test]
fn a_signal_ends_ask_while_its_output_is_blocked() {
    let case = ask_fixture();
    let words: String = (0..200_000).map(|number| format!("{number} ")).collect();
    case.on(ollama_text(&[&words]));
    let mut child = case
        .command(&["ask", "Write."])
        .spawn()
        .expect("the program starts");
    let mut unread = child.stdout.take().expect("a pipe");
    // The answer has started, and the rest does not fit into the pipe.
    unread.read_exact(&mut [0; 8]).expect("the answer starts");
    let began = Instant::now();
    let pid = Pid::from_child(&child);
    kill_process(pid, Signal::TERM).expect("the program is running");
    let status = child.wait().expect("the program ends");
    assert_eq!(status.code(), Some(143));
    assert!(
        began.elapsed() < Duration::from_secs(3),
        "{:?}",
        began.elapsed()
    );
}
