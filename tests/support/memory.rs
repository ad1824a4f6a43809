//! Resident memory of a process over time. Needs /proc.

/// Resident memory of a process, in kB. `process` is its id, or `self`.
pub fn resident_kilobytes(process: &str) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("/proc");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).expect("kB")
}

/// The slope in kB per minute of samples (minutes, kB), by least squares. Skips the first third of
/// the samples, during which buffers and caches are filled.
pub fn slope(samples: &[(f64, f64)]) -> f64 {
    let samples = &samples[samples.len() / 3..];
    let count = samples.len() as f64;
    let mean =
        |component: fn(&(f64, f64)) -> f64| samples.iter().map(component).sum::<f64>() / count;
    let (mean_x, mean_y) = (mean(|sample| sample.0), mean(|sample| sample.1));
    let numerator: f64 = samples
        .iter()
        .map(|(x, y)| (x - mean_x) * (y - mean_y))
        .sum();
    let denominator: f64 = samples.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    numerator / denominator
}
