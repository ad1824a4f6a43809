//! Long conversations: opening time, memory, cost per token, and key latency while saving.

use super::home::TestHome;
use super::memory::memory;
use super::model_server::ollama_text;
use super::process::total_cpu_time;
use super::program::{CTRL_O, ENTER, Program};
use super::report::{Report, Unit, megabytes, milliseconds, percentile};
use super::streaming::token_cost;
use super::{CHAT, Scale, ollama};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

const SESSION_FILE: &str = "20251016_162030_long.json";
/// The last answer of a long conversation.
const LAST_TEXT: &str = "the last of it all";

pub fn measure(report: &mut Report, scale: &Scale) {
    let empty_cost = {
        let (server, home) = ollama();
        token_cost(&mut Program::open(&home), &server)
    };
    let microseconds = |cost: Option<Duration>| cost.map(|cost| milliseconds(cost) * 1_000.0);
    report.add(
        "a token in an empty conversation",
        microseconds(empty_cost),
        Unit::Microseconds,
    );
    for &bytes in scale.conversations {
        let (server, home) = ollama();
        write_conversation(&home, bytes);
        let mut program = Program::open(&home);
        open_conversation(&mut program);
        let long_cost = token_cost(&mut program, &server);
        let label = format!("a token after {} MB", bytes / 1_000_000);
        report.add(label.as_str(), microseconds(long_cost), Unit::Microseconds);
        let ratio = empty_cost
            .zip(long_cost)
            .map(|(empty, long)| long.as_secs_f64() / empty.as_secs_f64());
        report.add_bounded(
            format!("{label}, relative to an empty one"),
            ratio,
            Unit::Times,
            1.2,
        );
    }
    if let Some(bytes) = scale.large_conversation {
        measure_large_conversation(report, bytes);
    }
}

fn measure_large_conversation(report: &mut Report, bytes: usize) {
    let size = format!("{} MB", bytes / 1_000_000);
    let (server, home) = ollama();
    let file = write_conversation(&home, bytes);
    let mut program = Program::open(&home);
    let time_before = total_cpu_time(program.process);
    let opening_time = open_conversation(&mut program);
    report.add(
        format!("opening {size}"),
        Some(milliseconds(opening_time)),
        Unit::Milliseconds,
    );
    let time_after = total_cpu_time(program.process);
    let used = time_before
        .zip(time_after)
        .map(|(before, after)| milliseconds(after - before));
    report.add(
        format!("CPU time of opening {size}, with the list"),
        used,
        Unit::Milliseconds,
    );
    std::thread::sleep(Duration::from_secs(1));
    let resident = memory(program.process, "VmRSS").map(megabytes);
    report.add_bounded(
        format!("memory with {size} open"),
        resident,
        Unit::Megabytes,
        150.0,
    );

    server.queue_reply(CHAT, ollama_text(&["done."]));
    measure_saving(report, &mut program, &file, &size);
    std::thread::sleep(Duration::from_secs(1));
    let resident = memory(program.process, "VmRSS").map(megabytes);
    report.add(
        format!("memory with {size} open and saved"),
        resident,
        Unit::Megabytes,
    );
    let peak = memory(program.process, "VmHWM").map(megabytes);
    report.add("peak memory until then", peak, Unit::Megabytes);
}

/// Measures key latency while a turn ends and the conversation is saved.
fn measure_saving(report: &mut Report, program: &mut Program, file: &Path, size: &str) {
    let modified_before = modified_at(file);
    program.send_prompt("save");
    let mut latencies = Vec::new();
    let mut saved_at = None;
    let start = Instant::now();
    while saved_at.is_none_or(|saved: Instant| saved.elapsed() < Duration::from_millis(500)) {
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "the conversation was never saved"
        );
        latencies.push(program.key_latency("s"));
        if latencies.len() % 40 == 0 {
            // Clear the message to keep it short.
            program.press("\x15");
            std::thread::sleep(Duration::from_millis(40));
        }
        std::thread::sleep(Duration::from_millis(8));
        if saved_at.is_none() && modified_at(file) != modified_before {
            saved_at = Some(Instant::now());
        }
    }
    let duration = saved_at.map(|saved| milliseconds(saved - start));
    report.add(
        format!("until {size} are saved"),
        duration,
        Unit::Milliseconds,
    );
    latencies.sort();
    let slowest = Some(milliseconds(percentile(&latencies, 1.0)));
    report.add_bounded(
        format!("slowest key meanwhile, of {}", latencies.len()),
        slowest,
        Unit::Milliseconds,
        16.0,
    );
}

fn modified_at(file: &Path) -> Option<SystemTime> {
    fs::metadata(file)
        .and_then(|metadata| metadata.modified())
        .ok()
}

fn open_conversation(program: &mut Program) -> Duration {
    let start = Instant::now();
    program.press(CTRL_O);
    program.wait_for_text("long talk");
    std::thread::sleep(Duration::from_millis(50));
    program.press(ENTER);
    program.wait_until_gone("Preview");
    program.wait_for_text(LAST_TEXT);
    start.elapsed()
}

fn write_conversation(home: &TestHome, bytes: usize) -> PathBuf {
    let prompt = "Tell me more about it, and be thorough.";
    let line = "A paragraph of an answer with *some* words, 한글, and a list below it:\n\n\
        - the first item\n- the second item, a little longer than the first\n\n";
    let answer = line.repeat(30);
    let turn_count = bytes / (prompt.len() + answer.len());
    let mut messages = vec![
        json!({ "role": "user", "content": "A long talk" }),
        json!({ "role": "assistant", "content": "Yes." }),
    ];
    for _ in 0..turn_count {
        messages.push(json!({ "role": "user", "content": prompt }));
        messages.push(json!({ "role": "assistant", "content": answer }));
    }
    messages.push(json!({ "role": "user", "content": "And the end?" }));
    messages.push(json!({ "role": "assistant", "content": LAST_TEXT }));
    let session = json!({
        "model": "qwen3:4b",
        "startedAt": "2025-10-16T16:20:30+09:00",
        "messages": messages,
    });
    let folder = home.path().join("sessions");
    fs::create_dir_all(&folder).expect("the home is writable");
    let file = folder.join(SESSION_FILE);
    fs::write(&file, session.to_string()).expect("the home is writable");
    file
}
