//! Stored branches, including those changed by other programs, and finding a session by name.

use super::*;
use humble::store::LookupError;

fn exchange(prompt: &str, answer: &str) -> [SavedMessage; 2] {
    [SavedMessage::user(prompt), SavedMessage::assistant(answer)]
}

fn rewind_time() -> Timestamp {
    Timestamp::UNIX_EPOCH
}

#[test]
fn extra_keys_of_messages_are_preserved_on_every_branch() {
    let (folder, sessions) = new_store();
    let before = json!({
        "messages": [
            { "role": "user", "content": "p" },
            { "role": "assistant", "content": "a", "id": 1 }, 5,
            { "role": "user", "content": "q", "id": 2 },
            { "role": "assistant", "content": [{ "type": "text", "text": "b" }] },
        ],
        "later": true,
    });
    write_session(&folder, "s.json", before.to_string());
    let mut session = sessions.open(&"s.json".into()).unwrap();
    session.rewind(2, rewind_time());
    session.messages.extend(exchange("q", "c"));
    sessions.save(&session).unwrap();
    let read_file = || -> Value {
        serde_json::from_slice(&fs::read(path_of(&folder, "s.json")).unwrap()).unwrap()
    };
    let tail = json!([before["messages"][3], before["messages"][4]]);
    assert_eq!(read_file()["humble"]["branches"][0]["messages"], tail);
    assert_eq!(read_file()["messages"][1], before["messages"][1]);

    let mut session = sessions.open(&"s.json".into()).unwrap();
    assert!(session.switch_branch(0, rewind_time()));
    sessions.save(&session).unwrap();
    assert_eq!(read_file()["messages"], before["messages"]);
    assert_eq!(read_file()["later"], true);
    let branch = &read_file()["humble"]["branches"][0];
    assert_eq!(branch["messages"][1]["content"], "c");
    let opened = sessions.open(&"s.json".into()).unwrap();
    assert_eq!(opened.messages, session.messages);
    assert_eq!(opened.branches[0].messages, session.branches[0].messages);
}

#[test]
fn a_branch_added_by_another_program_is_never_overwritten() {
    let (_folder, sessions) = new_store();
    let id = sessions.create(&conversation("p", "a"), &now()).unwrap();
    let mut mine = sessions.open(&id).unwrap();
    let mut other = mine.clone();
    other.rewind(0, rewind_time());
    other.messages.extend(exchange("p", "z"));
    sessions.save(&other).unwrap();
    mine.messages.extend(exchange("q", "b"));
    assert_eq!(
        sessions.save(&mine),
        Err(StoreError::ChangedElsewhere(id.clone()))
    );
    // The other program only undid a turn, so its branch is a prefix of ours.
    other.rewind(0, rewind_time());
    other
        .branches
        .retain(|branch| branch.messages[1].content == "a".into());
    let fork = sessions.create(&other, &now()).unwrap();
    mine.id = Some(fork.clone());
    sessions.save(&mine).unwrap();
    assert_eq!(sessions.open(&fork).unwrap().messages, mine.messages);
}

#[test]
fn unknown_keys_of_a_branch_are_preserved() {
    let (folder, sessions) = new_store();
    let branch = json!({
        "at": 0, "messages": [{ "role": "user", "content": "x" }], "later": { "deep": [1] },
    });
    let file = json!({ "messages": [], "humble": { "branches": [branch] } });
    write_session(&folder, "s.json", file.to_string());
    let mut session = sessions.open(&"s.json".into()).unwrap();
    session.messages.extend(exchange("p", "a"));
    sessions.save(&session).unwrap();
    let text = fs::read_to_string(path_of(&folder, "s.json")).unwrap();
    let saved: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(saved["humble"]["branches"], json!([branch]));
    assert_eq!(saved["messages"][1]["content"], "a");
}

