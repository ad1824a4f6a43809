//! The persona `weather`: a question is answered with `get_weather`, approved with a real key. The
//! model server also plays Open-Meteo.

use super::model_server::{ModelServer, Reply, ollama_call, ollama_text};
use super::pty::{PtyTerminal, TerminalOptions, contains_text};
use super::{CHAT, READY_HINT, TestHome, clean_exit, test_server_path};
use serde_json::{Value, json};

const QUESTION: &str = "What is the weather in Seoul?";
const ANSWER: &str = "In Seoul it is 7.4 °C and partly cloudy.";

fn script_open_meteo(server: &ModelServer) {
    let seoul = json!({
        "name": "Seoul", "admin1": "Seoul", "country": "South Korea", "country_code": "KR",
        "latitude": 37.566, "longitude": 126.9784, "population": 10_349_312,
    });
    let weather = json!({
        "timezone": "Asia/Seoul",
        "current": { "time": "2026-11-23T16:00", "temperature_2m": 7.4, "weather_code": 2 },
    });
    server
        .always_reply(
            "/v1/search",
            Reply::json(200, &json!({ "results": [seoul] })),
        )
        .always_reply("/v1/forecast", Reply::json(200, &weather));
}

/// Starts the program with the persona, the model server in place of Open-Meteo, and one more MCP
/// server.
fn open(server: &ModelServer, tool_calls: &str) -> (TestHome, PtyTerminal) {
    script_open_meteo(server);
    let url = server.url();
    let home = TestHome::with_ollama(&url).with_server("test", &test_server_path(), &["plain"]);
    home.edit_json("config.json", |config| {
        config["models"][0]["toolCalls"] = json!(tool_calls);
        config["builtIn"] = json!({
            "geocodingUrl": format!("{url}/v1/search"), "forecastUrl": format!("{url}/v1/forecast"),
        });
    });
    let terminal = TerminalOptions::in_home(&home)
        .arg("--persona")
        .arg("weather")
        .start();
    for name in ["● humble", "● test"] {
        terminal.wait_for_text(name);
    }
    (home, terminal)
}

fn ask(server: &ModelServer, home: &TestHome, mut terminal: PtyTerminal) -> Vec<Value> {
    terminal.send_prompt(QUESTION);
    let dialog = terminal.wait_for_text("Call now? (Y/N)");
    for part in ["── Run get_weather on humble? ──", "  city  Seoul "] {
        assert!(
            contains_text(&dialog, part),
            "{part}\n{}",
            dialog.contents()
        );
    }
    assert_eq!(
        server
            .requests()
            .iter()
            .filter(|request| request.path.starts_with("/v1"))
            .count(),
        0
    );
    terminal.wait_for_text(READY_HINT);
    terminal.press("y");
    terminal.wait_for_text(ANSWER);
    let saved = home.wait_until_saved(ANSWER);
    let expected = json!([
        { "role": "user", "content": QUESTION },
        { "role": "assistant", "content": ANSWER },
    ]);
    assert_eq!(saved["messages"], expected);
    assert_eq!(terminal.quit(), clean_exit());
    home.assert_no_process_left();
    let requests = server.bodies(CHAT);
    assert_eq!(requests.len(), 2);
    requests[1]["messages"]
        .as_array()
        .expect("messages")
        .clone()
}

fn assert_has_weather(result: &Value) {
    let content = result["content"].as_str().expect("text");
    for part in [
        "data, not instructions",
        "South Korea",
        "\"temperatureCelsius\":7.4",
        "partly cloudy",
    ] {
        assert!(content.contains(part), "{part}: {content}");
    }
}

#[test]
fn weather_persona_answers_with_native_calls() {
    let server = ModelServer::start();
    server
        .queue_reply(
            CHAT,
            ollama_call("humble__get_weather", &json!({ "city": "Seoul" })),
        )
        .queue_reply(CHAT, ollama_text(&[ANSWER]));
    let (home, terminal) = open(&server, "native");
    let messages = ask(&server, &home, terminal);
    let system = messages[0]["content"].as_str().expect("text");
    assert!(
        system.starts_with("You answer questions about the weather"),
        "{system}"
    );
    let tools = server.bodies(CHAT)[0]["tools"].clone();
    let names: Vec<&Value> = tools
        .as_array()
        .expect("tools")
        .iter()
        .map(|tool| &tool["function"]["name"])
        .collect();
    assert_eq!(names, ["humble__get_time", "humble__get_weather"]);
    assert_eq!(messages[3]["role"], "tool");
    assert_has_weather(&messages[3]);
}

#[test]
fn weather_persona_answers_with_json_in_the_text() {
    let server = ModelServer::start();
    let call = r#"{"server": "humble", "name": "get_weather", "arguments": {"city": "Seoul"}}"#;
    server
        .queue_reply(CHAT, ollama_text(&["Let me look.\n", call]))
        .queue_reply(CHAT, ollama_text(&[ANSWER]));
    let (home, terminal) = open(&server, "prompt");
    let messages = ask(&server, &home, terminal);
    let system = messages[0]["content"].as_str().expect("text");
    for (part, is_expected) in [
        ("You answer questions about the weather", true),
        ("- **get_weather**: The current weather", true),
        ("- **get_time**", true),
        ("- **echo**", false),
    ] {
        assert_eq!(system.contains(part), is_expected, "{part}: {system}");
    }
    assert_has_weather(messages.last().expect("a result"));
}
