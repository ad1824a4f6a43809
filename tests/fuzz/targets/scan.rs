//! Scans arbitrary text split at arbitrary offsets; the first bytes of the input give the offsets.

#![no_main]

#[path = "../../support/fixtures.rs"]
mod fixtures;
#[path = "../../support/scan_invariants.rs"]
mod scan_invariants;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let (cuts, text) = input.split_at(input.len().min(4));
    let cuts: Vec<usize> = cuts
        .chunks(2)
        .map(|pair| pair.iter().fold(0, |cut, byte| cut << 8 | usize::from(*byte)))
        .collect();
    scan_invariants::check_cuts(&String::from_utf8_lossy(text), &cuts);
});
