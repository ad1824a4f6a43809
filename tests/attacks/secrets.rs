//! A secret reaches no log, file, export, request, child or screen that was not given it, wherever a
//! server or a model server repeats it.

use crate::fixture::{AttackFixture, text_result, tool};
use crate::model_server::{ModelServer, Reply, ollama_call, ollama_error, ollama_text};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::process::Output;

const SERVER_KEY: &str = "Zq7-server/key+19x";
const MODEL_KEY: &str = "sk-model-Kk4Vv8Ww2Pp";
const PASSWORD: &str = "url-p4ssword-Tt3";
const TOKEN: &str = "tok-Aa1/refresh-9zZ";
const ALL: [&str; 4] = [SERVER_KEY, MODEL_KEY, PASSWORD, TOKEN];

/// The forms in which a secret may be repeated.
fn forms(secret: &str) -> Vec<String> {
    vec![
        secret.to_owned(),
        secret.to_uppercase(),
        url::form_urlencoded::byte_serialize(secret.as_bytes()).collect(),
        Value::from(format!("\"{secret}\"")).to_string(),
        format!("Bearer {secret}"),
        format!("Basic {}", STANDARD.encode(format!("user:{secret}"))),
        STANDARD.encode(format!("u:{secret}:x")),
        STANDARD.encode(format!("me:{secret}!")),
    ]
}

fn all_forms() -> String {
    let forms: Vec<String> = ALL.into_iter().flat_map(forms).collect();
    forms.join(" , ")
}

fn assert_without_secrets(place: &str, text: &str) {
    let text = text.to_lowercase();
    for secret in ALL {
        for form in forms(secret) {
            let secret = form.rsplit(' ').next().unwrap_or_default();
            // In the middle of Base64 the letters are the same wherever the secret begins.
            let core = &secret[secret.len().min(8)..secret.len().saturating_sub(5)];
            let core = match form.starts_with("Basic") || form.ends_with('=') {
                true => core,
                false => secret,
            };
            assert!(
                !text.contains(&core.to_lowercase()),
                "{place} has {form}: {text}"
            );
        }
    }
}

fn assert_clean_output(command: &str, output: &Output) {
    assert_without_secrets(command, &String::from_utf8_lossy(&output.stdout));
    assert_without_secrets(command, &String::from_utf8_lossy(&output.stderr));
}

fn assert_nothing_leaked(fixture: &AttackFixture) {
    for (path, text) in fixture.files() {
        assert_without_secrets(&path.display().to_string(), &text);
    }
    assert_without_secrets("a request", &fixture.requests());
    for server in ["leaky", "other"] {
        let calls = Value::from(fixture.calls(server)).to_string();
        assert_without_secrets("a call", &calls);
    }
}

/// A server that repeats every secret of the program in every kind of place. Its tools have this
/// prefix.
fn leaky_script(prefix: &str) -> Value {
    let secrets = all_forms();
    let name = |tool: &str| format!("{prefix}_{tool}");
    let mut described = tool(&name("look"), &format!("Looks at {secrets}."));
    described["title"] = json!(format!("Look {secrets}"));
    described["annotations"] = json!({ "title": secrets });
    described["inputSchema"] = json!({ "type": "object", "description": secrets, "properties": {
        "where": { "type": "string", "default": secrets, "enum": [secrets, "here"] },
    } });
    let mut keyed = json!({ "content": [], "structuredContent": { "deep": [{}] } });
    keyed["structuredContent"]["deep"][0][&secrets] = json!({ "value": secrets });
    json!({
        "result": { "instructions": secrets, "serverInfo": {
            "name": secrets, "title": secrets, "version": secrets,
        } },
        "stderr": secrets,
        "log": secrets,
        "progress": secrets,
        "tools": [
            described, tool(&name("keys"), "Keys."), tool(&name("broken"), "Fails."),
            tool(SERVER_KEY, ""),
        ],
        "calls": {
            name("look"): text_result(&secrets),
            name("keys"): keyed,
            name("broken"): { "error": { "code": -32000, "message": secrets, "data": [secrets] } },
        },
    })
}

fn leaky_servers() -> AttackFixture {
    let mut fixture = AttackFixture::new();
    fixture.set_model(json!({ "apiKey": MODEL_KEY }));
    let env = json!({ "env": { "SERVICE_API_KEY": SERVER_KEY } });
    fixture.add_server("leaky", &leaky_script("leak"), env);
    fixture.add_server("other", &leaky_script("seep"), json!({}));
    // Of a server that is no longer configured.
    let tokens = json!({ "servers": { "gone": { "accessToken": "x", "refreshToken": TOKEN } } });
    fixture.write("auth.json", &tokens.to_string());
    // Never reached, but its password is one of the secrets.
    let url = format!("http://user:{PASSWORD}@127.0.0.1:9/mcp");
    fixture.add_entry(
        "remote",
        json!({ "type": "http", "url": url, "disabled": true }),
    );
    fixture
}

