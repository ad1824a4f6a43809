//! `humble ask` with output that no one reads.

use super::*;
use rustix::process::{Pid, Signal, kill_process};
use std::io::Read;
use std::time::{Duration, Instant};

/// Nobody reads the pipe, so the thread that writes the answer blocks.
#[test]
fn a_signal_ends_ask_while_its_output_is_blocked() {
    let fixture = ask_fixture();
    let words: String = (0..200_000).map(|number| format!("{number} ")).collect();
    fixture.queue_reply(ollama_text(&[&words]));
    let mut child = fixture
        .command(&["ask", "Write."])
        .spawn()
        .expect("the program starts");
    let mut unread = child.stdout.take().expect("a pipe");
    // The answer has started, and the rest does not fit into the pipe.
    unread.read_exact(&mut [0; 8]).expect("the answer starts");
    let started = Instant::now();
    let pid = Pid::from_child(&child);
    kill_process(pid, Signal::TERM).expect("the program is running");
    let status = child.wait().expect("the program ends");
    assert_eq!(status.code(), Some(143));
    assert!(
        started.elapsed() < Duration::from_secs(3),
        "{:?}",
        started.elapsed()
    );
}
