//! Models: the first-run chooser, the `/models` dialog, pulling and removing, adding a server,
//! and the `/think` setting.

use super::*;
use humble::config::{self, Home};
use humble::domain::{ListedModel, ModelInfo};
use humble::provider::{FailureCause, PullStep};

/// The address at which an unconfigured program looks for Ollama.
fn local_ollama_url() -> String {
    config::local_ollama(&Home::at("/nowhere")).base_url
}

pub fn model(name: &str, capabilities: &[&str]) -> ListedModel {
    ListedModel {
        name: name.to_owned(),
        bytes: Some(2_600_000_000),
        is_loaded: Some(false),
        info: ModelInfo {
            capabilities: capabilities.iter().map(|name| (*name).to_owned()).collect(),
            family: Some("qwen3".to_owned()),
            context_length: Some(40_960),
            ..ModelInfo::default()
        },
    }
}

/// An Ollama with `qwen3:4b`, which the tests configure, and another model.
pub fn with_ollama(script: Script) -> Script {
    script.with_server(
        "http://localhost:11434",
        [
            model("qwen3:4b", &["completion", "tools", "thinking"]),
            model("gemma3:4b", &["completion"]),
        ],
    )
}

/// A chat that is configured to use `qwen3:4b`.
pub fn with_qwen(script: Script) -> Chat {
    let home = tempfile::TempDir::new().expect("a temporary folder");
    let text = r#"{ "models": [ { "name": "qwen3:4b", "provider": "ollama", "active": true } ] }"#;
    std::fs::write(home.path().join("config.json"), text).expect("written");
    chat_in(home, script)
}

fn with_local_ollama() -> Script {
    script().answer("반가워요.").with_server(
        &local_ollama_url(),
        [
            model("qwen3:4b", &["completion", "tools"]),
            model("all-minilm", &["embedding"]),
            model("gemma3:4b", &["completion"]),
        ],
    )
}

#[test]
fn set_model_takes_the_name_of_a_model_that_only_the_server_lists() {
    let mut chat = with_qwen(with_ollama(script()));
    chat.says("/models")
        .sees("gemma3:4b")
        .press(KeyCode::Esc, KeyModifiers::NONE);
    chat.says("/set-model gemma3:4b")
        .sees("Using gemma3:4b until humble exits.");
    chat.says("/set-model gemma9")
        .sees("No model `gemma9` is configured.");
}

#[test]
fn a_first_run_offers_the_models_of_ollama() {
    let mut chat = first_run(with_local_ollama());
    chat.sees("Ollama is running:")
        .sees("1  qwen3:4b")
        .sees("2  gemma3:4b")
        .sees("3  Another server")
        .sees("5  Look around")
        .does_not_see("all-minilm");
    assert_eq!(chat.config(), "", "nothing is written before a choice");
    chat.reads_screen().key('1').key('2');
    assert_eq!(chat.config(), "", "a digit only selects");
    chat.enter().sees("Using gemma3:4b.");
    chat.sees("/probe tests which format works best.");
    let expected = "{\n  \"models\": [{ \"name\": \"gemma3:4b\", \"provider\": \"ollama\", \"active\": true }]\n}\n";
    assert_eq!(chat.config(), expected);
    chat.does_not_see("Look around")
        .says("안녕")
        .sees("반가워요.");
}

#[test]
fn a_model_of_the_first_run_is_saved_without_a_call_format() {
    let mut chat = first_run(with_local_ollama());
    chat.reads_screen().enter().sees("Using qwen3:4b.");
    // Even if the server reports that the model supports tools.
    let expected = "{\n  \"models\": [{ \"name\": \"qwen3:4b\", \"provider\": \"ollama\", \"active\": true }]\n}\n";
    assert_eq!(chat.config(), expected);
}

#[test]
fn arrows_select_in_the_first_run_chooser() {
    let mut chat = first_run(with_local_ollama());
    chat.reads_screen()
        .press(KeyCode::Down, KeyModifiers::NONE)
        .enter();
    chat.sees("Using gemma3:4b.");
}

