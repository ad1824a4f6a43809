//! Times the search index with 100,000 chunks of notes, a third of them Korean:
//! `cargo bench --bench search`.

use humble::search::{
    Chunk, Document, DocumentFingerprint, HybridQuery, Index, IndexChanges, Matching, SearchTerms,
};
use std::fs;
use std::time::{Duration, Instant};

const CHUNKS: usize = 100_000;
const CHUNKS_PER_NOTE: usize = 5;
const DIMENSIONS: usize = 384;
const REPETITIONS: usize = 50;

/// A small pseudo-random generator, so that runs are comparable.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Small numbers are more frequent, as words are in a language.
    fn rank(&mut self, count: usize) -> usize {
        let uniform = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        ((count as f64).powf(uniform) - 1.0) as usize
    }
}

fn english_word(rank: usize) -> String {
    const SYLLABLES: [&str; 20] = [
        "ta", "ro", "min", "sel", "ka", "vor", "li", "ne", "du", "pa", "sho", "gri", "ba", "tem",
        "lo", "fi", "wen", "ur", "ci", "mo",
    ];
    let mut word = String::new();
    let mut rest = rank + 20;
    while rest > 0 {
        word.push_str(SYLLABLES[rest % 20]);
        rest /= 20;
    }
    word
}

fn korean_word(rank: usize) -> String {
    let letter = |n: usize| char::from_u32(0xac00 + (n * 7919 % 11172) as u32).expect("Hangul");
    let particle = ["를", "은", "에서", "", ""][rank % 5];
    format!("{}{}{particle}", letter(rank), letter(rank / 50 + 3))
}

fn document(number: usize, random: &mut Random) -> Document {
    let is_korean = number.is_multiple_of(3);
    let mut words = |count: usize| -> String {
        let word = |_| {
            let rank = random.rank(20_000);
            if is_korean {
                korean_word(rank)
            } else {
                english_word(rank)
            }
        };
        (0..count).map(word).collect::<Vec<_>>().join(" ")
    };
    let title = words(4);
    let chunks = (0..CHUNKS_PER_NOTE).map(|_| Chunk {
        heading: words(3),
        body: words(120),
    });
    Document {
        key: format!("folder/note-{number}.md"),
        title,
        fingerprint: DocumentFingerprint {
            size: 1,
            modified_ns: 1,
        },
        chunks: chunks.collect(),
    }
}

fn vector(random: &mut Random) -> Vec<f32> {
    (0..DIMENSIONS)
        .map(|_| (random.next() % 2_000) as f32 / 1_000.0 - 1.0)
        .collect()
}

/// Resident memory of this process in MB, where the system tells.
fn memory_mb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.unwrap_or(0) / 1_024
}

fn report(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |part: f64| times[(part * (times.len() - 1) as f64) as usize].as_secs_f64() * 1_000.0;
    println!(
        "{what:<44} median {:7.2} ms, p95 {:7.2} ms",
        at(0.5),
        at(0.95)
    );
}

fn time_queries(index: &mut Index, what: &str, queries: &[String], vector: Option<&[f32]>) {
    let times = (0..REPETITIONS).map(|at| {
        let terms = SearchTerms::parse(&queries[at % queries.len()]);
        let start = Instant::now();
        let hits = index.search(&HybridQuery {
            terms: &terms,
            matching: Matching::Any,
            vector,
            limit: 20,
            one_per_document: true,
        });
        assert!(!hits.expect("searched").is_empty());
        start.elapsed()
    });
    report(what, times.collect());
}

/// Stores a vector for each chunk.
fn store_vectors(index: &mut Index, random: &mut Random) {
    index.set_embedding_model("bench", DIMENSIONS).expect("set");
    let start = Instant::now();
    let mut after = 0;
    loop {
        let batch = index.missing_vectors(after, 1_000).expect("listed");
        let Some(last) = batch.last() else { break };
        after = last.chunk;
        let vectors: Vec<_> = batch
            .iter()
            .map(|chunk| (chunk.chunk, vector(random)))
            .collect();
        index.store_vectors(&vectors).expect("stored");
    }
    println!(
        "storing {CHUNKS} vectors: {:.1} s",
        start.elapsed().as_secs_f64()
    );
}

/// Times searches without vectors. Returns the queries of two English words.
fn time_words(index: &mut Index) -> Vec<String> {
    let english: Vec<String> = (0..10)
        .map(|at| format!("{} {}", english_word(at * 37), english_word(at * 911 + 50)))
        .collect();
    let korean: Vec<String> = (0..10).map(|at| korean_word(at * 211 + 7)).collect();
    let common: Vec<String> = (0..10)
        .map(|at| {
            (0..6)
                .map(|word| english_word(at + word))
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect();
    time_queries(index, "two English words", &english, None);
    time_queries(
        index,
        "six of the most frequent English words",
        &common,
        None,
    );
    let commonest = [english_word(0)];
    time_queries(index, "the most frequent English word", &commonest, None);
    let commonest = [korean_word(0)];
    time_queries(index, "the most frequent Korean word", &commonest, None);
    time_queries(index, "a Korean word", &korean, None);
    english
}

fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("index.sqlite");
    let mut index = Index::open(&path).expect("opened");
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let start = Instant::now();
    for batch in 0..CHUNKS / CHUNKS_PER_NOTE / 100 {
        let documents = (0..100).map(|at| document(batch * 100 + at, &mut random));
        let changes = IndexChanges {
            updated: documents.collect(),
            removed: Vec::new(),
        };
        index.apply(&changes).expect("written");
    }
    println!(
        "build of {CHUNKS} chunks: {:.1} s",
        start.elapsed().as_secs_f64()
    );
    store_vectors(&mut index, &mut random);
    let size = fs::metadata(&path).expect("a file").len() >> 20;
    println!("index size: {size} MB");

    let english = time_words(&mut index);
    let query = vector(&mut random);
    let start = Instant::now();
    time_queries(
        &mut index,
        "two English words and a vector",
        &english,
        Some(&query),
    );
    println!(
        "  the first of these loads all vectors; all together {:.2} s",
        start.elapsed().as_secs_f64()
    );

    let times = (0..20).map(|at| {
        let changes = IndexChanges {
            updated: vec![document(at * 11, &mut random)],
            removed: Vec::new(),
        };
        let start = Instant::now();
        index.apply(&changes).expect("written");
        start.elapsed()
    });
    report("indexing one changed note", times.collect());
    println!("memory: {} MB", memory_mb());
}
