//! The full-text index of all sessions: search results, reindexing, broken files, damaged indexes,
//! and two programs at once.

use super::*;
use humble::domain::{IndexProgress, SessionSummary};
use humble::search::{Document, DocumentFingerprint, Index, IndexChanges, PrefixLookup};
use humble::store::{ReadLimits, SessionIndex};

/// Long enough to index everything in these tests.
const AMPLE_TIME: Duration = Duration::from_secs(600);

struct Home {
    folder: TempDir,
    sessions: SessionStore,
    index: SessionIndex,
}

fn home() -> Home {
    let (folder, sessions) = new_store();
    let index = SessionIndex::new(sessions.clone(), index_path(&folder));
    Home {
        folder,
        sessions,
        index,
    }
}

fn index_path(folder: &TempDir) -> PathBuf {
    folder.path().join("cache/sessions.sqlite")
}

fn complete(count: usize) -> IndexProgress {
    IndexProgress {
        indexed: count,
        total: count,
        ..IndexProgress::default()
    }
}

impl Home {
    fn write(&self, id: &str, prompt: &str, answer: &str) -> &Self {
        let messages = json!([
            { "role": "user", "content": prompt },
            { "role": "assistant", "content": answer },
        ]);
        let file = json!({ "model": "qwen3:4b", "messages": messages });
        write_session(&self.folder, id, file.to_string());
        self
    }

    fn index_all(&self) -> IndexProgress {
        self.index.update(AMPLE_TIME)
    }

    fn find(&self, words: &str) -> Vec<String> {
        let found = self.index.search(words).unwrap().sessions;
        let mut names: Vec<String> = found.iter().map(ToString::to_string).collect();
        names.sort();
        names
    }

    fn listed(&self) -> Vec<SessionSummary> {
        self.index.list(ReadLimits::INSTANT).0
    }
}

#[test]
fn words_are_found_in_titles_prompts_and_answers() {
    let home = home();
    home.write(
        "a.json",
        "오늘 서울 날씨를 알려줘",
        "It is mild, 21 degrees.",
    )
    .write("b.json", "Trip to Busan", "부산 여행에는 기차가 좋습니다.")
    .write("c.json", "Fix the parser", "Running the tests…");
    assert_eq!(home.index_all(), complete(3));
    for (words, expected) in [
        ("날씨", vec!["a.json"]),
        ("서울에서", vec!["a.json"]),
        ("차가", vec!["b.json"]),
        ("\u{1102}\u{1161}\u{11af}\u{110a}\u{1175}", vec!["a.json"]),
        ("busan train", vec![]),
        ("BUSAN 기차", vec!["b.json"]),
        ("degre", vec!["a.json"]),
        ("de", vec![]),
        ("it", vec!["a.json"]),
        ("tests parser", vec!["c.json"]),
        ("run", vec!["c.json"]),
        ("x", vec![]),
        ("", vec![]),
        ("\" OR * NEAR(", vec![]),
    ] {
        assert_eq!(home.find(words), expected, "{words}");
    }
}

#[test]
fn a_session_stays_found_while_a_word_of_it_is_typed() {
    let home = home();
    let words = "running creating beautiful happiness databases generalization relational \
                 operating connections studies Policies stopped nationalism usefulness hopping";
    home.write("a.json", "words", words)
        .write("b.json", "other", "tax mine");
    home.index_all();
    for word in words.to_lowercase().split_whitespace() {
        for length in 5..=word.len() {
            let typed = &word[..length];
            assert_eq!(home.find(typed), ["a.json"], "{typed}");
        }
    }
    for typed in ["taxi", "mini", "taxis"] {
        assert_eq!(home.find(typed), Vec::<String>::new(), "{typed}");
    }
}

#[test]
fn words_of_one_session_may_be_in_different_parts_of_it() {
    let home = home();
    let filler = "filler ".repeat(400_000);
    home.write("a.json", "alpha", &format!("{filler} omega"))
        .write("b.json", "alpha", "beta");
    assert_eq!(home.index_all(), complete(2));
    assert_eq!(home.find("alpha omega"), ["a.json"]);
}

#[test]
fn only_changed_sessions_are_indexed_again_and_deleted_ones_are_removed() {
    let home = home();
    home.write("a.json", "first", "x")
        .write("b.json", "second", "y");
    home.index_all();
    home.write("a.json", "changed completely", "x");
    fs::remove_file(path_of(&home.folder, "b.json")).unwrap();
    assert_eq!(home.find("first"), ["a.json"], "not yet indexed again");
    assert_eq!(home.listed()[0].title, "changed completely");
    assert_eq!(home.index_all(), complete(1));
    assert_eq!(home.find("first"), Vec::<String>::new());
    assert_eq!(home.find("second"), Vec::<String>::new());
    assert_eq!(home.find("changed"), ["a.json"]);
}

