//! Times listing and searching 10,000 sessions of 20 kB, a third of them Korean:
//! `cargo bench --bench sessions`. `HUMBLE_SESSIONS=1000` uses fewer.

#[path = "support/memory.rs"]
mod memory;
#[path = "support/random_words.rs"]
mod random_words;
#[path = "support/timing.rs"]
mod timing;

use humble::store::{ReadLimits, SessionIndex, SessionStore};
use memory::memory;
use random_words::{Random, english_word, korean_word};
use serde_json::json;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use timing::{print_times, timed};

const SESSIONS: usize = 10_000;
/// Messages per session, and average words per message.
const MESSAGES: usize = 10;
const WORDS: usize = 270;
const REPETITIONS: usize = 30;

/// Returns the size in bytes.
fn write_session(folder: &Path, number: usize, random: &mut Random) -> usize {
    let is_korean = number.is_multiple_of(3);
    let messages: Vec<_> = (0..MESSAGES)
        .map(|message| {
            let (role, words) = match message % 2 {
                0 => ("user", WORDS / 10),
                _ => ("assistant", WORDS * 2 - WORDS / 10),
            };
            json!({ "role": role, "content": random.text(is_korean, words) })
        })
        .collect();
    let second = number % 60;
    let (minute, hour) = (number / 60 % 60, number / 3_600 % 24);
    let name = format!("20260101_{hour:02}{minute:02}{second:02}_{number}.json");
    let started_at = format!("2026-01-01T{hour:02}:{minute:02}:{second:02}Z");
    let file = json!({ "model": "qwen3:4b", "startedAt": started_at, "messages": messages });
    let file = format!("{file:#}\n");
    fs::write(folder.join(name), &file).expect("written");
    file.len()
}

/// Resident memory of this process in MB, now and at its peak.
fn memory_mb() -> [u64; 2] {
    let bytes = |name| memory(std::process::id(), name).unwrap_or(0);
    ["VmRSS", "VmHWM"].map(|name| bytes(name) >> 20)
}

/// Evicts the file from the page cache of the operating system, if GNU `dd` is available.
fn drop_from_cache(path: &Path) {
    let input = format!("if={}", path.display());
    let mut dd = Command::new("dd");
    let dropped = dd.args([&input, "iflag=nocache", "count=0", "status=none"]);
    let _ = dropped.status();
}

fn time_searches(index: &SessionIndex, file: &Path) {
    let queries = [
        ("a rare English word", english_word(15_000)),
        ("a common English word", english_word(3)),
        (
            "three English words",
            [2_000, 300, 40].map(english_word).join(" "),
        ),
        ("the first three letters of many words", "min".to_owned()),
        ("the first four letters of words", "mins".to_owned()),
        (
            "two Hangul syllables",
            korean_word(1_003).chars().take(2).collect(),
        ),
        (
            "two common Hangul syllables",
            korean_word(3).chars().take(2).collect(),
        ),
        (
            "one Hangul syllable",
            korean_word(3).chars().take(1).collect(),
        ),
    ];
    for (label, words) in queries {
        let cold = (0..5).map(|_| {
            drop_from_cache(file);
            timed(|| index.search(&words).expect("searched")).1
        });
        print_times(&format!("cold search for {label}"), cold.collect());
        let found = index.search(&words).expect("searched").sessions.len();
        let warm = (0..REPETITIONS).map(|_| timed(|| index.search(&words).expect("searched")).1);
        print_times(&format!("  warm, {found} found"), warm.collect());
    }
}

fn main() {
    let count = std::env::var("HUMBLE_SESSIONS").ok();
    let count = count
        .and_then(|count| count.parse().ok())
        .unwrap_or(SESSIONS);
    let home = tempfile::tempdir().expect("a folder");
    let folder = home.path().join("sessions");
    fs::create_dir(&folder).expect("created");
    let mut random = Random::default();
    let sizes = (0..count).map(|number| write_session(&folder, number, &mut random));
    let bytes: usize = sizes.sum();
    println!("{count} sessions, {} MB", bytes / 1_000_000);
    let sessions = SessionStore::new(folder);
    let path = home.path().join("cache/sessions.sqlite");
    let index = SessionIndex::new(sessions, path.clone());
    let list = || timed(|| index.list(ReadLimits::INSTANT).0.len()).1;
    print_times("list without an index", (0..5).map(|_| list()).collect());
    let (slices, time) = timed(|| {
        let mut slices = 1;
        while !index.update(Duration::from_millis(250)).is_complete() {
            slices += 1;
        }
        slices
    });
    let megabytes = fs::metadata(&path).expect("an index").len() / 1_000_000;
    println!(
        "building the index: {:.1} s in {slices} slices, {megabytes} MB",
        time.as_secs_f64()
    );
    let [now, peak] = memory_mb();
    println!("memory after building: {now} MB, peak {peak} MB");
    print_times(
        "list with an index",
        (0..REPETITIONS).map(|_| list()).collect(),
    );
    let update = || timed(|| index.update(Duration::from_secs(60))).1;
    print_times(
        "indexing when nothing changed",
        (0..5).map(|_| update()).collect(),
    );
    time_searches(&index, &path);
    let [now, peak] = memory_mb();
    println!("memory: {now} MB, peak {peak} MB");
}
