//! Times pieces of work and prints their distribution.

use std::time::{Duration, Instant};

/// Runs `work`. Returns its result and how long it took.
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed())
}

/// Prints median, 95th and 99th percentile and maximum on one line.
pub fn print_times(name: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |percent: usize| {
        let index = ((times.len() - 1) * percent).div_ceil(100);
        format!("{:.2?}", times[index])
    };
    let [median, p95, p99, max] = [50, 95, 99, 100].map(at);
    println!("{name:<52} median {median:>9}, p95 {p95:>9}, p99 {p99:>9}, max {max:>9}");
}