#[test]
fn a_broken_session_is_listed_and_skipped_until_it_is_repaired() {
    let home = home();
    home.write("a.json", "good", "x");
    write_session(&home.folder, "b.json", "{\"messages\": [good");
    fs::create_dir(path_of(&home.folder, "c.json")).unwrap();
    let uncached = home.sessions.list();
    assert_eq!(home.index_all(), complete(3));
    let listed = home.listed();
    assert_eq!(listed, uncached);
    let broken = listed.iter().filter(|row| row.open_error.is_some());
    assert_eq!(broken.count(), 2);
    assert_eq!(home.find("good"), ["a.json"]);
    home.write("b.json", "good again", "x");
    assert_eq!(home.index_all(), complete(3));
    assert_eq!(home.find("good"), ["a.json", "b.json"]);
}

#[test]
fn a_deleted_or_damaged_index_is_built_again() {
    let home = home();
    home.write("a.json", "세션 검색", "x");
    home.index_all();
    let path = index_path(&home.folder);
    fs::remove_dir_all(path.parent().unwrap()).unwrap();
    assert_eq!(home.find("검색"), Vec::<String>::new());
    assert_eq!(home.listed()[0].title, "세션 검색");
    assert_eq!(home.index_all(), complete(1));
    assert_eq!(home.find("검색"), ["a.json"]);
    for suffix in ["-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{suffix}", path.display()));
    }
    fs::write(
        &path,
        "not a database at all, but long enough to be one".repeat(100),
    )
    .unwrap();
    assert_eq!(home.listed()[0].title, "세션 검색");
    assert_eq!(home.index_all(), complete(1));
    assert_eq!(home.find("검색"), ["a.json"]);
}

#[test]
fn a_session_index_with_overwritten_pages_is_built_again() {
    let mut damaged = 0;
    for page in 1..12 {
        let home = home();
        for number in 0..20 {
            home.write(&format!("{number}.json"), &"세션 검색 ".repeat(200), "x");
        }
        home.index_all();
        if !crate::support::damaged_file::damage_page(&index_path(&home.folder), page) {
            break;
        }
        damaged += 1;
        // A search, the list or an update may be the first to meet the damage.
        home.find("검색");
        home.listed();
        home.index_all();
        assert_eq!(home.find("검색").len(), 20, "page {page}");
    }
    assert!(damaged >= 5, "{damaged}");
}

#[test]
fn sessions_are_listed_even_if_the_index_cannot_be_written() {
    let home = home();
    home.write("a.json", "title", "x");
    fs::write(home.folder.path().join("cache"), "a file is in the way").unwrap();
    let progress = home.index_all();
    assert_eq!((progress.indexed, progress.total), (0, 1));
    assert!(progress.error.is_some());
    assert_eq!(home.listed()[0].title, "title");
}

#[test]
fn an_unused_home_gets_no_index() {
    let home = home();
    assert_eq!(home.index_all(), complete(0));
    assert_eq!(home.find("x"), Vec::<String>::new());
    assert!(!home.folder.path().join("cache").exists());
}

#[test]
fn indexing_stops_at_its_time_limit_and_continues_in_the_next_slice() {
    let home = home();
    for number in 0..250 {
        home.write(&format!("{number:03}.json"), &format!("word{number}"), "x");
    }
    let first = home.index.update(Duration::ZERO);
    assert!((1..250).contains(&first.indexed), "{first:?}");
    assert_eq!(
        home.index.list(ReadLimits::INSTANT).1.indexed,
        first.indexed
    );
    let mut slices = 1;
    while !home.index.update(Duration::ZERO).is_complete() {
        slices += 1;
        assert!(slices < 300);
    }
    assert!(slices > 2);
    assert_eq!(home.find("word249"), ["249.json"]);
}

#[test]
fn sessions_too_numerous_to_read_at_once_are_listed_by_file_name() {
    let home = home();
    home.write("20251016_162030_대화_제목.json", "대화 제목입니다", "x")
        .write("20251017_162030_Trip_to.json", "Trip to Busan", "y");
    let limits = ReadLimits {
        files: 1,
        bytes: u64::MAX,
    };
    let titles = |limits| -> Vec<String> {
        let listed = home.index.list(limits).0.into_iter();
        listed.map(|row| row.title).collect()
    };
    assert_eq!(titles(limits), ["Trip to Busan", "대화 제목"]);
    let limits = ReadLimits { files: 9, bytes: 0 };
    assert_eq!(titles(limits), ["Trip to", "대화 제목"]);
    home.index_all();
    assert_eq!(titles(limits), ["Trip to Busan", "대화 제목입니다"]);
}