#[test]
fn a_prompt_waits_for_the_first_model() {
    let mut chat = first_run(with_local_ollama());
    chat.reads_screen().says("a1");
    chat.sees("a1").sees("queued").sees("1  qwen3:4b");
    chat.sees("No active model is configured. Use /set-model to choose a model.")
        .sees("/config.json lists none yet.")
        .sees(r#"{ "models": [ { "name": "qwen3:4b", "provider": "ollama", "active": true } ] }"#);
    assert_eq!(chat.config(), "", "digits in a message choose nothing");
    chat.reads_screen().enter();
    chat.sees("Using qwen3:4b.").sees("반가워요.");
    chat.does_not_see("queued");
}

#[test]
fn a_message_that_starts_with_digits_stays_complete() {
    for typed in ["2 apples", "12 plus 1"] {
        let mut chat = first_run(with_local_ollama());
        chat.reads_screen().types(typed).sees(&format!("› {typed}"));
        assert_eq!(chat.config(), "");
    }
    let mut chat = first_run(with_local_ollama());
    chat.reads_screen()
        .key('3')
        .pastes("rd try")
        .sees("› 3rd try");
}

#[test]
fn a_digit_typed_before_the_chooser_can_be_read_goes_to_the_message() {
    let mut chat = first_run(with_local_ollama());
    chat.key('1').sees("› 1");
    assert_eq!(chat.config(), "");
}

#[test]
fn the_first_run_chooser_can_be_postponed() {
    let mut chat = first_run(with_local_ollama());
    chat.reads_screen()
        .press(KeyCode::Esc, KeyModifiers::NONE)
        .does_not_see("Look around")
        .sees("Skipped. /models brings this back.")
        .says("/models")
        .sees("1  qwen3:4b");
    assert_eq!(chat.config(), "");
    chat.reads_screen().enter().sees("Using qwen3:4b.");
}

#[test]
fn without_an_ollama_the_other_options_are_offered() {
    first_run(script())
        .sees("Ollama does not answer at http")
        .sees("Run `ollama serve`")
        .sees("1  Another server")
        .sees("3  Look around");
}

#[test]
fn the_search_for_ollama_times_out() {
    let mut chat = first_run(script().with_unresponsive_server(&local_ollama_url()));
    chat.sees("Looking for Ollama at").sees("3  Look around");
    chat.waits_until_sees("Ollama does not answer at");
}

#[test]
fn the_dialog_lists_models_and_typing_filters_them() {
    with_qwen(with_ollama(script()))
        .says("/models")
        .sees("http://localhost:11434 · ollama")
        .sees("2 models")
        .sees("in use")
        .sees("2.6 GB")
        .sees("tools, thinking")
        .types("gem")
        .sees("gemma3:4b")
        .does_not_see("tools, thinking");
}

#[test]
fn an_unconfigured_model_is_used_at_once_and_leaves_the_file_alone() {
    let mut chat = with_qwen(with_ollama(script().answer("Hello.")));
    let before = chat.config();
    chat.says("/models").types("gem").enter();
    chat.sees("Using gemma3:4b until humble exits.")
        .sees("/models keep adds it to config.json.");
    chat.says("hi").sees("Hello.");
    assert_eq!(chat.config(), before);
    chat.says("/set-model").sees("▌    gemma3:4b").key('0');
    chat.says("/set-model 1")
        .sees("humble  qwen3:4b")
        .does_not_see("/models keep");
}

#[test]
fn a_model_in_use_is_added_to_the_file_once() {
    let mut chat = with_qwen(with_ollama(script().answer("Hello.")));
    chat.says("/models keep")
        .sees("config.json lists qwen3:4b already.");
    chat.says("/models").types("gem").enter();
    chat.says("/think off").says("/models keep");
    chat.sees("Using gemma3:4b. Saved to config.json.")
        .sees("think off");
    let added = "{ \"name\": \"gemma3:4b\", \"provider\": \"ollama\", \"active\": true }";
    assert!(chat.config().contains(added), "{}", chat.config());
    assert_eq!(chat.config().matches("\"active\": true").count(), 1);
    let kept = chat.config();
    chat.says("/models keep")
        .sees("config.json lists gemma3:4b already.");
    chat.says("/models").types("gem").enter().says("hi");
    chat.sees("Hello.");
    assert_eq!(chat.config(), kept);
}

#[test]
fn a_pull_runs_in_the_background_and_can_be_stopped() {
    let step = |done| PullStep::Progress {
        done,
        total: 2_000_000_000,
    };
    let script = with_ollama(script())
        .with_pull([step(840_000_000), PullStep::Hang])
        .with_pull([step(1_000_000_000)]);
    let catalog = script.catalog();
    let mut chat = with_qwen(script);
    chat.says("/models").press(KeyCode::Tab, KeyModifiers::NONE);
    chat.key('p').types("llama3.2:3b").enter();
    chat.sees("Pulling llama3.2:3b")
        .sees("42 %")
        .sees("840 MB of 2.0 GB");
    chat.press(KeyCode::Esc, KeyModifiers::NONE)
        .press(KeyCode::Esc, KeyModifiers::NONE)
        .sees("Pulling llama3.2:3b 42 %")
        .says("/models pull other")
        .sees("`llama3.2:3b` is already being pulled.")
        .says("/models rm llama3.2:3b")
        .sees("stop it with /models stop");
    chat.says("/models")
        .ctrl('c')
        .sees("Stopped pulling llama3.2:3b.");
    chat.assert_running().does_not_see("Pulling");
    chat.press(KeyCode::Esc, KeyModifiers::NONE);
    chat.says("/models stop").sees("No model is being pulled.");
    chat.says("/models pull llama3.2:3b")
        .sees("Pulled llama3.2:3b (2.0 GB).");
    let names = catalog.model_names("http://localhost:11434");
    assert_eq!(names, ["qwen3:4b", "gemma3:4b", "llama3.2:3b"]);
}

#[test]
fn a_failed_pull_reports_the_reason() {
    let missing = FailureCause::ErrorInReply {
        message: "pull model manifest: file does not exist".to_owned(),
    };
    with_qwen(with_ollama(script()).with_pull([PullStep::Fail(missing)]))
        .says("/models pull nope")
        .sees("`nope` was not pulled.")
        .sees("file does not exist")
        .sees("ollama.com/library");
}

#[test]
fn a_model_is_removed_only_after_a_confirmation() {
    let script = with_ollama(script().round([ScriptStep::Hang]));
    let catalog = script.catalog();
    let count = || catalog.model_names("http://localhost:11434").len();
    let mut chat = with_qwen(script);
    chat.says("/models rm gemma3:4b")
        .sees("Remove it?")
        .sees("gemma3:4b");
    chat.reads_screen().key('n');
    assert_eq!(count(), 2);
    chat.says("/models rm gemma3:4b").reads_screen();
    chat.ctrl('c').assert_running().does_not_see("Remove it?");
    assert_eq!(count(), 2);
    chat.says("/models").press(KeyCode::Tab, KeyModifiers::NONE);
    chat.key('j')
        .key('d')
        .sees("gemma3:4b, 2.6 GB")
        .reads_screen()
        .key('ㅛ');
    chat.sees("Removed gemma3:4b.");
    assert_eq!(count(), 1);
    chat.press(KeyCode::Esc, KeyModifiers::NONE);
    chat.press(KeyCode::Esc, KeyModifiers::NONE);
    chat.says("hello").says("/models rm qwen3:4b");
    chat.sees("`qwen3:4b` is answering.");
    assert_eq!(count(), 1);
}

#[test]
fn a_new_server_is_checked_before_it_is_saved() {
    let mut chat = first_run(script());
    chat.reads_screen()
        .enter()
        .sees("Another server")
        .sees("OpenAI-compatible");
    chat.press(KeyCode::Down, KeyModifiers::NONE)
        .types("http://127.0.0.1:9")
        .enter();
    chat.types("sk-1234")
        .sees("•••••••")
        .does_not_see("sk-1234")
        .enter();
    chat.types("my-model").enter();
    chat.enter()
        .sees("Nothing listens at http://127.0.0.1:9. Start the server, or correct the")
        .does_not_see("config.json")
        .sees("Save anyway");
    assert_eq!(chat.config(), "");
    chat.press(KeyCode::Down, KeyModifiers::NONE).enter();
    chat.sees("Using my-model.").does_not_see("Another server");
    let added = "{ \"name\": \"my-model\", \"provider\": \"openai\", \"baseUrl\": \"http://127.0.0.1:9\", \"apiKey\": \"sk-1234\", \"active\": true }";
    assert!(chat.config().contains(added), "{}", chat.config());
}

#[test]
fn a_server_that_lists_the_model_is_saved_at_once() {
    let mut chat = first_run(script().with_server("http://127.0.0.1:9/v1", [model("m", &[])]));
    chat.reads_screen().enter();
    chat.enter().types("http://127.0.0.1:9").enter().enter();
    chat.sees("▌ m").types("n").enter().enter();
    chat.sees("The server lists no model `n`. It lists: m.");
    chat.up();
    chat.press(KeyCode::Backspace, KeyModifiers::NONE)
        .does_not_see("lists no model")
        .enter()
        .enter();
    chat.sees("Using m.");
}

#[test]
fn thinking_is_set_for_this_run_only() {
    let mut chat = with_qwen(with_ollama(script().answer("x")));
    let before = chat.config();
    chat.says("/think low")
        .sees("think low")
        .sees("until humble exits");
    chat.says("/think maybe")
        .sees("Please enter on, off, low, medium, high or max.");
    chat.says("/think xhigh")
        .sees("Please enter on, off, low, medium, high or max.");
    chat.says("/think max").sees("think max");
    chat.says("/think")
        .sees("Thinking")
        .key('2')
        .sees("think off");
    assert_eq!(chat.config(), before);
}

#[test]
fn turning_on_thinking_is_refused_for_a_model_without_thinking() {
    let plain_model = model("qwen3:4b", &["completion", "tools"]);
    let mut chat = with_qwen(script().with_server("http://localhost:11434", [plain_model]));
    chat.says("/think on")
        .sees("`qwen3:4b` does not support thinking.")
        .does_not_see("think on");
}

#[test]
fn with_two_active_models_none_is_used_until_the_user_picks_one() {
    let home = tempfile::TempDir::new().expect("a temporary folder");
    let text = r#"{"models":[{"name":"a","provider":"ollama","active":true},{"name":"b","provider":"ollama","active":true}]}"#;
    std::fs::write(home.path().join("config.json"), text).expect("written");
    let mut chat = chat_in(home, script().answer("It is b."));
    chat.sees("2 models are marked active: `a` (ollama), `b` (ollama).");
    chat.says("hi")
        .sees("No active model is configured. Use /set-model to choose a model.")
        .does_not_see("lists none yet");
    chat.says("/set-model")
        .sees("1  a")
        .sees("0  Change nothing")
        .key('0')
        .does_not_see("Change nothing");
    chat.model_received_requests(0)
        .says("/set-model 2")
        .says("hi");
    chat.sees("It is b.").does_not_see("marked active");
    let expected = text.replacen("\"active\":true", "\"active\":false", 1);
    assert_eq!(chat.config(), expected);
}

#[test]
fn adding_a_model_does_not_apply_an_external_edit() {
    let mut chat = with_qwen(with_ollama(script()));
    let edited = chat.config().replace(
        "\"active\"",
        "\"baseUrl\": \"http://evil.example:1\", \"active\"",
    );
    chat.edits_config(&edited);
    chat.says("/models").types("gem").enter();
    chat.says("/models keep").sees("Saved to config.json.");
    chat.says("/models")
        .sees("http://localhost:11434")
        .does_not_see("evil");
}
