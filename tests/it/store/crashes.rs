//! Crashes, failed writes and folders without write access.

use super::*;

/// Simulates a crash before the rename: the old file and a temporary one remain.
#[test]
fn a_crash_before_the_rename_leaves_the_old_file() {
    let (folder, sessions) = new_store();
    let id = sessions.create(&conversation("q", "a"), &now()).unwrap();
    let before = sessions.open(&id).unwrap();
    write_session(&folder, ".humble-abc123.tmp", "{\"messages\": [ha");
    assert_eq!(sessions.list().len(), 1);
    assert_eq!(sessions.open(&id), Ok(before));

    files::remove_stale_temporaries(&folder.path().join("sessions"));
    assert!(
        path_of(&folder, ".humble-abc123.tmp").exists(),
        "a recent temporary file may still be in use"
    );
    let long_ago = SystemTime::now() - Duration::from_secs(3700);
    let temporary = fs::File::options()
        .write(true)
        .open(path_of(&folder, ".humble-abc123.tmp"))
        .unwrap();
    temporary.set_modified(long_ago).unwrap();
    files::remove_stale_temporaries(&folder.path().join("sessions"));
    let expected = [".humble-abc123.tmp".to_owned()];
    assert!(file_names(&folder.path().join("sessions")).is_disjoint(&expected.into()));
    assert_eq!(sessions.list().len(), 1);
}

/// Readers of the old file see all of it, because nothing is written in place.
#[cfg(unix)]
#[test]
fn readers_of_the_old_file_are_not_disturbed() {
    use std::io::Read;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, "old").unwrap();
    let mut reader = fs::File::open(&path).unwrap();
    files::replace(&path, b"new", 0o600).unwrap();
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    assert_eq!(text, "old");
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
}

#[test]
fn a_failed_rename_leaves_the_old_file_and_no_temporary_file() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("taken");
    fs::create_dir(&target).unwrap();
    fs::write(target.join("inside"), "x").unwrap();
    assert!(files::replace(&target, b"new", 0o600).is_err());
    assert!(files::create_new(&target, b"new", 0o600).is_err());
    assert_eq!(fs::read_to_string(target.join("inside")).unwrap(), "x");
    assert_eq!(file_names(folder.path()), ["taken".to_owned()].into());
}

#[test]
fn an_unwritable_folder_is_an_error_with_advice() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let sessions = SessionStore::new(file.join("sessions"));
    let error = sessions
        .create(&conversation("q", "a"), &now())
        .unwrap_err();
    assert!(matches!(error, StoreError::Unwritable { .. }), "{error}");
    assert!(!error.notice().advice.is_empty());
    assert_eq!(sessions.list(), []);
}

/// A folder without write access; `None` if this process can write anywhere, as root can.
#[cfg(unix)]
fn read_only_folder() -> Option<TempDir> {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o500)).unwrap();
    files::check_writable(folder.path())
        .is_err()
        .then_some(folder)
}

#[cfg(unix)]
#[test]
fn a_read_only_folder_is_reported_as_permission_denied() {
    let Some(folder) = read_only_folder() else {
        return;
    };
    let sessions = SessionStore::new(folder.path().to_owned());
    let error = sessions
        .create(&conversation("q", "a"), &now())
        .unwrap_err();
    assert!(error.to_string().ends_with("permission denied"), "{error}");
}

/// A failed sync of the folder must not count as a failed save: the retry would save the
/// conversation once more, under another name. Syncing fails in a folder that cannot be read.
#[cfg(unix)]
#[test]
fn a_save_in_a_folder_that_cannot_be_synced_succeeds_once() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let set_mode = |mode| fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode));
    let sessions = SessionStore::new(folder.path().to_owned());
    set_mode(0o300).unwrap();
    let created = sessions.create(&conversation("q", "a"), &now());
    let replaced = files::replace(&folder.path().join("file"), b"new", 0o600);
    set_mode(0o700).unwrap();
    assert!(
        created.is_ok() && replaced.is_ok(),
        "{created:?} {replaced:?}"
    );
    assert_eq!(sessions.list().len(), 1);
}

#[cfg(unix)]
#[test]
fn writing_makes_a_publicly_readable_file_private() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for (before, after) in [
        (0o644, 0o600),
        (0o640, 0o600),
        (0o777, 0o600),
        (0o400, 0o400),
    ] {
        let path = folder.path().join(format!("{before:o}"));
        for write in [
            |path: &Path| files::replace(path, b"new", 0o600),
            |path: &Path| files::append_line(path, "more", 0o600),
        ] {
            fs::write(&path, "old").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(before)).unwrap();
            write(&path).unwrap();
            assert_eq!(mode(&path), after, "{before:o}");
            fs::remove_file(&path).unwrap();
        }
    }
}
