//! The search index: words in many forms, vectors, replaced documents, and damaged or shared indexes.

mod quality;

use humble::search::{
    Chunk, Document, DocumentFingerprint, Hit, HybridQuery, Index, IndexChanges, Matching,
    PrefixLookup, SearchError, SearchTerms,
};
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

fn new_index() -> (TempDir, PathBuf, Index) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("cache/notes.sqlite");
    let index = Index::open(&path).expect("a new index");
    (folder, path, index)
}

fn document(key: &str, title: &str, bodies: &[&str]) -> Document {
    let chunk = |body: &&str| Chunk {
        heading: String::new(),
        body: (*body).to_owned(),
    };
    Document {
        key: key.to_owned(),
        title: title.to_owned(),
        fingerprint: DocumentFingerprint {
            size: 1,
            modified_ns: 2,
        },
        details: String::new(),
        chunks: bodies.iter().map(chunk).collect(),
        stores_text: true,
    }
}

fn add(index: &mut Index, documents: Vec<Document>) {
    let changes = IndexChanges {
        updated: documents,
        removed: Vec::new(),
    };
    index.apply(&changes).expect("written");
}

fn remove(index: &mut Index, key: &str) {
    let changes = IndexChanges {
        updated: Vec::new(),
        removed: vec![key.to_owned()],
    };
    index.apply(&changes).expect("written");
}

fn search(index: &mut Index, query: &str, matching: Matching, vector: Option<&[f32]>) -> Vec<Hit> {
    let query = HybridQuery {
        terms: &SearchTerms::parse(query),
        matching,
        vector,
        limit: 10,
        one_per_document: false,
    };
    index.search(&query).expect("searched")
}

fn keys(index: &mut Index, query: &str) -> Vec<String> {
    let hits = search(index, query, Matching::Any, None);
    hits.into_iter().map(|hit| hit.key).collect()
}

fn keys_matching_every_term(index: &mut Index, query: &str) -> Vec<String> {
    let hits = search(index, query, Matching::Every, None);
    let mut keys: Vec<String> = hits.into_iter().map(|hit| hit.key).collect();
    keys.sort();
    keys
}

#[test]
fn words_are_found_in_any_form_and_titles_count_more() {
    let (_folder, _, mut index) = new_index();
    add(
        &mut index,
        vec![
            document("a.md", "Shopping", &["milk, eggs and a new router"]),
            document(
                "b.md",
                "Router setup",
                &["Plug it in and wait for the light."],
            ),
            document(
                "wifi-password.md",
                "Home",
                &["kept in the drawer; cafés have their own"],
            ),
        ],
    );
    assert_eq!(
        keys(&mut index, "how do I set up the routers?"),
        ["b.md", "a.md"]
    );
    assert_eq!(keys(&mut index, "CAFE"), ["wifi-password.md"]);
    assert_eq!(
        keys(&mut index, "wifi password"),
        ["wifi-password.md"],
        "words of the file name are found"
    );
    assert_eq!(
        keys(&mut index, "\" OR title:*"),
        Vec::<String>::new(),
        "query syntax is not interpreted"
    );
    assert_eq!(keys_matching_every_term(&mut index, "new rout"), ["a.md"]);
    assert_eq!(
        keys_matching_every_term(&mut index, "milk light"),
        Vec::<String>::new()
    );
}

#[test]
fn two_korean_or_chinese_characters_are_found_inside_longer_words() {
    let (_folder, _, mut index) = new_index();
    let decomposed = "\u{1106}\u{1166}\u{1106}\u{1169}장";
    add(
        &mut index,
        vec![
            document("a.md", "회의록", &["다음 주에 데이터베이스를 옮긴다."]),
            document("b.md", "여행", &["제주도에서 먹은 것"]),
            document("c.md", "会议", &["下周迁移数据库。"]),
            document("d.md", decomposed, &["x"]),
        ],
    );
    assert_eq!(keys(&mut index, "데이"), ["a.md"]);
    assert_eq!(keys(&mut index, "이터베이스는"), ["a.md"]);
    assert_eq!(keys(&mut index, "数据"), ["c.md"]);
    assert_eq!(keys(&mut index, "메모"), ["d.md"]);
    assert_eq!(keys(&mut index, "책"), Vec::<String>::new());
    assert_eq!(
        keys_matching_every_term(&mut index, "베이스 옮긴"),
        ["a.md"]
    );
    assert_eq!(
        keys_matching_every_term(&mut index, "이스데이"),
        Vec::<String>::new()
    );
    assert_eq!(
        keys_matching_every_term(&mut index, "행"),
        ["b.md"],
        "the last character of a word is found"
    );
}

