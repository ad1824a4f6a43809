//! The contents and order of the session list.

use super::*;

#[test]
fn the_list_is_newest_first_and_contains_only_sessions() {
    let (folder, sessions) = new_store();
    assert_eq!(sessions.list(), []);
    let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
    for (id, age) in [("old.json", 3), ("newest.json", 1), ("middle.json", 2)] {
        write_session(
            &folder,
            id,
            r#"{"model":"m","messages":[{"role":"user","content":"\n 제목 \nb"}]}"#,
        );
        let file = fs::File::options()
            .write(true)
            .open(path_of(&folder, id))
            .unwrap();
        file.set_modified(start - Duration::from_secs(age)).unwrap();
    }
    for name in [
        ".humble-x.tmp",
        ".hidden.json",
        "notes.txt",
        "s.json.lock",
        ".lock",
    ] {
        write_session(&folder, name, "{}");
    }
    fs::create_dir(path_of(&folder, "folder.json")).unwrap();
    let rows = sessions.list();
    let ids: Vec<_> = rows.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(
        ids,
        ["folder.json", "newest.json", "middle.json", "old.json"]
    );
    assert_eq!(rows[0].open_error.as_deref(), Some("it is a folder"));
    let row = &rows[3];
    assert_eq!(
        (row.title.as_str(), row.model.as_str(), row.message_count),
        ("제목", "m", 1)
    );
    assert_eq!(row.changed_at.as_second(), 999_997);
}

#[test]
fn the_order_of_the_list_survives_copying_the_files() {
    let (folder, sessions) = new_store();
    let local = |time: &str| {
        let time: jiff::civil::DateTime = time.parse().unwrap();
        let zoned = time.to_zoned(jiff::tz::TimeZone::system()).unwrap();
        zoned.timestamp()
    };
    let utc = |time: &str| time.parse::<Timestamp>().unwrap();
    let start = json!("2020-01-01T00:00:00Z");
    let turns = json!([{ "message": 1, "at": "2024-05-05T05:05:05Z" }, { "message": 3 }]);
    let cancelled =
        json!([{ "at": "2023-03-03T03:03:03Z", "after": 0, "prompt": "p", "words": "w" }]);
    let files = [
        (
            "20200101_000000_a.json",
            json!({ "startedAt": start, "humble": { "turns": turns } }),
            utc("2024-05-05T05:05:05Z"),
        ),
        (
            "b.json",
            json!({ "startedAt": start, "humble": { "cancelled": cancelled } }),
            utc("2023-03-03T03:03:03Z"),
        ),
        (
            "20221231_235959_c.json",
            json!({ "startedAt": start }),
            local("2022-12-31T23:59:59"),
        ),
        (
            "20211231_235959.json",
            json!({}),
            local("2021-12-31T23:59:59"),
        ),
        (
            "d.json",
            json!({ "startedAt": start }),
            utc("2020-01-01T00:00:00Z"),
        ),
        // These two names do not begin with a valid time.
        (
            "20229999_235959_e.json",
            json!({}),
            utc("1970-01-12T13:46:40Z"),
        ),
        (
            "20221231_2359590.json",
            json!({}),
            utc("1970-01-12T13:46:40Z"),
        ),
    ];
    for (id, root, _) in &files {
        let mut root = root.clone();
        root["messages"] = json!([]);
        write_session(&folder, id, root.to_string());
        let file = fs::File::options().write(true).open(path_of(&folder, id));
        let copied = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        file.unwrap().set_modified(copied).unwrap();
    }
    let listed = sessions.list();
    let rows: Vec<_> = listed
        .iter()
        .map(|row| (row.id.as_str(), row.changed_at))
        .collect();
    let expected = files.each_ref().map(|(id, _, at)| (*id, *at));
    assert_eq!(rows, expected);
}

#[test]
fn a_preview_contains_the_beginning_of_the_first_messages() {
    let (_folder, sessions) = new_store();
    let mut session = conversation("short", &"한".repeat(10_000));
    let messages = (0..200).map(|number| SavedMessage::user(number.to_string()));
    session.messages.extend(messages);
    let id = sessions.create(&session, &now()).unwrap();
    let preview = sessions.preview(&id, &[]).unwrap();
    let texts: Vec<&str> = preview
        .messages
        .iter()
        .map(|message| &*message.content)
        .collect();
    assert_eq!((texts.len(), texts[0], texts[2]), (64, "short", "0"));
    assert_eq!(texts[1], "한".repeat(2_048 / 3));
    assert_eq!(
        sessions.list()[0].message_count,
        202,
        "the list counts all messages"
    );
}

#[test]
fn clock_jumps_lose_no_session() {
    let (folder, sessions) = new_store();
    let zoned = |time: &str| time.parse::<jiff::Zoned>().unwrap();
    // The clock stays the same, jumps back and then far ahead; equal names get a number.
    let times = [
        zoned("2026-11-22T10:00:00[UTC]"),
        zoned("2026-11-22T10:00:00[UTC]"),
        zoned("2001-01-01T00:00:00[UTC]"),
        zoned("2199-12-31T23:59:59[UTC]"),
    ];
    let answers = ["one", "two", "three", "four"];
    let mut ids = Vec::new();
    for (time, answer) in times.iter().zip(answers) {
        let mut session = conversation("q", answer);
        session.started_at = Some(time.timestamp());
        ids.push(sessions.create(&session, time).unwrap());
    }
    let names: Vec<_> = ids.iter().map(|id| id.as_str()).collect();
    let expected = [
        "20261122_100000_q.json",
        "20261122_100000_q_2.json",
        "20010101_000000_q.json",
        "21991231_235959_q.json",
    ];
    assert_eq!(names, expected);
    // A session from the future can be continued and keeps its start time.
    let mut future = sessions.open(&ids[3]).unwrap();
    future.messages.push(SavedMessage::user("and now?"));
    future.messages.push(SavedMessage::assistant("five"));
    sessions.save(&future).unwrap();
    assert_eq!(sessions.list().len(), 4);
    let text = fs::read_to_string(path_of(&folder, names[3])).unwrap();
    assert!(text.contains("2199-12-31T23:59:59Z") && text.contains("five"));
    for (id, answer) in ids.iter().zip(answers) {
        let session = sessions.open(id).unwrap();
        assert_eq!(&*session.messages[1].content, answer);
    }
}
