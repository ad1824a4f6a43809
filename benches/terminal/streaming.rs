//! Answers that stream in: what they cost, how much is written for them, and how
//! long a key has to wait meanwhile.

use super::answers::{self, LAST_WORDS, MarkdownShape};
use super::model_server::{Gate, ModelServer};
use super::process::{memory, used_in_all};
use super::program::Program;
use super::report::{Report, Unit, megabytes, milliseconds, percentile};
use super::{CHAT, Scale, ollama};
use std::time::Duration;

/// Words a second of a fast model.
const WORDS_A_SECOND: u32 = 200;
/// Tokens a second that keys have to stand.
const TOKENS_A_SECOND: u32 = 2_000;
/// Tokens by which the cost of one is measured.
const COUNTED: usize = 2_000;
const COUNTED_A_SECOND: u32 = 500;

pub fn words(table: &mut Report, scale: &Scale) {
    let (server, home) = ollama();
    let words = answers::prose(scale.words);
    let mut program = Program::open(&home);
    let before = program.written();
    let used = used_in_all(program.process);
    let [first, last] = [(); 2].map(|()| Gate::closed());
    first.open();
    last.open();
    server.queue_reply(CHAT, answers::paced(&words, WORDS_A_SECOND, &first, &last));
    program.say("words");
    program.until_shows(LAST_WORDS);
    program.until_turn_ended();
    let after = used_in_all(program.process);
    let used = used.zip(after).map(|(before, after)| after - before);
    let share = words.len() as f64 / 2_000.0;
    table.bound(
        format!(
            "processor time of {} words at {WORDS_A_SECOND} a second",
            words.len()
        ),
        used.map(|used| used.as_secs_f64()),
        Unit::Seconds,
        0.3 * share,
    );
    let written = (program.written() - before) as f64;
    table.note(
        format!("written for {} words", words.len()),
        Some(written),
        Unit::Bytes,
    );
    let most = memory(program.process, "VmHWM").map(megabytes);
    table.bound("memory at most until then", most, Unit::Megabytes, 30.0);
}

pub fn keys(table: &mut Report, scale: &Scale) {
    let (server, home) = ollama();
    let mut program = Program::open(&home);
    let [first, last] = [(); 2].map(|()| Gate::closed());
    first.open();
    // More than enough: the rest is dropped with the program.
    let seconds = 10 + scale.keys / 15;
    let tokens = answers::prose(TOKENS_A_SECOND as usize * seconds);
    server.queue_reply(
        CHAT,
        answers::paced(&tokens, TOKENS_A_SECOND, &first, &last),
    );
    program.say("fast");
    program.until_shows("keeps its processor cool");
    let mut echoes: Vec<Duration> = (0..scale.keys)
        .map(|index| {
            // A pace of typing that meets frames at ever other moments.
            std::thread::sleep(Duration::from_millis(30 + index as u64 * 7 % 19));
            program.echo("k")
        })
        .collect();
    echoes.sort();
    let at = |share| Some(milliseconds(percentile(&echoes, share)));
    let what = format!("key to drawn letter at {TOKENS_A_SECOND} tokens a second");
    table.note(format!("{what}, p50"), at(0.5), Unit::Milliseconds);
    table.bound(format!("{what}, p99"), at(0.99), Unit::Milliseconds, 16.0);
    table.note(format!("{what}, slowest"), at(1.0), Unit::Milliseconds);
}

pub fn shapes(table: &mut Report, scale: &Scale) {
    let size = scale.answer_bytes;
    let share = size as f64 / 1_000_000.0;
    for shape in MarkdownShape::ALL {
        let (server, home) = ollama();
        let tokens = shape.tokens(size);
        let mut program = Program::open(&home);
        let used = used_in_all(program.process);
        server.queue_reply(CHAT, answers::at_once(&tokens));
        program.say("all");
        program.until_shows(LAST_WORDS);
        program.until_turn_ended();
        let after = used_in_all(program.process);
        let used = used.zip(after).map(|(before, after)| after - before);
        let kilobytes = size / 1_000;
        table.bound(
            format!(
                "{kilobytes} kB as {}, {} tokens",
                shape.name(),
                tokens.len()
            ),
            used.map(|used| used.as_secs_f64()),
            Unit::Seconds,
            share,
        );
        if matches!(shape, MarkdownShape::Prose) {
            let resident = memory(program.process, "VmRSS").map(megabytes);
            let what = format!("memory after an answer of {kilobytes} kB");
            table.bound(what, resident, Unit::Megabytes, 40.0);
        }
    }
}

/// Processor time of one token in a conversation that is open already.
pub fn token_cost(program: &mut Program, server: &ModelServer) -> Option<Duration> {
    let [first, last] = [(); 2].map(|()| Gate::closed());
    let tokens = answers::prose(COUNTED);
    server.queue_reply(
        CHAT,
        answers::paced(&tokens, COUNTED_A_SECOND, &first, &last),
    );
    program.say("count");
    // What a request costs before it, and a save after it, is not the token's.
    program.until_shows("It begins:");
    std::thread::sleep(Duration::from_millis(300));
    let before = program.used();
    first.open();
    program.until_shows("all said");
    let after = program.used();
    last.open();
    program.until_turn_ended();
    let used = before
        .zip(after)
        .map(|(before, after)| after.since(&before));
    used.map(|used| used / COUNTED as u32)
}
