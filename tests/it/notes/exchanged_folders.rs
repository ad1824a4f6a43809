//! Another program exchanges a folder of the vault with a link while the tools use it.

use super::{NotesFixture, ollama_text, write};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;
use std::fs;
use std::time::{Duration, Instant};

/// Code that checks a path and then opens it by name fails within a tenth of it.
const RACE_TIME: Duration = Duration::from_secs(2);

#[tokio::test]
async fn a_folder_exchanged_with_a_link_leads_no_tool_outside() {
    let notes = NotesFixture::new(&[("a.md", "words"), ("inner/b.md", "words")]);
    let (inner, spare) = (notes.vault.join("inner"), notes.vault.join(".spare"));
    let outside = notes.vault.parent().expect("a folder").join("outside");
    write(&outside, "b.md", "secret words");
    std::os::unix::fs::symlink(&outside, &spare).expect("linked");
    let (start, folder) = (Instant::now(), inner.clone());
    let exchange = std::thread::spawn(move || {
        while start.elapsed() < RACE_TIME {
            renameat_with(CWD, &folder, CWD, &spare, RenameFlags::EXCHANGE).expect("exchanged");
        }
    });
    while start.elapsed() < RACE_TIME {
        for folder in [&notes.vault, &inner] {
            let arguments = json!({ "vault_path": folder, "query": "secret words" });
            let found = notes.call_exactly("search_notes", arguments).await;
            assert!(found.is_ok() || *folder == inner, "{found:?}");
            assert!(!format!("{found:?}").contains("secret"), "{found:?}");
        }
        let reply = ollama_text(&["They purr."]);
        notes.server.queue_reply("/api/chat", reply);
        let arguments = json!({ "vault_path": inner, "topic": "Cats" });
        // May fail, like the search in `inner`.
        let _ = notes.call_exactly("create_note", arguments).await;
        let files = fs::read_dir(&outside).expect("a folder").flatten();
        let names: Vec<_> = files.map(|file| file.file_name()).collect();
        assert_eq!(names, ["b.md"]);
    }
    exchange.join().expect("no panic");
}
