//! The idle program: startup time, memory, CPU time, and bytes written.

use super::memory::memory;
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
    report.add_bounded(
        "start to first frame, median",
        Some(median),
        Unit::Milliseconds,
        20.0,
    );
    report.add(
        "start to first frame, slowest",
        Some(slowest),
        Unit::Milliseconds,
    );

    let mut program = Program::open(&home);
    // Wait until all startup work has finished.
    std::thread::sleep(Duration::from_secs(1));
    let resident = memory(program.process, "VmRSS").map(megabytes);
    report.add_bounded("memory at rest", resident, Unit::Megabytes, 20.0);

    let (bytes_before, cpu_before) = (program.bytes_written(), program.cpu_times());
    std::thread::sleep(Duration::from_secs(1));
    let cpu_after = program.cpu_times();
    let cpu_time = cpu_before
        .zip(cpu_after)
        .map(|(before, after)| after.since(&before));
    let written = (program.bytes_written() - bytes_before) as f64;
    report.add_bounded("written in an idle second", Some(written), Unit::Bytes, 0.0);
    report.add(
        "CPU time of an idle second",
        cpu_time.map(milliseconds),
        Unit::Milliseconds,
    );

    let bytes_before = program.bytes_written();
    program.press(LEFT);
    std::thread::sleep(Duration::from_millis(300));
    let written = (program.bytes_written() - bytes_before) as f64;
    report.add_bounded(
        "written by a frame that changes nothing",
        Some(written),
        Unit::Bytes,
        0.0,
    );
}