#[test]
fn replaced_and_removed_documents_are_no_longer_found() {
    let (_folder, _, mut index) = new_index();
    add(
        &mut index,
        vec![
            document("a.md", "A", &["apples"]),
            document("b.md", "B", &["pears"]),
        ],
    );
    add(&mut index, vec![document("a.md", "A", &["plums", "figs"])]);
    assert_eq!(keys(&mut index, "apples plums"), ["a.md"]);
    assert_eq!(keys(&mut index, "apples"), Vec::<String>::new());
    remove(&mut index, "b.md");
    assert_eq!(keys(&mut index, "pears"), Vec::<String>::new());
    assert_eq!(index.counts().expect("counted"), (1, 2));
    assert_eq!(index.fingerprints().expect("listed").len(), 1);
}

#[test]
fn vectors_count_more_than_words_and_unchanged_chunks_keep_theirs() {
    let (_folder, _, mut index) = new_index();
    index.set_embedding_model("mini", 2).expect("set");
    add(
        &mut index,
        vec![
            document("a.md", "A", &["cats", "dogs"]),
            document("b.md", "B", &["birds"]),
        ],
    );
    let missing = index.missing_vectors(0, 10).expect("listed");
    assert_eq!(missing.len(), 3);
    assert_eq!(
        index.missing_vectors(missing[0].chunk, 1).expect("listed"),
        [missing[1].clone()]
    );
    let vectors = [
        vec![1.0, 0.0, 0.0],
        vec![0.0, 1.0, 0.0],
        vec![0.9, 0.1, 0.0],
    ];
    let stored: Vec<(i64, Vec<f32>)> = missing
        .iter()
        .map(|chunk| chunk.chunk)
        .zip(vectors)
        .collect();
    index.store_vectors(&stored).expect("stored");
    let found = search(&mut index, "dogs", Matching::Any, Some(&[1.0, 0.0, 0.0]));
    let bodies: Vec<(&str, f32)> = found
        .iter()
        .map(|hit| (hit.body.as_str(), hit.score))
        .collect();
    assert_eq!(
        bodies.iter().map(|hit| hit.0).collect::<Vec<_>>(),
        ["cats", "birds", "dogs"]
    );
    assert!(
        (bodies[0].1 - 0.7).abs() < 0.01 && (bodies[2].1 - 0.3).abs() < 0.01,
        "{bodies:?}"
    );

    add(&mut index, vec![document("a.md", "A", &["dogs", "fish"])]);
    let missing = index.missing_vectors(0, 10).expect("listed");
    assert_eq!(missing.len(), 1);
    assert_eq!(missing[0].body, "fish");
    assert_eq!(index.missing_vector_count().expect("counted"), 1);
    let found = search(&mut index, "", Matching::Any, Some(&[0.0, 1.0, 0.0]));
    assert_eq!(found[0].body, "dogs");
}

#[test]
fn another_model_or_number_of_dimensions_discards_the_vectors() {
    let (_folder, _, mut index) = new_index();
    index.set_embedding_model("mini", 2).expect("set");
    add(&mut index, vec![document("a.md", "A", &["cats", "dogs"])]);
    let chunks = index.missing_vectors(0, 10).expect("listed");
    let error = index.store_vectors(&[(chunks[0].chunk, vec![1.0]), (chunks[1].chunk, vec![])]);
    assert!(
        matches!(error, Err(SearchError::Dimensions { .. })),
        "{error:?}"
    );
    index
        .store_vectors(&[(chunks[0].chunk, vec![1.0, 0.0])])
        .expect("stored");
    index.set_embedding_model("mini", 2).expect("set");
    assert_eq!(index.missing_vector_count().expect("counted"), 1);
    index
        .store_vectors(&[(chunks[1].chunk, vec![1.0, 0.0, 0.0])])
        .expect("stored");
    assert_eq!(
        index.missing_vectors(0, 10).expect("listed").len(),
        1,
        "the vector with two dimensions is gone"
    );
    assert_eq!(index.dimensions().expect("read"), 3);
    index.set_embedding_model("large", 2).expect("set");
    assert_eq!(index.missing_vector_count().expect("counted"), 2);
}