#[test]
fn branch_records_of_unknown_shape_are_preserved() {
    let (folder, sessions) = new_store();
    let branch = json!({
        "at": 0, "messages": [{ "role": "user", "content": "x" }],
        "turns": { "2027": "another shape" }, "cancelled": 5, "left": "last Tuesday",
    });
    let file = json!({ "messages": [], "humble": { "branches": [branch] } });
    write_session(&folder, "s.json", file.to_string());
    let id = "s.json".into();
    let read_file = || -> Value {
        serde_json::from_slice(&fs::read(path_of(&folder, "s.json")).unwrap()).unwrap()
    };
    let mut session = sessions.open(&id).unwrap();
    session.messages.extend(exchange("p", "a"));
    sessions.save(&session).unwrap();
    assert_eq!(read_file()["humble"]["branches"], json!([branch]));
    // New records are appended after the unknown value.
    let mut session = sessions.open(&id).unwrap();
    session.branches[0]
        .turns
        .push(humble::domain::session::TurnRecord::new(1, ""));
    sessions.save(&session).unwrap();
    let turns = &read_file()["humble"]["branches"][0]["turns"];
    assert_eq!(
        *turns,
        json!([branch["turns"], { "message": 1, "model": "" }])
    );
}

#[test]
fn unrecognized_branches_are_preserved() {
    let (folder, sessions) = new_store();
    let unknown = json!([{ "at": 99, "messages": [{ "role": "user", "content": "x" }] }, "y"]);
    let file = json!({ "messages": [], "humble": { "branches": unknown } });
    write_session(&folder, "s.json", file.to_string());
    let mut session = sessions.open(&"s.json".into()).unwrap();
    assert_eq!(session.branches, []);
    session.messages.extend(exchange("p", "a"));
    session.rewind(0, rewind_time());
    sessions.save(&session).unwrap();
    let text = fs::read_to_string(path_of(&folder, "s.json")).unwrap();
    let branches = serde_json::from_str::<Value>(&text).unwrap()["humble"]["branches"].clone();
    assert_eq!(branches.as_array().map(Vec::len), Some(3));
    assert_eq!([&branches[0], &branches[1]], [&unknown[0], &unknown[1]]);
}

#[test]
fn a_session_is_found_by_file_name_by_title_or_by_part_of_either() {
    let (folder, sessions) = new_store();
    assert_eq!(sessions.latest(), Err(LookupError::NoSessions));
    let titled = |title: &str| json!({ "messages": [], "humble": { "title": title } }).to_string();
    write_session(&folder, "20250101_000000_a.json", titled("서울 여행"));
    write_session(&folder, "20260101_000000_b.json", titled("Trip to Rome"));
    write_session(&folder, "20270101_000000_c.json", "broken");
    let find = |wanted: &str| sessions.find(wanted).map(|id| id.to_string());
    let a = Ok("20250101_000000_a.json".to_owned());
    let b = Ok("20260101_000000_b.json".to_owned());
    for wanted in [
        "20250101_000000_a.json",
        "20250101_000000_a",
        "2025",
        "서울 여행",
        "서울",
        "여행",
    ] {
        assert_eq!(find(wanted), a, "{wanted}");
    }
    assert_eq!(find("trip to rome"), b);
    assert_eq!(sessions.latest().map(|id| id.to_string()), b);
    let ambiguous = find("20").unwrap_err();
    assert!(matches!(&ambiguous, LookupError::Ambiguous { matches, .. } if matches.len() == 3));
    // A whole title takes precedence over part of a title, and both over part of a file name.
    write_session(&folder, "20280101_000000_d.json", titled("Rome"));
    let d = Ok("20280101_000000_d.json".to_owned());
    assert_eq!((find("rome"), find("Trip")), (d, b.clone()));
    let newest_first = match find("o").unwrap_err() {
        LookupError::Ambiguous { matches, .. } => matches,
        error => panic!("{error}"),
    };
    let titles: Vec<&str> = newest_first.iter().map(|found| &*found.title).collect();
    assert_eq!(titles, ["Rome", "Trip to Rome"]);
    let unknown_name = find("Tripp to Roma").unwrap_err().notice();
    let expected = "Did you mean `20260101_000000_b.json`?";
    assert_eq!(unknown_name.advice, [expected.into()]);
    assert_eq!(
        unknown_name.what,
        "There is no conversation `Tripp to Roma`."
    );
    assert!(matches!(find(""), Err(LookupError::Unknown { .. })));
}
