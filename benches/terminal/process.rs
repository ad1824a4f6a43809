//! What a running process has used so far, from `/proc` where there is one. On
//! other systems nothing is known, and the rows that need it say so.

use std::collections::HashMap;
use std::fs;
use std::time::Duration;

/// Processor time of each thread of a process, by its id.
pub struct ProcessUsage(HashMap<String, Duration>);

impl ProcessUsage {
    /// None where the system does not tell.
    pub fn by(process: u32) -> Option<Self> {
        let threads = fs::read_dir(format!("/proc/{process}/task")).ok()?;
        let mut used = HashMap::new();
        for thread in threads.flatten() {
            // Nanoseconds on a processor come first. A thread may end meanwhile.
            let Ok(text) = fs::read_to_string(thread.path().join("schedstat")) else {
                continue;
            };
            let time = text.split(' ').next()?.parse().ok()?;
            let id = thread.file_name().to_string_lossy().into_owned();
            used.insert(id, Duration::from_nanos(time));
        }
        (!used.is_empty()).then_some(Self(used))
    }

    /// What was used since then, threads that ended since left out.
    pub fn since(&self, before: &Self) -> Duration {
        let used = self.0.iter().map(|(id, time)| {
            let before = before.0.get(id).copied().unwrap_or_default();
            time.saturating_sub(before)
        });
        used.sum()
    }
}

/// Processor time of a process from its start on, threads that ended included;
/// counted in hundredths of a second.
pub fn used_in_all(process: u32) -> Option<Duration> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name of the program stands in parentheses and may hold anything.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |field: usize| fields.get(field)?.parse::<u64>().ok();
    Some(Duration::from_millis((ticks(11)? + ticks(12)?) * 10))
}

/// Bytes of memory that are resident: `name` is `VmRSS` for now, `VmHWM` for the
/// most there ever were.
pub fn memory(process: u32, name: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}