#[test]
fn a_damaged_index_is_replaced_and_two_programs_share_one() {
    let (_folder, path, mut index) = new_index();
    index.set_embedding_model("mini", 2).expect("set");
    add(&mut index, vec![document("a.md", "A", &["cats"])]);
    let chunk = index.missing_vectors(0, 1).expect("listed")[0].chunk;
    index
        .store_vectors(&[(chunk, vec![1.0, 0.0])])
        .expect("stored");
    let query = Some([1.0, 0.0]);
    assert_eq!(
        search(
            &mut index,
            "",
            Matching::Any,
            query.as_ref().map(|v| &v[..])
        )
        .len(),
        1
    );

    let mut other = Index::open(&path).expect("opened twice");
    add(&mut other, vec![document("b.md", "B", &["dogs"])]);
    let chunk = other.missing_vectors(0, 1).expect("listed")[0].chunk;
    other
        .store_vectors(&[(chunk, vec![1.0, 0.0])])
        .expect("stored");
    let found = search(
        &mut index,
        "",
        Matching::Any,
        query.as_ref().map(|v| &v[..]),
    );
    assert_eq!(found.len(), 2, "the other program's vector is seen");
    drop((index, other));

    fs::write(
        &path,
        "not a database, and long enough to have a header of one",
    )
    .expect("written");
    let index = Index::open(&path).expect("opened again");
    assert_eq!(index.counts().expect("counted"), (0, 0));
}

#[test]
fn an_index_with_the_other_prefix_lookup_is_replaced_and_finds_the_same() {
    let (_folder, path, mut index) = new_index();
    let note = || document("a.md", "Tea", &["Minting coins 홍차"]);
    for prefixes in [
        PrefixLookup::Scan,
        PrefixLookup::Indexed,
        PrefixLookup::Scan,
    ] {
        drop(index);
        index = Index::open_with(&path, prefixes).expect("opened");
        if prefixes == PrefixLookup::Indexed {
            assert_eq!(index.counts().expect("counted"), (0, 0));
        }
        add(&mut index, vec![note()]);
        for beginning in ["m", "mi", "min", "mint", "minti", "minting", "홍", "홍차"] {
            let terms = SearchTerms::parse(beginning);
            let found = index.documents_with_all(&terms).expect("searched");
            let is_found = beginning.chars().count() > 2 || !beginning.is_ascii();
            assert_eq!(found.len(), usize::from(is_found), "{beginning}");
        }
    }
}

/// In an index of this size, ranking ignores common words if the query has a rare one.
#[test]
fn in_a_large_index_common_words_find_titles_first_and_rare_words_decide() {
    let (_folder, _, mut index) = new_index();
    let documents = (0..20_000).map(|number| {
        let title = match number % 4_000 {
            3_999 => "Alpha plan",
            _ => "Note",
        };
        let body = match number {
            19_000 => "alpha beta quokka 사과",
            _ => "alpha beta 사과",
        };
        document(&format!("{number}.md"), title, &[body])
    });
    add(&mut index, documents.collect());
    let titles = ["11999.md", "15999.md", "19999.md", "3999.md", "7999.md"];
    let mut found = keys(&mut index, "alpha");
    found.truncate(5);
    found.sort();
    assert_eq!(found, titles);
    assert_eq!(keys(&mut index, "alpha beta quokka"), ["19000.md"]);
    assert!(!keys(&mut index, "alpha beta").is_empty());
    assert!(!keys(&mut index, "사과").is_empty());
    assert_eq!(keys(&mut index, "사과 quokka"), ["19000.md"]);
}
