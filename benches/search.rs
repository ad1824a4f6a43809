//! Times the search index with 100,000 chunks of notes, a third of them Korean:
//! `cargo bench --bench search`.

#[path = "support/memory.rs"]
mod memory;
#[path = "support/random_words.rs"]
mod random_words;
#[path = "support/timing.rs"]
mod timing;

use humble::search::{
    Chunk, Document, DocumentFingerprint, HybridQuery, Index, IndexChanges, Matching, SearchTerms,
};
use memory::memory;
use random_words::{Random, english_word, korean_word};
use std::fs;
use std::time::Instant;
use timing::{print_times, timed};

const CHUNKS: usize = 100_000;
const CHUNKS_PER_NOTE: usize = 5;
const DIMENSIONS: usize = 384;
const REPETITIONS: usize = 50;

fn document(number: usize, random: &mut Random) -> Document {
    let is_korean = number.is_multiple_of(3);
    let mut words = |count| random.text(is_korean, count);
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
        details: String::new(),
        chunks: chunks.collect(),
        stores_text: true,
    }
}

fn vector(random: &mut Random) -> Vec<f32> {
    (0..DIMENSIONS)
        .map(|_| (random.next() % 2_000) as f32 / 1_000.0 - 1.0)
        .collect()
}

fn time_queries(index: &mut Index, label: &str, queries: &[String], vector: Option<&[f32]>) {
    let times = (0..REPETITIONS).map(|at| {
        let terms = SearchTerms::parse(&queries[at % queries.len()]);
        let query = HybridQuery {
            terms: &terms,
            matching: Matching::Any,
            vector,
            limit: 20,
            one_per_document: true,
        };
        let (hits, time) = timed(|| index.search(&query).expect("searched"));
        assert!(!hits.is_empty());
        time
    });
    print_times(label, times.collect());
}

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
    let mut random = Random::default();
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
        "  the first of these loads all vectors; together they take {:.2} s",
        start.elapsed().as_secs_f64()
    );

    let times = (0..20).map(|at| {
        let changes = IndexChanges {
            updated: vec![document(at * 11, &mut random)],
            removed: Vec::new(),
        };
        timed(|| index.apply(&changes).expect("written")).1
    });
    print_times("indexing one changed note", times.collect());
    let bytes = memory(std::process::id(), "VmRSS").unwrap_or(0);
    println!("memory: {} MB", bytes >> 20);
}