#[test]
fn what_servers_repeat_reaches_neither_the_model_nor_a_file_nor_the_output() {
    let fixture = leaky_servers();
    for (server, prefix) in [("leaky", "leak"), ("other", "seep")] {
        for tool in ["look", "keys", "broken"] {
            fixture.reply_call(&format!("{server}__{prefix}_{tool}"), &json!({}));
        }
    }
    fixture.reply_text("Nothing to see.");
    let output = fixture.ask(&["--save", "--json", "Look around."]);
    assert_clean_output("ask --json", &output);
    let calls = |prefix: &str| ["look", "keys", "broken"].map(|tool| format!("{prefix}_{tool}"));
    assert_eq!(fixture.called_tools("leaky"), calls("leak"), "{output:?}");
    assert_eq!(fixture.called_tools("other"), calls("seep"), "{output:?}");
    assert!(
        fixture.requests().contains("[hidden]"),
        "{}",
        fixture.requests()
    );
    fixture.reply_text("Still nothing.");
    assert_clean_output("ask -c", &fixture.ask(&["-c", "And now?"]));
    for arguments in [
        &["mcp", "tools"][..],
        &["mcp", "tools", "--json"],
        &["mcp", "list"],
        &["mcp", "call", "leaky", "leak_keys", "--json"],
        &["mcp", "call", "other", "seep_look"],
        &["doctor"],
        &["doctor", "--json"],
        &["sessions", "list", "--json"],
    ] {
        let output = fixture.run(arguments);
        assert!(!output.stdout.is_empty(), "{arguments:?} {output:?}");
        assert_clean_output(&arguments.join(" "), &output);
    }
    assert_nothing_leaked(&fixture);
}

#[test]
fn what_a_model_server_repeats_is_hidden_in_pieces_of_any_size() {
    let mut fixture = AttackFixture::new();
    fixture.set_model(json!({ "apiKey": MODEL_KEY }));
    let script = json!({ "tools": [tool("write", "Writes.")] });
    fixture.add_server(
        "other",
        &script,
        json!({ "env": { "SERVICE_API_KEY": SERVER_KEY } }),
    );
    let letters: Vec<String> = MODEL_KEY.chars().map(String::from).collect();
    let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
    let pairs: Vec<&str> = vec![
        "The key: ",
        &MODEL_KEY[..9],
        &MODEL_KEY[9..],
        " and ",
        SERVER_KEY,
    ];
    let arguments = json!({ "text": format!("<{MODEL_KEY}>"), SERVER_KEY: [MODEL_KEY] });
    fixture
        .reply(ollama_call("other__write", &arguments))
        .reply(ollama_text(&letters))
        .reply(ollama_text(&pairs));
    let output = fixture.ask(&["--save", "Say it."]);
    assert_clean_output("ask", &output);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "[hidden]\n");
    let output = fixture.ask(&["-c", "Again."]);
    assert_clean_output("ask -c", &output);
    let answer = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(answer, "The key: [hidden] and [hidden]\n");
    assert_eq!(
        fixture.calls("other"),
        [
            json!({ "name": "write", "arguments": { "text": "<[hidden]>", "[hidden]": ["[hidden]"] } })
        ]
    );
    assert_nothing_leaked(&fixture);
}

#[test]
fn errors_and_lists_of_a_model_server_are_shown_without_its_key() {
    let fixture = AttackFixture::new();
    fixture.set_model(json!({ "apiKey": MODEL_KEY }));
    let text = forms(MODEL_KEY).join(" ");
    let tags = json!({ "models": [{ "name": format!("a {text}"), "model": text }] });
    fixture
        .model
        .always_reply("/api/tags", Reply::json(200, &tags));
    for status in [400, 401, 404, 500] {
        fixture.reply(ollama_error(status, &format!("wrong: {text}")));
        assert_clean_output("ask", &fixture.ask(&["Hello"]));
    }
    fixture.reply(Reply::status(200).chunk(format!("not JSON: {text}\n")));
    assert_clean_output("ask", &fixture.ask(&["Hello"]));
    for arguments in [&["models"][..], &["models", "--json"], &["doctor"]] {
        assert_clean_output("models", &fixture.run(arguments));
    }
    assert_nothing_leaked(&fixture);
}

#[test]
fn a_remote_server_that_repeats_the_credentials_of_its_url_is_quoted_without_them() {
    let mut fixture = AttackFixture::new();
    let remote = ModelServer::start();
    let text = forms(PASSWORD).join(" ");
    for body in [
        Reply::json(401, &json!({ "error": format!("bad credentials: {text}") })),
        Reply::status(403).chunk(format!("<title>{text}</title>")),
        Reply::status(500).chunk(text.clone()),
        Reply::status(200)
            .header("content-type", "text/plain")
            .chunk(text.clone()),
    ] {
        remote.always_reply("/mcp", body);
        let url = remote
            .url()
            .replace("http://", &format!("http://user:{PASSWORD}@"));
        let entry = json!({ "type": "http", "url": format!("{url}/mcp?key={SERVER_KEY}") });
        fixture.add_entry("remote", entry);
        for arguments in [&["mcp", "list"][..], &["mcp", "tools"], &["doctor"]] {
            assert_clean_output(&arguments.join(" "), &fixture.run(arguments));
        }
        fixture.reply_text("It failed.");
        assert_clean_output("ask", &fixture.ask(&["Hello"]));
    }
    assert_nothing_leaked(&fixture);
}

#[test]
fn a_server_gets_no_secret_of_another_one_in_its_environment() {
    let mut fixture = AttackFixture::new();
    fixture.set_model(json!({ "apiKey": MODEL_KEY }));
    fixture.add_server(
        "leaky",
        &json!({}),
        json!({ "env": { "SERVICE_API_KEY": SERVER_KEY } }),
    );
    let seen = fixture.home.path().join("environment");
    let command = format!("env > {}; exec cat", seen.display());
    fixture.add_entry("nosy", json!({ "command": "sh", "args": ["-c", command] }));
    fixture.reply_text("Hello.");
    let output = crate::cli::humble(fixture.home.path(), &["ask", "Hello"])
        .env("OPENAI_API_KEY", MODEL_KEY)
        .env("SERVICE_API_KEY", SERVER_KEY)
        .output()
        .expect("the program runs");
    assert_clean_output("ask", &output);
    assert!(seen.exists());
    assert_nothing_leaked(&fixture);
}
