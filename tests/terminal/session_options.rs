//! `--session` with part of a title, and with names that select no single session.

use super::model_server::ollama_text;
use super::pty::TerminalOptions;
use super::{CHAT, Exit, TestHome, clean_exit, ollama};
use serde_json::json;

fn write_session(home: &TestHome, name: &str, prompt: &str, answer: &str) {
    std::fs::create_dir_all(home.path().join("sessions")).expect("the home is writable");
    let messages = json!([
        { "role": "user", "content": prompt },
        { "role": "assistant", "content": answer },
    ]);
    home.write(
        &format!("sessions/{name}"),
        &json!({ "model": "qwen3:4b", "messages": messages }),
    );
}

fn write_two_conversations(home: &TestHome) {
    write_session(
        home,
        "20250101_090000_trip_to_Seoul.json",
        "trip to Seoul",
        "Fly.",
    );
    write_session(
        home,
        "20250202_090000_trip_to_Busan.json",
        "trip to Busan",
        "Take the train.",
    );
}

#[test]
fn part_of_a_title_opens_and_continues_a_session() {
    let (server, home) = ollama();
    write_two_conversations(&home);
    server.queue_reply(CHAT, ollama_text(&["By night."]));
    let options = TerminalOptions::in_home(&home)
        .arg("--session")
        .arg("to seoul");
    let mut terminal = options.start();
    terminal.wait_for_text("Fly.");
    terminal.send_prompt("When?");
    terminal.wait_for_text("By night.");
    assert_eq!(terminal.quit(), clean_exit());
    let messages: Vec<serde_json::Value> = home
        .sessions()
        .iter()
        .map(|session| session["messages"].clone())
        .collect();
    let [user, assistant] = ["user", "assistant"]
        .map(|role| move |text: &str| json!({ "role": role, "content": text }));
    let expected = [
        json!([
            user("trip to Seoul"),
            assistant("Fly."),
            user("When?"),
            assistant("By night."),
        ]),
        json!([user("trip to Busan"), assistant("Take the train.")]),
    ];
    assert_eq!(messages, expected);
}

#[test]
fn ambiguous_or_unknown_name_opens_nothing() {
    let (_server, home) = ollama();
    write_two_conversations(&home);
    for (name, expected) in [
        ("trip", "`trip` matches several conversations."),
        ("tirp to Busan", "There is no conversation `tirp to Busan`."),
    ] {
        let options = TerminalOptions::in_home(&home).size(160, 32);
        let mut terminal = options.arg("--session").arg(name).start();
        let exit = terminal.exit();
        assert_eq!(
            exit,
            Exit {
                code: 2,
                signal: None
            }
        );
        let screen = terminal.wait_for_text(expected);
        assert!(
            screen
                .contents()
                .contains("20250202_090000_trip_to_Busan.json")
        );
        assert!(!screen.contents().contains("Take the train."));
    }
}
