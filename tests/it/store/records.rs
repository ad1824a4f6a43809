//! Turn records and summaries written by other programs and versions.

use super::*;
use humble::domain::session::TurnRecord;

#[test]
fn saving_preserves_records_except_for_changed_fields() {
    let (folder, sessions) = new_store();
    let before = json!({
        "messages": [{ "role": "user", "content": "p" }, { "role": "assistant", "content": "a" }],
        "humble": {
            "cancelled": [
                { "words": "w", "prompt": "x", "after": 0, "at": "2026-01-02T03:04:05+09:00" },
                { "after": 2, "kind": "new" },
            ],
            "compacted": {
                "digest": "0", "messages": 1, "summary": "S", "more": [1],
                "before": { "summary": 5 },
            },
            "turns": [
                "unknown",
                { "message": 1, "later": true, "model": "m", "tools": [
                    { "server": "s", "tool": "t", "arguments": { "b": 1, "a": 2 }, "outcome": "new", "x": 1 },
                    { "another": "shape" },
                ], "usage": { "output": 3, "cached": 4 } },
                { "message": "one" },
                { "message": 0, "stopped": true, "model": "m" },
                { "message": 2, "model": "m", "stopped": "later" },
            ],
            "title": null,
        },
    });
    write_session(&folder, "s.json", before.to_string());
    let mut session = sessions.open(&"s.json".into()).unwrap();
    session.messages.push(SavedMessage::user("q"));
    session.messages.push(SavedMessage::assistant("b"));
    let metadata = &mut session.metadata;
    let stopped = metadata.turns.iter().map(|turn| turn.is_stopped);
    assert_eq!(stopped.collect::<Vec<_>>(), [false, true, false]);
    metadata.turns.push(TurnRecord {
        is_stopped: true,
        ..TurnRecord::new(3, "n")
    });
    metadata.extend_turn(TurnRecord::new(0, "m"));
    metadata.extend_turn(TurnRecord {
        thinking: "more".to_owned(),
        agent_results: Vec::new(),
        ..TurnRecord::new(1, "n")
    });
    sessions.save(&session).unwrap();
    let mut expected = before;
    let messages = expected["messages"].as_array_mut().unwrap();
    messages.push(json!({ "role": "user", "content": "q" }));
    messages.push(json!({ "role": "assistant", "content": "b" }));
    let turns = expected["humble"]["turns"].as_array_mut().unwrap();
    turns[1]["model"] = json!("n");
    turns[1]["thinking"] = json!("more");
    turns[3]["stopped"] = json!(false);
    turns.push(json!({ "message": 3, "model": "n", "stopped": true }));
    expected["model"] = json!("");
    let text = fs::read_to_string(path_of(&folder, "s.json")).unwrap();
    let pretty = serde_json::to_string_pretty(&expected).unwrap();
    assert_eq!(text, format!("{pretty}\n"));
}
