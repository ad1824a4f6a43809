//! Stopped turns, which are kept beside the messages, are searched and previewed like them.

use super::*;
use humble::store::SessionIndex;
use std::collections::HashSet;

#[test]
fn stopped_turns_are_found_and_previewed() {
    let (folder, sessions) = new_store();
    let index = SessionIndex::new(
        sessions.clone(),
        folder.path().join("cache/sessions.sqlite"),
    );
    let session = json!({
        "model": "m",
        "messages": [
            { "role": "user", "content": "second" },
            { "role": "assistant", "content": "Two." },
        ],
        "humble": { "cancelled": [
            { "at": "2026-01-01T00:00:00Z", "after": 0, "prompt": "slow answer", "words": "Onl" },
        ] },
    });
    write_session(&folder, "a.json", session.to_string());
    index.update(Duration::from_secs(600));
    let id = SessionId::new("a.json");
    for words in ["slow answer", "onl"] {
        let found = index.search(words).unwrap().sessions;
        assert_eq!(found, HashSet::from([id.clone()]), "{words}");
    }
    let texts = |terms: &[String]| {
        let preview = sessions.preview(&id, terms).unwrap();
        let texts = preview
            .messages
            .iter()
            .map(|message| message.content.to_string());
        texts.collect::<Vec<_>>()
    };
    let stopped = ["slow answer", "Onl\n\n(cancelled)"];
    assert_eq!(texts(&[]), [&stopped[..], &["second", "Two."]].concat());
    let terms = ["slow".to_owned()];
    assert_eq!(texts(&terms), stopped);
    let excerpt = sessions.excerpt(&id, &terms);
    assert_eq!(excerpt.as_deref(), Some("slow answer"));
}
