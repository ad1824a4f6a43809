//! Sessions, journals and prompts on disk: file names, rewrites that preserve unknown data, and
//! several programs at once.

mod branches;
mod crashes;
mod export;
mod file_names;
mod journals;
mod phrases;
mod prompt_history;
mod records;
mod session_index;
mod session_list;
mod stopped_turns;
mod trash;

use humble::domain::session::MessageRole;
use humble::domain::{SavedMessage, Session, SessionId};
use humble::files;
use humble::store::{SessionStore, SessionTrash, StoreError};
use jiff::{Timestamp, Zoned};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

/// A fixed time, which the file names of new sessions contain.
fn now() -> Zoned {
    "2025-10-16T16:20:30+09:00[Asia/Seoul]".parse().unwrap()
}

fn new_store() -> (TempDir, SessionStore) {
    let folder = tempfile::tempdir().unwrap();
    let sessions = SessionStore::new(folder.path().join("sessions"));
    (folder, sessions)
}

fn conversation(prompt: &str, answer: &str) -> Session {
    Session {
        started_at: Some(Timestamp::UNIX_EPOCH),
        messages: vec![SavedMessage::user(prompt), SavedMessage::assistant(answer)],
        ..Session::new("gpt-4o")
    }
}

fn path_of(folder: &TempDir, id: &str) -> PathBuf {
    folder.path().join("sessions").join(id)
}

fn write_session(folder: &TempDir, id: &str, text: impl AsRef<[u8]>) {
    fs::create_dir_all(folder.path().join("sessions")).unwrap();
    fs::write(path_of(folder, id), text).unwrap();
}

fn file_names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

#[test]
fn a_session_is_written_in_the_documented_format() {
    let (folder, sessions) = new_store();
    let mut session = conversation("대화 제목 이다", "답");
    session.metadata.title = Some("T".to_owned());
    let id = sessions.create(&session, &now()).unwrap();
    assert_eq!(id.as_str(), "20251016_162030_대화_제목_이다.json");
    let text = fs::read_to_string(path_of(&folder, id.as_str())).unwrap();
    let expected = r#"{
  "model": "gpt-4o",
  "startedAt": "1970-01-01T00:00:00Z",
  "messages": [
    {
      "role": "user",
      "content": "대화 제목 이다"
    },
    {
      "role": "assistant",
      "content": "답"
    }
  ],
  "humble": {
    "title": "T"
  }
}
"#;
    assert_eq!(text, expected);
    session.id = Some(id.clone());
    assert_eq!(sessions.open(&id), Ok(session));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let metadata = fs::metadata(path_of(&folder, id.as_str())).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn concurrent_sessions_with_equal_names_get_separate_files() {
    let (folder, sessions) = new_store();
    let ids: BTreeSet<SessionId> = std::thread::scope(|scope| {
        let creators: Vec<_> = (0..20)
            .map(|number| {
                let sessions = &sessions;
                let session = conversation("같은 이름", &number.to_string());
                scope.spawn(move || sessions.create(&session, &now()).unwrap())
            })
            .collect();
        creators
            .into_iter()
            .map(|creator| creator.join().unwrap())
            .collect()
    });
    let expected: BTreeSet<SessionId> = (1..=20)
        .map(|number| match number {
            1 => "20251016_162030_같은_이름.json".into(),
            _ => SessionId::new(format!("20251016_162030_같은_이름_{number}.json")),
        })
        .collect();
    assert_eq!(ids, expected);
    let answers: BTreeSet<String> = ids
        .iter()
        .map(|id| sessions.open(id).unwrap().messages[1].content.to_string())
        .collect();
    assert_eq!(answers.len(), 20, "no file was replaced");
    assert_eq!(file_names(&folder.path().join("sessions")).len(), 20);
}

#[test]
fn an_existing_file_of_any_kind_is_never_overwritten() {
    let (folder, sessions) = new_store();
    write_session(&folder, "20251016_162030_a.json", "another program's text");
    fs::create_dir(path_of(&folder, "20251016_162030_a_2.json")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("gone", path_of(&folder, "20251016_162030_a_3.json")).unwrap();
    let id = sessions.create(&conversation("a", "b"), &now()).unwrap();
    assert_eq!(id.as_str(), "20251016_162030_a_4.json");
    let text = fs::read_to_string(path_of(&folder, "20251016_162030_a.json")).unwrap();
    assert_eq!(text, "another program's text");
}

#[test]
fn sessions_of_other_programs_can_be_opened() {
    let (folder, sessions) = new_store();
    write_session(
        &folder,
        "old.json",
        r#"{"messages":[
            {"role":"user","content":[{"type":"text","text":"one"},"two",{"type":"image","url":"x"}]},
            {"role":"assistant","content":null},
            {"role":"tool","content":"t"}, 5, {"content":{"text":"x"}}
        ],"startedAt":"2025-10-16T16:20:30.5+09:00","model":"m","extra":1}"#,
    );
    let session = sessions.open(&"old.json".into()).unwrap();
    let message = |role: MessageRole, content: &str| SavedMessage {
        role,
        content: content.into(),
        attachments: Vec::new(),
    };
    let expected = Session {
        id: Some("old.json".into()),
        model: "m".to_owned(),
        started_at: Some("2025-10-16T07:20:30.5Z".parse().unwrap()),
        messages: vec![
            message(MessageRole::User, "one\ntwo"),
            message(MessageRole::Assistant, ""),
            message(MessageRole::Other("tool".to_owned()), "t"),
            message(MessageRole::Other(String::new()), "x"),
        ],
        metadata: Default::default(),
        branches: Vec::new(),
    };
    assert_eq!(session, expected);
}

