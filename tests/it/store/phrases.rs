//! Searching sessions for words in quotes.

use super::*;
use humble::store::SessionIndex;

#[test]
fn words_in_quotes_must_follow_each_other() {
    let (folder, sessions) = new_store();
    let index = SessionIndex::new(sessions, folder.path().join("cache/sessions.sqlite"));
    for (id, answer) in [
        ("a.json", "Last month I bought an espresso machine."),
        ("b.json", "The espresso lasts. Next month I buy another."),
        ("c.json", "The month before last."),
    ] {
        let session = json!({ "model": "m", "messages": [
            { "role": "user", "content": "coffee" },
            { "role": "assistant", "content": answer },
        ] });
        write_session(&folder, id, session.to_string());
    }
    index.update(Duration::from_secs(600));
    let find = |words: &str| {
        let found = index.search(words).unwrap().sessions;
        let mut names: Vec<String> = found.iter().map(ToString::to_string).collect();
        names.sort();
        names
    };
    assert_eq!(find("espresso last month"), ["a.json", "b.json"]);
    assert_eq!(find("espresso \"last month\""), ["a.json"]);
    assert_eq!(find("\"last mon"), ["a.json"], "while it is typed");
    assert_eq!(find("\"month before last\""), ["c.json"]);
}
