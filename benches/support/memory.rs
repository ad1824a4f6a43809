//! Memory of a process, from `/proc`.

use std::fs;

/// Resident memory in bytes: `name` is `VmRSS` for the current value, `VmHWM` for the peak. `None`
/// on systems without `/proc`.
pub fn memory(process: u32, name: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}
