//! Stored branches, including those changed by other programs.

use super::*;
use humble::store::LookupError;

fn exchange(prompt: &str, answer: &str) -> [SavedMessage; 2] {
    [SavedMessage::user(prompt), SavedMessage::assistant(answer)]
}

fn now() -> Timestamp {
    Timestamp::UNIX_EPOCH
}

#[test]
fn extra_keys_of_messages_are_preserved_on_every_branch() {
    let (folder, sessions) = folder();
    let before = json!({
        "messages": [
            { "role": "user", "content": "p" },
            { "role": "assistant", "content": "a", "id": 1 }, 5,
            { "role": "user", "content": "q", "id": 2 },
            { "role": "assistant", "content": [{ "type": "text", "text": "b" }] },
        ],
        "later": true,
    });
    put(&folder, "s.json", before.to_string());
    let mut session = sessions.open(&"s.json".into()).unwrap();
    session.rewind(2, now());
    session.messages.extend(exchange("q", "c"));
    sessions.save(&session).unwrap();
    let read = || -> Value {
        serde_json::from_slice(&fs::read(path_of(&folder, "s.json")).unwrap()).unwrap()
    };
    let tail = json!([before["messages"][3], before["messages"][4]]);
    assert_eq!(read()["humble"]["branches"][0]["messages"], tail);
    assert_eq!(read()["messages"][1], before["messages"][1]);

    let mut session = sessions.open(&"s.json".into()).unwrap();
    assert!(session.switch_branch(0, now()));
    sessions.save(&session).unwrap();
    assert_eq!(read()["messages"], before["messages"]);
    assert_eq!(read()["later"], true);
    let branch = &read()["humble"]["branches"][0];
    assert_eq!(branch["messages"][1]["content"], "c");
    let opened = sessions.open(&"s.json".into()).unwrap();
    assert_eq!(opened.messages, session.messages);
    assert_eq!(opened.branches[0].messages, session.branches[0].messages);
}

#[test]
fn a_branch_added_by_another_program_is_never_overwritten() {
    let (_folder, sessions) = folder();
    let id = sessions.create(&conversation("p", "a"), &ended()).unwrap();
    let mut mine = sessions.open(&id).unwrap();
    let mut other = mine.clone();
    other.rewind(0, now());
    other.messages.extend(exchange("p", "z"));
    sessions.save(&other).unwrap();
    mine.messages.extend(exchange("q", "b"));
    assert_eq!(
        sessions.save(&mine),
        Err(StoreError::ChangedElsewhere(id.clone()))
    );
    // Here the other program has only undone a turn, so its branch is a prefix of ours.
    other.rewind(0, now());
    other
        .branches
        .retain(|branch| branch.messages[1].content == "a".into());
    let fork = sessions.create(&other, &ended()).unwrap();
    mine.id = Some(fork.clone());
    sessions.save(&mine).unwrap();
    assert_eq!(sessions.open(&fork).unwrap().messages, mine.messages);
}

#[test]
fn unknown_keys_of_a_branch_are_preserved() {
    let (folder, sessions) = folder();
    let branch = json!({
        "at": 0, "messages": [{ "role": "user", "content": "x" }], "later": { "deep": [1] },
    });
    let file = json!({ "messages": [], "humble": { "branches": [branch] } });
    put(&folder, "s.json", file.to_string());
    let mut session = sessions.open(&"s.json".into()).unwrap();
    session.messages.extend(exchange("p", "a"));
    sessions.save(&session).unwrap();
    let text = fs::read_to_string(path_of(&folder, "s.json")).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(file["humble"]["branches"], json!([branch]));
    assert_eq!(file["messages"][1]["content"], "a");
}

#[test]
fn branch_records_of_unknown_shape_are_preserved() {
    let (folder, sessions) = folder();
    let branch = json!({
        "at": 0, "messages": [{ "role": "user", "content": "x" }],
        "turns": { "2027": "another shape" }, "cancelled": 5, "left": "last Tuesday",
    });
    let file = json!({ "messages": [], "humble": { "branches": [branch] } });
    put(&folder, "s.json", file.to_string());
    let id = "s.json".into();
    let read = || -> Value {
        serde_json::from_slice(&fs::read(path_of(&folder, "s.json")).unwrap()).unwrap()
    };
    let mut session = sessions.open(&id).unwrap();
    session.messages.extend(exchange("p", "a"));
    sessions.save(&session).unwrap();
    assert_eq!(read()["humble"]["branches"], json!([branch]));
    // New records are appended after the unknown value.
    let mut session = sessions.open(&id).unwrap();
    session.branches[0]
        .turns
        .push(humble::domain::session::TurnRecord::new(1, ""));
    sessions.save(&session).unwrap();
    let turns = &read()["humble"]["branches"][0]["turns"];
    assert_eq!(
        *turns,
        json!([branch["turns"], { "message": 1, "model": "" }])
    );
}

#[test]
fn unrecognized_branches_are_preserved() {
    let (folder, sessions) = folder();
    let unknown = json!([{ "at": 99, "messages": [{ "role": "user", "content": "x" }] }, "y"]);
    let file = json!({ "messages": [], "humble": { "branches": unknown } });
    put(&folder, "s.json", file.to_string());
    let mut session = sessions.open(&"s.json".into()).unwrap();
    assert_eq!(session.branches, []);
    session.messages.extend(exchange("p", "a"));
    session.rewind(0, now());
    sessions.save(&session).unwrap();
    let text = fs::read_to_string(path_of(&folder, "s.json")).unwrap();
    let branches = serde_json::from_str::<Value>(&text).unwrap()["humble"]["branches"].clone();
    assert_eq!(branches.as_array().map(Vec::len), Some(3));
    assert_eq!([&branches[0], &branches[1]], [&unknown[0], &unknown[1]]);
}

#[test]
fn a_session_is_found_by_file_name_title_or_prefix() {
    let (folder, sessions) = folder();
    assert_eq!(sessions.latest(), Err(LookupError::NoSessions));
    let titled = |title: &str| json!({ "messages": [], "humble": { "title": title } }).to_string();
    put(&folder, "20250101_000000_a.json", titled("서울 여행"));
    put(&folder, "20260101_000000_b.json", titled("Trip to Rome"));
    put(&folder, "20270101_000000_c.json", "broken");
    let find = |name: &str| sessions.find(name).map(|id| id.to_string());
    let a = Ok("20250101_000000_a.json".to_owned());
    let b = Ok("20260101_000000_b.json".to_owned());
    for name in [
        "20250101_000000_a.json",
        "20250101_000000_a",
        "2025",
        "서울 여행",
        "서울",
    ] {
        assert_eq!(find(name), a, "{name}");
    }
    assert_eq!(find("trip to rome"), b);
    assert_eq!(sessions.latest().map(|id| id.to_string()), b);
    let ambiguous = find("20").unwrap_err();
    assert!(matches!(&ambiguous, LookupError::Ambiguous { matches, .. } if matches.len() == 3));
    let notice = find("Tripp to Roma").unwrap_err().notice();
    let expected = "Did you mean `20260101_000000_b.json`?";
    assert_eq!(notice.advice, [expected.into()]);
    assert_eq!(notice.what, "There is no conversation `Tripp to Roma`.");
    assert!(matches!(find(""), Err(LookupError::Unknown { .. })));
}