#[test]
fn saving_preserves_unknown_data() {
    let (folder, sessions) = new_store();
    let before = json!({
        "zeta": [1, 2.5],
        "messages": [
            { "id": 7, "role": "user", "content": [{ "type": "text", "text": "q" }] },
            { "role": "assistant", "content": "a", "later": { "x": null } },
        ],
        "humble": { "title": "T", "newer": true },
        "model": "old",
        "alpha": "",
    });
    write_session(&folder, "s.json", before.to_string());
    let mut session = sessions.open(&"s.json".into()).unwrap();
    session.model = "new".to_owned();
    session.messages.push(SavedMessage::user("q2"));
    session.metadata.extra = Map::from_iter([("usage".to_owned(), json!(3))]);
    sessions.save(&session).unwrap();
    let mut expected = before;
    expected["model"] = json!("new");
    expected["humble"]["usage"] = json!(3);
    let messages = expected["messages"].as_array_mut().unwrap();
    messages.push(json!({ "role": "user", "content": "q2" }));
    let text = fs::read_to_string(path_of(&folder, "s.json")).unwrap();
    let pretty = serde_json::to_string_pretty(&expected).unwrap();
    assert_eq!(text, format!("{pretty}\n"));
}

#[test]
fn a_session_that_another_program_changed_is_not_overwritten() {
    let (folder, sessions) = new_store();
    let id = sessions.create(&conversation("q", "a"), &now()).unwrap();
    let mut mine = sessions.open(&id).unwrap();
    let mut other = mine.clone();
    other.messages.push(SavedMessage::user("other"));
    sessions.save(&other).unwrap();
    mine.messages.push(SavedMessage::user("mine"));
    let error = sessions.save(&mine).unwrap_err();
    assert_eq!(error, StoreError::ChangedElsewhere(id.clone()));
    assert_eq!(sessions.open(&id), Ok(other));
    let fork = sessions.create(&mine, &now()).unwrap();
    assert_eq!(sessions.open(&fork).unwrap().messages, mine.messages);
    assert_eq!(
        file_names(&folder.path().join("sessions")).len(),
        3,
        "two sessions and a lock"
    );
}

#[test]
fn an_unreadable_session_is_listed_with_the_reason_and_never_overwritten() {
    let cases: [(&[u8], &str); 7] = [
        (b"", "it is empty"),
        (b"[]", "it is not a JSON object"),
        (b"{}", "it has no `messages`"),
        (b"{\"messages\":{}}", "its `messages` is not a list"),
        (
            b"{\"messages\":[],\"messages\":[]}",
            "it has two `messages` keys",
        ),
        (
            b"{\"messages\":[",
            "it is not valid JSON: EOF while parsing a list at line 1 column 13",
        ),
        (
            b"{\"messages\":[\"\xff\"]}",
            "it is not valid JSON: invalid unicode code point at line 1 column 15",
        ),
    ];
    for (bytes, why) in cases {
        let (folder, sessions) = new_store();
        write_session(&folder, "s.json", bytes);
        let rows = sessions.list();
        assert_eq!(rows[0].open_error.as_deref(), Some(why));
        let mut session = conversation("q", "a");
        session.id = Some("s.json".into());
        let error = StoreError::Unreadable {
            id: "s.json".into(),
            why: why.to_owned(),
        };
        assert_eq!(sessions.save(&session), Err(error.clone()));
        assert_eq!(sessions.open(&"s.json".into()), Err(error));
        assert_eq!(fs::read(path_of(&folder, "s.json")).unwrap(), bytes);
    }
}

#[test]
fn an_unreadable_start_time_is_preserved() {
    let (folder, sessions) = new_store();
    let text = r#"{"startedAt":"last Tuesday","messages":[]}"#;
    write_session(&folder, "s.json", text);
    let mut session = sessions.open(&"s.json".into()).unwrap();
    assert_eq!(session.started_at, None);
    session.started_at = Some(Timestamp::UNIX_EPOCH);
    session.messages.push(SavedMessage::user("hi"));
    sessions.save(&session).unwrap();
    let file = fs::read_to_string(path_of(&folder, "s.json")).unwrap();
    let file: serde_json::Value = serde_json::from_str(&file).unwrap();
    assert_eq!(file["startedAt"], "last Tuesday");
    assert_eq!(file["messages"][0]["content"], "hi");
}

