//! Measures the share of each request that a real model server takes from its prefix cache. The
//! requests of a conversation with tool calls are recorded and then replayed to the server.

use crate::model_server::{ModelServer, openai_text};
use crate::pty::TerminalOptions;
use crate::servers::{from_npm, node};
use crate::{TestHome, required_variable};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

const TURNS: usize = 10;
const PATH: &str = "/v1/chat/completions";

/// The requests of ten turns, each with a tool call and an answer. Tools are described in the system
/// prompt, because the chat template of the small model ignores other definitions.
fn recorded_requests() -> Vec<Value> {
    let server = ModelServer::start();
    for turn in 0..TURNS {
        let call = json!({ "server": "everything", "name": "echo",
            "arguments": { "message": format!("the word of turn {turn}") } });
        server
            .queue_reply(PATH, openai_text(&[&call.to_string()]))
            .queue_reply(PATH, openai_text(&[&answer(turn)]));
    }
    let model = json!({ "name": "smollm2", "provider": "openai", "baseUrl": server.url(),
        "active": true, "toolCalls": "prompt" });
    let home = TestHome::with_model(&model).with_server(
        "everything",
        &node(),
        &[&from_npm("everything"), "stdio"],
    );
    home.edit_json("config.json", |config| {
        config["toolCallMode"] = json!("auto");
    });
    // The context of the real model is small.
    std::fs::create_dir(home.path().join("personas")).expect("the home is writable");
    let persona = "---\ntools: everything/get-sum, everything/echo\n---\nBe brief.\n";
    std::fs::write(home.path().join("personas/brief.md"), persona).expect("the home is writable");
    let options = TerminalOptions::in_home(&home).size(120, 40);
    let mut terminal = options.arg("--persona").arg("brief").start();
    terminal.wait_for_text("● everything");
    for turn in 0..TURNS {
        terminal.send_prompt(&format!("Question {turn}: which word comes back?"));
        terminal.wait_for_text(&answer(turn));
    }
    terminal.quit();
    server.bodies(PATH)
}

fn answer(turn: usize) -> String {
    format!("Answer {turn} names the word that came back from the tool.")
}

/// The numbers of prompt tokens that the server evaluated and that it took from its cache.
async fn prompt_tokens(client: &reqwest::Client, mut request: Value) -> (u64, u64) {
    request["stream"] = json!(false);
    request["max_tokens"] = json!(1);
    request["cache_prompt"] = json!(true);
    let url = format!("{}{PATH}", required_variable("HUMBLE_LLAMA_URL"));
    let request = client
        .post(url)
        .header("content-type", "application/json")
        .body(request.to_string());
    let response = request.send().await.expect("an answer");
    let answer: Value = serde_json::from_str(&response.text().await.expect("text")).expect("JSON");
    let count = |name: &str| {
        let timings = &answer["timings"][name];
        timings
            .as_u64()
            .unwrap_or_else(|| panic!("no {name}: {answer}"))
    };
    (count("prompt_n"), count("cache_n"))
}

#[test]
#[ignore = "needs a llama.cpp server and the MCP server `everything`: .ci/run has both"]
fn most_of_a_conversation_with_tools_comes_from_the_cache_of_llama_cpp() {
    let requests = recorded_requests();
    assert_eq!(requests.len(), 2 * TURNS);
    let client = reqwest::Client::builder()
        .no_proxy()
        .build()
        .expect("a client");
    let runtime = Runtime::new().expect("a runtime");
    let counts: Vec<(u64, u64)> = requests
        .into_iter()
        .map(|request| runtime.block_on(prompt_tokens(&client, request)))
        .collect();
    // Nothing is cached before the first request.
    let (evaluated, cached) = counts[1..]
        .iter()
        .fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1));
    println!("llama.cpp evaluated {evaluated} tokens and took {cached} from its cache: {counts:?}");
    assert!(evaluated * 4 < cached, "{counts:?}");
}
