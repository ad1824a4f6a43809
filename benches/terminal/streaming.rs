//! Streaming answers: CPU time, bytes written, and key latency.

use super::answers::{self, LAST_WORDS, MarkdownShape};
use super::memory::memory;
use super::model_server::{Gate, ModelServer};
use super::process::total_cpu_time;
use super::program::Program;
use super::report::{Report, Unit, megabytes, milliseconds, percentile};
use super::{CHAT, Scale, ollama};
use std::time::Duration;

/// Words per second of a fast model.
const WORDS_PER_SECOND: u32 = 200;
/// Tokens per second during which keys must respond.
const TOKENS_PER_SECOND: u32 = 2_000;
/// Number and pace of the tokens in a cost measurement.
const COUNTED_TOKENS: usize = 2_000;
const COUNTED_TOKENS_PER_SECOND: u32 = 500;

pub fn measure_words(report: &mut Report, scale: &Scale) {
    let (server, home) = ollama();
    let words = answers::prose(scale.words);
    let mut program = Program::open(&home);
    let bytes_before = program.bytes_written();
    let time_before = total_cpu_time(program.process);
    let [start_gate, end_gate] = [(); 2].map(|()| Gate::closed());
    start_gate.open();
    end_gate.open();
    server.queue_reply(
        CHAT,
        answers::paced(&words, WORDS_PER_SECOND, &start_gate, &end_gate),
    );
    program.send_prompt("words");
    program.wait_for_text(LAST_WORDS);
    program.wait_until_turn_ended();
    let time_after = total_cpu_time(program.process);
    let used = time_before
        .zip(time_after)
        .map(|(before, after)| after - before);
    let factor = words.len() as f64 / 2_000.0;
    report.add_bounded(
        format!(
            "CPU time of {} words at {WORDS_PER_SECOND} per second",
            words.len()
        ),
        used.map(|used| used.as_secs_f64()),
        Unit::Seconds,
        0.3 * factor,
    );
    let written = (program.bytes_written() - bytes_before) as f64;
    report.add(
        format!("written for {} words", words.len()),
        Some(written),
        Unit::Bytes,
    );
    let peak = memory(program.process, "VmHWM").map(megabytes);
    report.add_bounded("peak memory until then", peak, Unit::Megabytes, 30.0);
}

pub fn measure_keys(report: &mut Report, scale: &Scale) {
    let (server, home) = ollama();
    let mut program = Program::open(&home);
    let [start_gate, end_gate] = [(); 2].map(|()| Gate::closed());
    start_gate.open();
    // More than enough tokens; the rest is discarded with the program.
    let seconds = 10 + scale.keys / 15;
    let tokens = answers::prose(TOKENS_PER_SECOND as usize * seconds);
    server.queue_reply(
        CHAT,
        answers::paced(&tokens, TOKENS_PER_SECOND, &start_gate, &end_gate),
    );
    program.send_prompt("fast");
    program.wait_for_text("keeps its processor cool");
    let mut latencies: Vec<Duration> = (0..scale.keys)
        .map(|index| {
            // Vary the typing rhythm, so that keys arrive at different moments of a frame.
            std::thread::sleep(Duration::from_millis(30 + index as u64 * 7 % 19));
            program.key_latency("k")
        })
        .collect();
    latencies.sort();
    let latency = |share| Some(milliseconds(percentile(&latencies, share)));
    let label = format!("key to drawn letter at {TOKENS_PER_SECOND} tokens per second");
    report.add(format!("{label}, p50"), latency(0.5), Unit::Milliseconds);
    report.add_bounded(
        format!("{label}, p99"),
        latency(0.99),
        Unit::Milliseconds,
        16.0,
    );
    report.add(
        format!("{label}, slowest"),
        latency(1.0),
        Unit::Milliseconds,
    );
}

pub fn measure_shapes(report: &mut Report, scale: &Scale) {
    let size = scale.answer_bytes;
    let seconds_max = size as f64 / 1_000_000.0;
    for shape in MarkdownShape::ALL {
        let (server, home) = ollama();
        let tokens = shape.tokens(size);
        let mut program = Program::open(&home);
        let time_before = total_cpu_time(program.process);
        server.queue_reply(CHAT, answers::unpaced(&tokens));
        program.send_prompt("all");
        program.wait_for_text(LAST_WORDS);
        program.wait_until_turn_ended();
        let time_after = total_cpu_time(program.process);
        let used = time_before
            .zip(time_after)
            .map(|(before, after)| after - before);
        let kilobytes = size / 1_000;
        report.add_bounded(
            format!(
                "{kilobytes} kB as {}, {} tokens",
                shape.name(),
                tokens.len()
            ),
            used.map(|used| used.as_secs_f64()),
            Unit::Seconds,
            seconds_max,
        );
        if matches!(shape, MarkdownShape::Prose) {
            let resident = memory(program.process, "VmRSS").map(megabytes);
            let label = format!("memory after an answer of {kilobytes} kB");
            report.add_bounded(label, resident, Unit::Megabytes, 40.0);
        }
    }
}

/// CPU time per token in an open conversation.
pub fn token_cost(program: &mut Program, server: &ModelServer) -> Option<Duration> {
    let [start_gate, end_gate] = [(); 2].map(|()| Gate::closed());
    let tokens = answers::prose(COUNTED_TOKENS);
    server.queue_reply(
        CHAT,
        answers::paced(&tokens, COUNTED_TOKENS_PER_SECOND, &start_gate, &end_gate),
    );
    program.send_prompt("count");
    // Exclude the cost of the request before the answer and of the save after it.
    program.wait_for_text("It begins:");
    std::thread::sleep(Duration::from_millis(300));
    let cpu_before = program.cpu_times();
    start_gate.open();
    program.wait_for_text("all said");
    let cpu_after = program.cpu_times();
    end_gate.open();
    program.wait_until_turn_ended();
    let used = cpu_before
        .zip(cpu_after)
        .map(|(before, after)| after.since(&before));
    used.map(|used| used / COUNTED_TOKENS as u32)
}
