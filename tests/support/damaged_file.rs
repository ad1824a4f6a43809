//! Damages database files.

use std::fs::OpenOptions;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

/// The page size of SQLite.
const PAGE_BYTES: u64 = 4_096;

/// Overwrites a page; the first page is 0. Returns false if the file has no such page.
pub fn damage_page(path: &Path, page: u64) -> bool {
    let mut file = OpenOptions::new().write(true).open(path).expect("opened");
    let start = page * PAGE_BYTES;
    if file.metadata().expect("a file").len() <= start {
        return false;
    }
    file.seek(SeekFrom::Start(start)).expect("sought");
    let noise = (0..PAGE_BYTES).map(|at| (at * 7_919 + page * 31) as u8 | 0x80);
    file.write_all(&noise.collect::<Vec<u8>>())
        .expect("written");
    true
}