#[test]
fn a_session_with_a_lone_surrogate_opens_but_is_never_overwritten() {
    let (folder, sessions) = new_store();
    let text = r#"{"messages":[{"role":"user","content":"a\ud800b"}],"title":"\udc00"}"#;
    write_session(&folder, "s.json", text);
    let mut session = sessions.open(&"s.json".into()).unwrap();
    assert_eq!(session.messages, [SavedMessage::user("a\u{fffd}b")]);
    assert_eq!(sessions.list()[0].open_error, None);
    session.messages.push(SavedMessage::assistant("c"));
    let changed = StoreError::ChangedElsewhere("s.json".into());
    assert_eq!(sessions.save(&session), Err(changed));
    assert_eq!(
        fs::read_to_string(path_of(&folder, "s.json")).unwrap(),
        text
    );
}

#[test]
fn a_folder_named_like_a_session_is_reported_with_fitting_advice() {
    let (folder, sessions) = new_store();
    fs::create_dir_all(path_of(&folder, "s.json")).unwrap();
    let error = sessions.open(&"s.json".into()).unwrap_err();
    let expected = "Not opened: the session `s.json` cannot be read: it is a folder. It was \
                    not changed. Move it out of the sessions folder.";
    assert_eq!(error.notice().summary(), expected);
}

#[test]
fn a_name_that_escapes_the_folder_is_rejected() {
    let (folder, sessions) = new_store();
    write_session(&folder, "in.json", "{}");
    fs::write(folder.path().join("out.json"), "{\"messages\":[]}").unwrap();
    let outside = folder.path().join("out.json");
    for id in [
        "../out.json",
        "..",
        "",
        "in",
        "a/../in.json",
        "a\\b.json",
        ".x.json",
        "a\0.json",
        outside.to_str().unwrap(),
    ] {
        let id = SessionId::new(id);
        assert_eq!(sessions.open(&id), Err(StoreError::InvalidName(id.clone())));
        let trash = SessionTrash::new(folder.path().join("trash"));
        assert_eq!(
            trash.delete(&sessions, &id, &now()),
            Err(StoreError::InvalidName(id.clone()))
        );
        let mut session = conversation("q", "a");
        session.id = Some(id.clone());
        assert_eq!(sessions.save(&session), Err(StoreError::InvalidName(id)));
    }
    assert!(outside.exists());
}

#[test]
fn a_deleted_session_can_be_saved_again() {
    let (folder, sessions) = new_store();
    let trash = SessionTrash::new(folder.path().join("trash"));
    assert_eq!(
        sessions.save(&conversation("q", "a")),
        Err(StoreError::NotCreated)
    );
    let id = sessions.create(&conversation("q", "a"), &now()).unwrap();
    let session = sessions.open(&id).unwrap();
    trash.delete(&sessions, &id, &now()).unwrap();
    assert_eq!(
        trash.delete(&sessions, &id, &now()),
        Err(StoreError::NotFound(id.clone()))
    );
    assert_eq!(sessions.open(&id), Err(StoreError::NotFound(id.clone())));
    sessions.save(&session).unwrap();
    assert_eq!(sessions.open(&id), Ok(session));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn unknown_keys_of_a_session_are_preserved_in_order(
        keys in prop::collection::vec(("[a-z한]{1,4}", (any::<i64>(), any::<f64>())), 0..8),
        position in 0_usize..8,
        is_plain in any::<bool>(),
    ) {
        let (folder, sessions) = new_store();
        let mut members: Vec<(String, Value)> =
            keys.into_iter().map(|(key, value)| (key, json!({ "v": value }))).collect();
        let mut messages = json!([{ "role": "user", "content": "q" }]);
        if !is_plain {
            messages[0]["k"] = json!(1);
        }
        members.insert(position.min(members.len()), ("messages".to_owned(), messages));
        let root = Value::Object(members.into_iter().collect());
        write_session(&folder, "s.json", root.to_string());
        let mut session = sessions.open(&"s.json".into()).unwrap();
        session.messages.push(SavedMessage::assistant("a"));
        sessions.save(&session).unwrap();
        let mut expected = root;
        let answer = json!({ "role": "assistant", "content": "a" });
        expected["messages"].as_array_mut().unwrap().push(answer);
        if expected.get("model").is_none() {
            expected["model"] = json!("");
        }
        let text = fs::read_to_string(path_of(&folder, "s.json")).unwrap();
        let actual: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(actual.to_string(), expected.to_string());
    }
}
