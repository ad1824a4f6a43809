//! `ollama_chat`: the choice of the model, and failures to answer.

use super::*;
use model_server::{ollama_error, ollama_text, ollama_thinking};

const CHAT: &str = "/api/chat";

fn entry(name: &str, server: &ModelServer) -> Value {
    json!({ "name": name, "provider": "ollama", "baseUrl": server.url() })
}

fn tools_for(config: &Value) -> BuiltInTools {
    tools_of(&settings(config))
}

fn ask(prompt: &str) -> Value {
    json!({ "prompt": prompt })
}

#[tokio::test]
async fn the_active_or_first_ollama_model_answers_without_its_thinking() {
    let server = ModelServer::start();
    server.always_reply(
        CHAT,
        ollama_thinking(&["hm"], &["<think>let me see</think>", "It ", "is blue."]),
    );
    let hosted = json!({ "name": "gpt", "provider": "openai", "apiKey": "k", "active": true });
    let mut second = entry("second", &server);
    let first = entry("first", &server);
    let tools = tools_for(&json!({ "models": [hosted, first, second] }));
    let answer = call(&tools, "ollama_chat", ask("Which color is the sky?")).await;
    let expected = json!({ "model": "first", "answer": "It is blue.", "cutOff": false });
    assert_eq!(answer, Ok(expected));
    let body = &server.bodies(CHAT)[0];
    assert_eq!(
        body["messages"],
        json!([{ "role": "user", "content": "Which color is the sky?" }])
    );
    assert_eq!(
        (&body["options"]["temperature"], &body["options"]["num_ctx"]),
        (&json!(0.1), &json!(4096))
    );
    second["active"] = json!(true);
    let tools = tools_for(&json!({ "models": [first, second] }));
    let answer = call(&tools, "ollama_chat", ask("?"))
        .await
        .expect("an answer");
    assert_eq!(answer["model"], "second");
    let arguments = json!({ "prompt": "?", "model": "gemma3:1b" });
    let answer = call(&tools, "ollama_chat", arguments)
        .await
        .expect("an answer");
    assert_eq!(answer["model"], "gemma3:1b");
    assert_eq!(server.bodies(CHAT)[2]["model"], "gemma3:1b");
}

#[tokio::test]
async fn built_in_settings_may_name_another_ollama_server_and_model() {
    let (server, other) = (ModelServer::start(), ModelServer::start());
    other.always_reply(CHAT, ollama_text(&["Hi."]));
    let config =
        |built_in: Value| json!({ "models": [entry("first", &server)], "builtIn": built_in });
    let built_in = json!({ "ollamaUrl": format!("{}/api/chat", other.url()), "ollamaModel": "m" });
    let answer = call(&tools_for(&config(built_in)), "ollama_chat", ask("?")).await;
    assert_eq!(answer.expect("an answer")["model"], "m");
    let tools = tools_for(&config(json!({ "ollamaUrl": other.url() })));
    let why = failure(&tools, "ollama_chat", ask("?")).await;
    assert!(
        why.contains("pass `model`") && why.contains("`builtIn.ollamaModel`"),
        "{why}"
    );
    let arguments = json!({ "prompt": "?", "model": "m2" });
    let answer = call(&tools, "ollama_chat", arguments).await;
    assert_eq!(answer.expect("an answer")["model"], "m2");
    assert_eq!(server.requests().len(), 0);
}

#[tokio::test]
async fn an_absent_ollama_or_model_an_empty_answer_and_bad_arguments_are_explained() {
    let tools = tools_for(&json!({}));
    let why = failure(&tools, "ollama_chat", ask("?")).await;
    assert!(why.starts_with("No Ollama server is configured."), "{why}");
    let server = ModelServer::start();
    let tools = tools_for(&json!({ "models": [entry("m", &server)] }));
    server.always_reply(CHAT, ollama_error(404, "model 'm' not found"));
    let why = failure(&tools, "ollama_chat", ask("?")).await;
    assert!(
        why.starts_with("The model `m` gave no answer.")
            && why.contains("Pull it with `ollama pull m`."),
        "{why}"
    );
    server.always_reply(CHAT, ollama_text(&[]));
    let why = failure(&tools, "ollama_chat", ask("?")).await;
    assert!(why.contains("empty answer"), "{why}");
    let url = server.url();
    drop(server);
    let why = failure(&tools, "ollama_chat", ask("?")).await;
    assert!(
        why.contains("`m`") && why.contains(url.trim_start_matches("http://")),
        "{why}"
    );
    for (arguments, expected) in [
        (json!({}), "`prompt` is missing"),
        (json!({ "prompt": [7] }), "must be a string"),
    ] {
        let why = failure(&tools, "ollama_chat", arguments).await;
        assert!(why.contains(expected), "{why}");
    }
}

#[tokio::test]
async fn cancelling_closes_the_connection_to_the_model() {
    let server = ModelServer::start();
    server.always_reply(CHAT, ollama_text(&["It "]).hang_after(1));
    let tools = tools_for(&json!({ "models": [entry("m", &server)] }));
    let cancelled = CancellationToken::new();
    let token = cancelled.clone();
    let (sender, mut reports) = tokio::sync::mpsc::channel(10);
    let work = tokio::spawn(async move {
        let progress = ProgressReporter::new(sender);
        tools
            .call("ollama_chat", &object(ask("?")), progress, token)
            .await
    });
    let mut messages = Vec::new();
    while messages.len() < 2 {
        messages.push(reports.recv().await.expect("progress").message);
    }
    let expected = [
        Some("Waiting for m".to_owned()),
        Some("m: 3 characters".to_owned()),
    ];
    assert_eq!(messages, expected);
    cancelled.cancel();
    assert_eq!(
        work.await.expect("the task ends"),
        Err(ToolFailure::Cancelled)
    );
    server.wait_for(|log| log.aborted_replies == 1).await;
}
