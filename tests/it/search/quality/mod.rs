//! How well search finds notes, measured on notes and queries with known answers. The notes are
//! short texts in English and Korean about everyday topics, and many of them are similar.
//!
//! `keyword_search_finds_the_known_answers` runs with all tests. The table of `docs/notes.md`, with a
//! real embedding model and `rg` for comparison, comes from:
//!
//! ```text
//! HUMBLE_EMBEDDINGS_URL=http://127.0.0.1:8099/v1 cargo test --test it quality -- --ignored --nocapture
//! ```

use humble::config::{Home, Settings, read_settings_with};
use humble::domain::NotesSettings;
use humble::notes::{Vault, update_index};
use humble::ports::{Embedder, NoteRequest, NoteService};
use humble::provider::Provider;
use humble::search::{HybridQuery, Index, Matching, SearchTerms};
use serde_json::json;
use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use tempfile::TempDir;

const NOTES: [&str; 2] = [include_str!("notes-en.txt"), include_str!("notes-ko.txt")];
const QUERIES: &str = include_str!("queries.txt");
/// Prompts that no note answers, one per line.
const PROMPTS_WITHOUT_ANSWER: &str = include_str!("ordinary.txt");
/// The number of hits among which answers are counted.
const HITS_MAX: usize = 5;
const EMBEDDING_BATCH_SIZE: usize = 32;

struct KnownQuery {
    language: &'static str,
    text: &'static str,
    answers: Vec<&'static str>,
}

fn queries(language: &str) -> Vec<KnownQuery> {
    let lines = QUERIES.lines().filter(|line| !line.starts_with('#'));
    let parse = |line: &'static str| {
        let fields: Vec<&str> = line.split(" | ").collect();
        let [language, text, answers] = fields[..] else {
            panic!("{line}");
        };
        KnownQuery {
            language,
            text,
            answers: answers.split(' ').collect(),
        }
    };
    let queries = lines.map(parse);
    queries.filter(|query| query.language == language).collect()
}

/// The notes as files in a vault, with an index.
struct Corpus {
    folder: TempDir,
    root: PathBuf,
    index: Index,
    note_count: usize,
}

impl Corpus {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let root = fs::canonicalize(folder.path())
            .expect("a path")
            .join("vault");
        for note in NOTES.iter().flat_map(|notes| notes.split("== ")) {
            let Some((path, text)) = note.split_once('\n') else {
                continue;
            };
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("created");
            fs::write(path, text).expect("written");
        }
        let mut index = Index::open(&folder.path().join("index.sqlite")).expect("opened");
        let vault = Vault::open(&root).expect("a vault");
        let report = update_index(&vault, &mut index, &|| false).expect("indexed");
        Self {
            folder,
            root,
            index,
            note_count: report.notes,
        }
    }

    fn search(&mut self, words: &str, vector: Option<&[f32]>) -> Vec<String> {
        let query = HybridQuery {
            terms: &SearchTerms::parse(words),
            matching: Matching::Any,
            vector,
            limit: HITS_MAX,
            one_per_document: true,
        };
        let hits = self.index.search(&query).expect("searched");
        hits.into_iter().map(|hit| hit.key).collect()
    }

    /// The notes that `rg` finds, those with the most matches first.
    fn grep(&self, pattern: &str) -> Vec<String> {
        let output = Command::new("rg")
            .args(["-i", "--count-matches", "--", pattern])
            .current_dir(&self.root)
            .output()
            .expect("rg is installed");
        let text = String::from_utf8_lossy(&output.stdout);
        let mut found: Vec<(usize, String)> = text
            .lines()
            .filter_map(|line| {
                let (path, count) = line.rsplit_once(':')?;
                Some((count.parse().ok()?, path.to_owned()))
            })
            .collect();
        found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        let paths = found.into_iter().map(|(_, path)| path);
        paths.take(HITS_MAX).collect()
    }

    async fn embed(&mut self, settings: &Settings) {
        self.index.set_embedding_model("real", 384).expect("set");
        let missing = self.index.missing_vectors(0, 10_000).expect("listed");
        for batch in missing.chunks(EMBEDDING_BATCH_SIZE) {
            let texts = batch
                .iter()
                .map(|chunk| format!("{}\n{}\n{}", chunk.title, chunk.heading, chunk.body));
            let vectors = vectors_of(settings, texts.collect()).await;
            let stored: Vec<_> = batch.iter().map(|chunk| chunk.chunk).zip(vectors).collect();
            self.index.store_vectors(&stored).expect("stored");
        }
    }
}

async fn vectors_of(settings: &Settings, texts: Vec<String>) -> Vec<Vec<f32>> {
    let model = settings.active_model().expect("a model");
    let vectors = Provider::new().embed(model, texts).await;
    vectors.expect("vectors")
}

/// Recall at 5 and mean reciprocal rank (MRR).
#[derive(Debug)]
struct Quality {
    recall: f64,
    reciprocal_rank: f64,
}

fn measure(queries: &[KnownQuery], mut find: impl FnMut(&KnownQuery) -> Vec<String>) -> Quality {
    let (mut recall, mut reciprocal_rank) = (0.0, 0.0);
    for query in queries {
        let found = find(query);
        let is_answer = |path: &String| query.answers.contains(&path.as_str());
        let count = found.iter().filter(|path| is_answer(path)).count();
        recall += count as f64 / query.answers.len() as f64;
        reciprocal_rank += found
            .iter()
            .position(is_answer)
            .map_or(0.0, |at| 1.0 / (at + 1) as f64);
        if count < query.answers.len() && std::env::var_os("HUMBLE_SHOW_MISSES").is_some() {
            println!("missed: {} -> {found:?}", query.text);
        }
    }
    let count = queries.len() as f64;
    Quality {
        recall: recall / count,
        reciprocal_rank: reciprocal_rank / count,
    }
}

