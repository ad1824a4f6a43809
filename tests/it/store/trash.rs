//! Deleting a session, restoring it, renaming and copying it, and emptying the trash.

use super::*;
use humble::store::TRASH_DAYS;

fn trash(folder: &TempDir) -> SessionTrash {
    SessionTrash::new(folder.path().join("trash"))
}

#[test]
fn a_restored_session_is_the_same_file() {
    let (folder, sessions) = new_store();
    let trash = trash(&folder);
    let id = sessions.create(&conversation("q", "a"), &now()).unwrap();
    let before = fs::read(path_of(&folder, id.as_str())).unwrap();
    let trashed = trash.delete(&sessions, &id, &now()).unwrap();
    assert_eq!(sessions.list(), []);
    assert!(
        trashed
            .path()
            .starts_with(folder.path().join("trash/2025-10-16"))
    );
    assert_eq!(trash.restore(&sessions, &trashed), Ok(id.clone()));
    assert_eq!(fs::read(path_of(&folder, id.as_str())).unwrap(), before);
    assert_eq!(
        trash.restore(&sessions, &trashed),
        Err(StoreError::NotFound(id))
    );
}

#[test]
fn neither_the_trash_nor_a_restored_session_replaces_a_file() {
    let (folder, sessions) = new_store();
    let trash = trash(&folder);
    let mut deleted = Vec::new();
    for answer in ["one", "two"] {
        let session = conversation("q", answer);
        let id = sessions.create(&session, &now()).unwrap();
        deleted.push(trash.delete(&sessions, &id, &now()).unwrap());
    }
    let third = sessions
        .create(&conversation("q", "three"), &now())
        .unwrap();
    let restored = deleted
        .iter()
        .map(|trashed| trash.restore(&sessions, trashed).unwrap());
    let ids: Vec<SessionId> = restored.chain([third]).collect();
    let answers = ids
        .iter()
        .map(|id| sessions.open(id).unwrap().messages[1].content.to_string());
    assert_eq!(answers.collect::<Vec<_>>(), ["one", "two", "three"]);
    let names: Vec<&str> = ids.iter().map(SessionId::as_str).collect();
    let expected = ["_2", "_3", ""].map(|number| format!("20251016_162030_q{number}.json"));
    assert_eq!(names, expected);
}

#[test]
fn the_trash_is_emptied_after_some_days() {
    let (folder, sessions) = new_store();
    let trash = trash(&folder);
    let id = sessions.create(&conversation("q", "a"), &now()).unwrap();
    let trashed = trash.delete(&sessions, &id, &now()).unwrap();
    fs::create_dir(folder.path().join("trash/mine")).unwrap();
    let day = |days: i32| {
        now()
            .date()
            .checked_add(jiff::Span::new().days(days))
            .unwrap()
    };
    trash.remove_expired(&sessions, day(TRASH_DAYS));
    assert!(trashed.path().exists());
    trash.remove_expired(&sessions, day(TRASH_DAYS + 1));
    assert!(!trashed.path().exists());
    let left = ["mine".to_owned()];
    assert_eq!(file_names(&folder.path().join("trash")), left.into());
}

#[cfg(unix)]
#[test]
fn a_session_that_cannot_be_moved_to_the_trash_is_kept() {
    let (folder, sessions) = new_store();
    let id = sessions.create(&conversation("q", "a"), &now()).unwrap();
    fs::write(folder.path().join("trash"), "a file is in the way").unwrap();
    let deleted = trash(&folder).delete(&sessions, &id, &now());
    assert!(
        matches!(deleted, Err(StoreError::Unwritable { .. })),
        "{deleted:?}"
    );
    assert!(sessions.open(&id).is_ok());
}

#[test]
fn renaming_and_copying_preserve_data_of_other_programs() {
    let (folder, sessions) = new_store();
    let text = r#"{"model":"m","mine":{"x":1},"messages":[{"role":"user","content":"q","id":7},{"role":"assistant","content":"a"}]}"#;
    write_session(&folder, "s.json", text);
    let id = SessionId::new("s.json");
    sessions.rename(&id, "서울 여행").unwrap();
    let file: Value =
        serde_json::from_slice(&fs::read(path_of(&folder, "s.json")).unwrap()).unwrap();
    assert_eq!(
        (&file["mine"]["x"], &file["messages"][0]["id"]),
        (&json!(1), &json!(7))
    );
    assert_eq!(file["humble"], json!({ "title": "서울 여행" }));
    let copy = sessions.copy(&id, "서울 여행 (2)", &now()).unwrap();
    let copied = sessions.open(&copy).unwrap();
    assert_eq!(copied.title(), "서울 여행 (2)");
    assert_eq!(copied.messages, sessions.open(&id).unwrap().messages);
    assert_eq!(sessions.open(&id).unwrap().title(), "서울 여행");
    write_session(&folder, "broken.json", "{");
    let broken = SessionId::new("broken.json");
    assert!(matches!(
        sessions.rename(&broken, "x"),
        Err(StoreError::Unreadable { .. })
    ));
    assert_eq!(
        fs::read_to_string(path_of(&folder, "broken.json")).unwrap(),
        "{"
    );
}

#[test]
fn the_newest_deletion_of_any_program_is_restored_first() {
    let (folder, sessions) = new_store();
    let days = ["2025-10-15", "2025-10-16", "2025-10-16"];
    let deleted: Vec<SessionId> = days
        .iter()
        .zip(["one", "two", "three"])
        .map(|(day, prompt)| {
            let id = sessions.create(&conversation(prompt, "a"), &now()).unwrap();
            let at = format!("{day}T16:20:30+09:00[Asia/Seoul]");
            let deleted = trash(&folder).delete(&sessions, &id, &at.parse().unwrap());
            // Two deletions within a tick of the clock have no order.
            std::thread::sleep(Duration::from_millis(20));
            deleted.unwrap().id
        })
        .collect();
    fs::write(folder.path().join("trash/2025-10-16/notes.txt"), "mine").unwrap();
    let restore = || trash(&folder).restore_newest(&sessions);
    for (index, title) in [(2, "three"), (1, "two"), (0, "one")] {
        let expected = (deleted[index].clone(), title.to_owned());
        assert_eq!(restore(), Ok(Some(expected)));
    }
    assert_eq!(restore(), Ok(None));
    assert_eq!(sessions.list().len(), 3);
}
