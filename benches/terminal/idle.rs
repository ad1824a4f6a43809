//! The idle program: startup time, memory, and bytes written.

use super::process::memory;
use super::program::{LEFT, Program};
use super::report::{Report, Unit, megabytes, milliseconds, percentile};
use super::{Scale, ollama};
use std::time::Duration;

pub fn measure(report: &mut Report, scale: &Scale) {
    let (_server, home) = ollama();
    let mut starts: Vec<Duration> = (0..scale.starts)
        .map(|_| Program::start(&home).first_frame())
        .collect();
    starts.sort();
    let median = milliseconds(percentile(&starts, 0.5));
    let slowest = milliseconds(percentile(&starts, 1.0));
    report.bound(
        "start to first frame, median",
        Some(median),
        Unit::Milliseconds,
        20.0,
    );
    report.note(
        "start to first frame, slowest",
        Some(slowest),
        Unit::Milliseconds,
    );

    let mut program = Program::open(&home);
    // Startup work has finished by then.
    std::thread::sleep(Duration::from_secs(1));
    let resident = memory(program.process, "VmRSS").map(megabytes);
    report.bound("memory at rest", resident, Unit::Megabytes, 20.0);

    let (before, used) = (program.bytes_written(), program.usage());
    std::thread::sleep(Duration::from_secs(1));
    let after = program.usage();
    let idle = used.zip(after).map(|(before, after)| after.since(&before));
    let written = (program.bytes_written() - before) as f64;
    report.bound("written in an idle second", Some(written), Unit::Bytes, 0.0);
    report.note(
        "processor time of an idle second",
        idle.map(milliseconds),
        Unit::Milliseconds,
    );

    let before = program.bytes_written();
    program.press(LEFT);
    std::thread::sleep(Duration::from_millis(300));
    let written = (program.bytes_written() - before) as f64;
    report.bound(
        "written by a frame that changes nothing",
        Some(written),
        Unit::Bytes,
        0.0,
    );
}