#[test]
fn keyword_search_finds_the_known_answers() {
    let mut corpus = Corpus::new();
    let (english, korean) = (queries("en"), queries("ko"));
    assert!(corpus.note_count >= 200 && english.len() + korean.len() >= 40);
    for query in english.iter().chain(&korean) {
        for answer in &query.answers {
            assert!(corpus.root.join(answer).is_file(), "{answer}");
        }
    }
    let in_english = measure(&english, |query| corpus.search(query.text, None));
    let in_korean = measure(&korean, |query| corpus.search(query.text, None));
    println!("English {in_english:?}, Korean {in_korean:?}");
    assert!(
        in_english.recall >= 0.85 && in_english.reciprocal_rank >= 0.8,
        "{in_english:?}"
    );
    assert!(
        in_korean.recall >= 0.95 && in_korean.reciprocal_rank >= 0.95,
        "{in_korean:?}"
    );
}

fn any_word(query: &str) -> String {
    let words = query.split(|c: char| !c.is_alphanumeric());
    words
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join("|")
}

/// Limits how many queries get no excerpt of an answering note, and how many prompts without an
/// answer get any excerpt.
#[tokio::test]
async fn most_prompts_get_excerpts_if_and_only_if_a_note_answers_them() {
    let corpus = Corpus::new();
    let home = Home::at(corpus.folder.path().join("home"));
    let notes = humble::app::notebook(&home, Provider::new());
    let sources = async |prompt: &str| -> Vec<String> {
        let request = NoteRequest {
            settings: NotesSettings {
                vaults: vec![corpus.root.clone()],
                ..NotesSettings::default()
            },
            vault: None,
            on_progress: Arc::new(|_| {}),
        };
        let found = notes.excerpts(request, prompt.to_owned()).await;
        let excerpts = found.expect("searched").excerpts.into_iter();
        excerpts.map(|excerpt| excerpt.note).collect()
    };
    for (language, share_min) in [("en", 0.67), ("ko", 1.0)] {
        let queries = queries(language);
        let mut answered = 0;
        for query in &queries {
            let found = sources(query.text).await;
            let is_answered = query
                .answers
                .iter()
                .any(|note| found.iter().any(|one| one == note));
            answered += usize::from(is_answered);
            if !is_answered {
                println!("no source: {} -> {found:?}", query.text);
            }
        }
        let share = answered as f64 / queries.len() as f64;
        println!("{language}: {answered} of {} queries", queries.len());
        assert!(share >= share_min, "{language}: {share}");
    }
    let unanswerable: Vec<&str> = PROMPTS_WITHOUT_ANSWER.lines().collect();
    let mut wrong = Vec::new();
    for prompt in &unanswerable {
        let found = sources(prompt).await;
        if !found.is_empty() {
            wrong.push(format!("{prompt} -> {found:?}"));
        }
    }
    println!(
        "{} of {} prompts: {wrong:#?}",
        wrong.len(),
        unanswerable.len()
    );
    assert!(unanswerable.len() >= 30 && wrong.len() <= 4, "{wrong:#?}");
    let one_word = sources("What did the OSPF thing say?").await;
    assert!(
        one_word.contains(&"network/ospf.md".to_owned()),
        "{one_word:?}"
    );
}

#[tokio::test]
#[ignore = "needs a server with an embedding model and rg"]
async fn table_of_search_quality() {
    let url = std::env::var("HUMBLE_EMBEDDINGS_URL").expect("the server's address");
    let mut corpus = Corpus::new();
    let home = Home::at(corpus.folder.path().join("home"));
    fs::create_dir_all(home.root()).expect("created");
    let model = json!({
        "name": "m", "model": "all-MiniLM-L6-v2", "provider": "openai", "baseUrl": url,
        "apiKey": "none", "active": true,
    });
    fs::write(home.config(), json!({ "models": [model] }).to_string()).expect("written");
    let settings = read_settings_with(&home, &|_| None).value;
    corpus.embed(&settings).await;
    for language in ["en", "ko"] {
        let queries = queries(language);
        let texts = queries.iter().map(|query| query.text.to_owned()).collect();
        let vectors = vectors_of(&settings, texts).await;
        let vectors: HashMap<&str, Vec<f32>> = queries
            .iter()
            .map(|query| query.text)
            .zip(vectors)
            .collect();
        let mut rows = vec![(
            "keyword",
            measure(&queries, |query| corpus.search(query.text, None)),
        )];
        if language == "en" {
            let vector = measure(&queries, |query| {
                corpus.search("", Some(&vectors[query.text]))
            });
            let hybrid = measure(&queries, |query| {
                corpus.search(query.text, Some(&vectors[query.text]))
            });
            rows.extend([("vector", vector), ("hybrid", hybrid)]);
        }
        let phrase = measure(&queries, |query| {
            corpus.grep(&query.text.replace('?', "\\?"))
        });
        let words = measure(&queries, |query| corpus.grep(&any_word(query.text)));
        rows.extend([("rg, the whole query", phrase), ("rg, any word", words)]);
        for (kind, quality) in rows {
            let Quality {
                recall,
                reciprocal_rank,
            } = quality;
            println!("{language}  {kind:<20} recall@5 {recall:.2}  MRR {reciprocal_rank:.2}");
        }
    }
}