/// Both programs see the same index, and only one of them writes at a time.
#[test]
fn two_programs_index_and_search_at_once() {
    let home = home();
    for number in 0..300 {
        home.write(
            &format!("{number:03}.json"),
            &format!("word{number}"),
            "공통 단어",
        );
    }
    let programs = [(); 2].map(|()| {
        let index = SessionIndex::new(home.sessions.clone(), index_path(&home.folder));
        std::thread::spawn(move || {
            let mut slices = 0;
            loop {
                let progress = index.update(Duration::from_millis(1));
                assert_eq!(progress.error, None);
                index.search("공통").unwrap();
                if progress.is_complete() {
                    return;
                }
                slices += 1;
                assert!(slices < 100_000);
            }
        })
    });
    for program in programs {
        program.join().unwrap();
    }
    assert_eq!(home.find("공통").len(), 300);
    assert_eq!(home.find("word7"), {
        let is_found = |number: &u32| number.to_string().starts_with('7');
        let found = (0..300).filter(is_found);
        found
            .map(|number| format!("{number:03}.json"))
            .collect::<Vec<_>>()
    });
}

#[test]
fn a_preview_begins_with_the_turn_in_which_the_words_occur() {
    let (_folder, sessions) = new_store();
    let long = format!("{}\n\nThe 날씨 is mild.", "Some prose.\n".repeat(1_000));
    let session = Session {
        messages: vec![
            SavedMessage::user("first"),
            SavedMessage::assistant("nothing here"),
            SavedMessage::user("second"),
            SavedMessage::assistant(long.as_str()),
            SavedMessage::user("third"),
        ],
        ..Session::new("m")
    };
    let id = sessions.create(&session, &now()).unwrap();
    let preview = sessions.preview(&id, &["날씨".to_owned()]).unwrap();
    let texts: Vec<&str> = preview
        .messages
        .iter()
        .map(|message| &*message.content)
        .collect();
    assert_eq!((preview.skipped, texts.len()), (2, 3));
    assert_eq!((texts[0], texts[2]), ("second", "third"));
    assert!(texts[1].starts_with("…\nSome prose.") && texts[1].len() < 2_100);
    assert!(texts[1].ends_with("The 날씨 is mild."));
    let title_only = sessions.preview(&id, &["absent".to_owned()]).unwrap();
    assert_eq!(
        (title_only.skipped, &*title_only.messages[0].content),
        (0, "first")
    );
    let excerpt = sessions.excerpt(&id, &["날씨".to_owned()]);
    let excerpt = excerpt.unwrap();
    assert!(
        excerpt.starts_with("…") && excerpt.ends_with("The 날씨 is mild."),
        "{excerpt}"
    );
}

#[test]
fn thinking_is_found_and_sessions_of_an_earlier_index_are_indexed_again() {
    let home = home();
    let file = json!({
        "model": "m",
        "messages": [{ "role": "user", "content": "q" }, { "role": "assistant", "content": "a" }],
        "humble": { "turns": [{ "message": 1, "thinking": "Perhaps a zebra." }] },
    });
    write_session(&home.folder, "a.json", file.to_string());
    // Index it as an earlier version did: by its modification time, and without its thinking.
    let path = path_of(&home.folder, "a.json");
    let metadata = fs::metadata(path).unwrap();
    let modified = metadata.modified().unwrap();
    let modified = modified.duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let earlier = Document {
        key: "a.json".to_owned(),
        title: "q".to_owned(),
        fingerprint: DocumentFingerprint {
            size: metadata.len(),
            modified_ns: modified.as_nanos().try_into().unwrap(),
        },
        details: String::new(),
        chunks: Vec::new(),
        stores_text: false,
    };
    let changes = IndexChanges {
        updated: vec![earlier],
        ..IndexChanges::default()
    };
    let mut index = Index::open_with(&index_path(&home.folder), PrefixLookup::Indexed).unwrap();
    index.apply(&changes).unwrap();
    assert_eq!(home.find("zebra"), Vec::<String>::new());
    assert_eq!(home.index_all(), complete(1));
    assert_eq!(home.find("zebra"), ["a.json"]);
}

#[test]
fn the_list_reports_whether_the_index_is_current() {
    let home = home();
    home.write("a.json", "first", "x")
        .write("b.json", "second", "y");
    let progress = || home.index.list(ReadLimits::INSTANT).1;
    assert!(!progress().is_current());
    home.index_all();
    assert_eq!(progress(), complete(2));
    assert!(progress().is_current());
    fs::remove_file(path_of(&home.folder, "b.json")).unwrap();
    assert!(progress().is_complete() && !progress().is_current());
    home.index_all();
    assert!(progress().is_current());
    home.write("a.json", "first, changed", "x");
    assert!(!progress().is_current());
}
