//! CPU time of a running process, from `/proc`. On systems without `/proc`, it is reported as not
//! available.

use std::collections::HashMap;
use std::fs;
use std::time::Duration;

/// CPU time of each thread of a process, by thread id.
pub struct ThreadCpuTimes(HashMap<String, Duration>);

impl ThreadCpuTimes {
    /// `None` if the system does not report it.
    pub fn measure(process: u32) -> Option<Self> {
        let threads = fs::read_dir(format!("/proc/{process}/task")).ok()?;
        let mut times = HashMap::new();
        for thread in threads.flatten() {
            // The first field is the CPU time in nanoseconds. The file is missing if the thread has
            // ended since the directory was listed.
            let Ok(text) = fs::read_to_string(thread.path().join("schedstat")) else {
                continue;
            };
            let time = text.split(' ').next()?.parse().ok()?;
            let id = thread.file_name().to_string_lossy().into_owned();
            times.insert(id, Duration::from_nanos(time));
        }
        (!times.is_empty()).then_some(Self(times))
    }

    /// CPU time used since `before`, excluding threads that have ended.
    pub fn since(&self, before: &Self) -> Duration {
        let differences = self.0.iter().map(|(id, time)| {
            let before = before.0.get(id).copied().unwrap_or_default();
            time.saturating_sub(before)
        });
        differences.sum()
    }
}

/// CPU time of a process since its start, including ended threads, with a resolution of 10 ms.
pub fn total_cpu_time(process: u32) -> Option<Duration> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The program name is in parentheses and may contain anything.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |field: usize| fields.get(field)?.parse::<u64>().ok();
    Some(Duration::from_millis((ticks(11)? + ticks(12)?) * 10))
}
