//! The form that adds another server: the list of its models, and errors below their fields.

use crate::domain::{
    ListedModel, ModelList, NewModelServer, NewServerError, NewServerField, QueryId,
};
use crate::tui::update::tests::*;

fn with_form() -> ChatHarness {
    let mut chat = chat();
    chat.keys("/models<Enter><Tab>a").commands();
    chat
}

fn model_list(names: &[&str]) -> Arc<ModelList> {
    let model = |name: &&str| ListedModel {
        name: (*name).to_owned(),
        ..ListedModel::default()
    };
    Arc::new(ModelList {
        models: names.iter().map(model).collect(),
        is_truncated: false,
    })
}

fn error(field: NewServerField, text: &str) -> NewServerError {
    NewServerError {
        field,
        notice: Notice::failure(text),
    }
}

fn take_request(chat: &mut ChatHarness) -> (QueryId, NewModelServer) {
    match chat.commands().as_slice() {
        [Command::ListServerModels { query, server }] => (*query, server.clone()),
        other => panic!("unexpected commands: {other:?}"),
    }
}

fn server_lists(chat: &mut ChatHarness, query: QueryId, names: &[&str]) {
    let result = Ok(model_list(names));
    chat.engine_event(Event::ServerModelsListed { query, result });
}

fn server_fails(chat: &mut ChatHarness, query: QueryId, field: NewServerField, text: &str) {
    let result = Err(error(field, text));
    chat.engine_event(Event::ServerModelsListed { query, result });
}

fn take_added_models(chat: &mut ChatHarness) -> Vec<String> {
    let name = |command| match command {
        Command::AddModel(model) => Some(model.model),
        _ => None,
    };
    chat.commands().into_iter().filter_map(name).collect()
}

fn row_below(chat: &mut ChatHarness, label: &str) -> String {
    let screen = chat.screen();
    let mut rows = screen.lines().skip_while(|row| !row.contains(label));
    rows.nth(1).unwrap_or_default().trim().to_owned()
}

#[test]
fn models_of_the_entered_server_are_offered() {
    let mut chat = with_form();
    chat.keys("<Down>localhost:8080");
    assert_eq!(
        chat.commands(),
        [],
        "nothing is sent while the address is typed"
    );
    chat.keys("<Down>");
    let (query, server) = take_request(&mut chat);
    assert_eq!(server.base_url.as_deref(), Some("http://localhost:8080"));
    assert!(
        chat.screen().contains("http://localhost:8080"),
        "before it is saved"
    );
    chat.keys("<Enter>");
    assert_eq!(chat.commands(), [], "the same server is not asked again");
    assert!(chat.screen().contains("Asking the server for its models …"));
    server_lists(
        &mut chat,
        query,
        &["llama", "qwen-large", "qwen-small", "evil\u{202e}"],
    );
    let screen = chat.screen();
    assert!(
        screen.contains("▌ llama") && !screen.contains("evil"),
        "{screen}"
    );
    chat.keys("qwen<Down><Down><Enter>");
    let screen = chat.screen();
    assert!(screen.contains("Model     qwen-small"), "{screen}");
    chat.keys("<Enter><Enter><Enter>");
    assert_eq!(
        take_added_models(&mut chat),
        ["qwen-small"],
        "a held Enter adds it once"
    );
}

#[test]
fn enter_takes_the_first_offered_model() {
    let mut chat = with_form();
    chat.keys("<Down><Down><Down>");
    let (query, _) = take_request(&mut chat);
    server_lists(&mut chat, query, &["a", "b"]);
    chat.keys("<Enter><Enter>");
    assert_eq!(take_added_models(&mut chat), ["a"]);
}

#[test]
fn editing_the_address_cancels_the_request() {
    let mut chat = with_form();
    chat.keys("<Down>localhost:1<Down>");
    let (outdated, _) = take_request(&mut chat);
    chat.keys("<Up>2");
    assert_eq!(chat.commands(), [Command::StopListingServer]);
    server_lists(&mut chat, outdated, &["old"]);
    chat.keys("<Down>");
    let (query, server) = take_request(&mut chat);
    assert_eq!(server.base_url.as_deref(), Some("http://localhost:12"));
    chat.keys("<Down>");
    assert!(!chat.screen().contains("old"));
    server_lists(&mut chat, query, &["new"]);
    assert!(chat.screen().contains("▌ new"));
    let mut chat = with_form();
    chat.keys("<Down>localhost:1<Down><Esc><Esc>");
    let commands = chat.commands();
    assert_eq!(commands.last(), Some(&Command::StopListingServer));
    assert!(chat.model.layer.is_none());
}

#[test]
fn problems_are_shown_below_their_fields() {
    let mut chat = with_form();
    chat.keys("<Down>localhost:9<Down>");
    let (query, _) = take_request(&mut chat);
    server_fails(
        &mut chat,
        query,
        NewServerField::Address,
        "Nothing listens there.",
    );
    assert_eq!(row_below(&mut chat, "Address"), "✗ Nothing listens there.");
    chat.keys("<Down>m<Down><Enter>");
    let (query, _) = take_request(&mut chat);
    server_fails(&mut chat, query, NewServerField::Key, "It needs a key.");
    assert_eq!(row_below(&mut chat, "Key "), "✗ It needs a key.");
    assert!(row_below(&mut chat, "Address").starts_with("Key"));
    assert_eq!(take_added_models(&mut chat), [""; 0]);
    chat.keys("<Down><Enter>");
    assert_eq!(
        take_added_models(&mut chat),
        ["m"],
        "a second Enter adds it anyway"
    );
}

#[test]
fn missing_key_is_not_reported_before_the_user_could_enter_it() {
    let mut chat = with_form();
    chat.keys("<Down>localhost:9<Down>");
    let (query, _) = take_request(&mut chat);
    server_fails(&mut chat, query, NewServerField::Key, "It needs a key.");
    assert!(!chat.screen().contains("It needs a key."));
    chat.keys("<Down>");
    assert_eq!(row_below(&mut chat, "Key "), "✗ It needs a key.");
}

#[test]
fn unlisted_and_missing_names_are_reported_below_the_model() {
    let mut chat = with_form();
    chat.keys("<Tab><Tab><Tab>");
    let (query, _) = take_request(&mut chat);
    chat.keys("<Down><Enter>");
    assert_eq!(
        row_below(&mut chat, "Model "),
        "✗ Enter the name of the model."
    );
    server_lists(&mut chat, query, &["a"]);
    chat.keys("n<Down><Enter>");
    let expected = "✗ The server lists no model `n`. It lists: a.";
    assert_eq!(row_below(&mut chat, "Model "), expected);
    assert_eq!(take_added_models(&mut chat), [""; 0]);
    chat.keys("<Down><Enter>");
    assert_eq!(take_added_models(&mut chat), ["n"]);
}

#[test]
fn result_of_an_outdated_check_saves_nothing() {
    let mut chat = with_form();
    chat.keys("<Down>localhost:1<Down><Down>gpt<Down><Enter>");
    let (outdated, _) = take_request(&mut chat);
    chat.keys("<Up><Up><Up>5");
    chat.commands();
    server_lists(&mut chat, outdated, &["gpt"]);
    assert_eq!(chat.commands(), []);
    chat.keys("<Down><Down><Down><Enter>");
    let (query, _) = take_request(&mut chat);
    server_lists(&mut chat, QueryId(query.0 + 1), &["gpt"]);
    assert_eq!(chat.commands(), []);
    server_lists(&mut chat, query, &["gpt"]);
    assert_eq!(take_added_models(&mut chat), ["gpt"]);
}

#[test]
fn failed_save_can_be_retried() {
    let mut chat = with_form();
    chat.keys("<Down><Down><Down>");
    let (query, _) = take_request(&mut chat);
    server_lists(&mut chat, query, &["a"]);
    chat.keys("<Enter><Enter><Enter>");
    assert_eq!(take_added_models(&mut chat), ["a"]);
    let problem = Notice::failure("config.json cannot be written.");
    chat.engine_event(Event::NoticePosted(problem))
        .keys("<Enter>");
    assert_eq!(take_added_models(&mut chat), ["a"]);
}

#[test]
fn the_provider_row_shows_the_keys_that_change_the_provider() {
    let mut chat = with_form();
    let screen = chat.screen();
    let expected = "Provider  < OpenAI-compatible >  Left/Right changes it";
    assert!(screen.contains(expected), "{screen}");
}

#[test]
fn text_on_the_provider_row_goes_to_the_address() {
    let mut chat = with_form();
    chat.keys("localhost:8080<Down>");
    let (_, server) = take_request(&mut chat);
    assert_eq!(server.base_url.as_deref(), Some("http://localhost:8080"));
    let mut chat = with_form();
    chat.input(UiInput::Paste("http://here\n".into()))
        .keys("<Down>");
    let (_, server) = take_request(&mut chat);
    assert_eq!(server.base_url.as_deref(), Some("http://here"));
}

#[test]
fn enter_returns_the_focus_to_a_rejected_key() {
    let mut chat = with_form();
    chat.keys("<Down><Down>sk-old<Enter>");
    let (query, _) = take_request(&mut chat);
    server_fails(&mut chat, query, NewServerField::Key, "It rejects the key.");
    assert_eq!(row_below(&mut chat, "Key "), "✗ It rejects the key.");
    // The focus moves only on Enter, because the user may be typing the model's name.
    chat.keys("<Enter>");
    assert_eq!(chat.commands(), []);
    chat.keys("<Backspace><Backspace><Backspace>new<Enter>");
    let (_, server) = take_request(&mut chat);
    let key = server.api_key.expect("a key");
    assert_eq!(key.expose(), "sk-new");
    let mut chat = with_form();
    chat.keys("<Down><Down>sk-old<Enter>");
    let (query, _) = take_request(&mut chat);
    server_fails(&mut chat, query, NewServerField::Key, "It rejects the key.");
    chat.keys("<Down><Enter>x<Down>");
    let (_, server) = take_request(&mut chat);
    assert_eq!(server.api_key.expect("a key").expose(), "sk-oldx");
}

#[test]
fn an_address_stays_when_another_provider_is_chosen() {
    let mut chat = with_form();
    let default_address = |chat: &mut ChatHarness| {
        let screen = chat.screen();
        let row = screen.lines().find(|row| row.contains("Address"));
        row.unwrap_or_default().trim().to_owned()
    };
    let first = default_address(&mut chat);
    chat.keys("<Right>");
    assert_ne!(default_address(&mut chat), first, "the default follows");
    chat.keys("<Down>")
        .input(UiInput::Paste(" 192.168.1.5:11434/v1/ \n".into()));
    chat.keys("<Up><Right>");
    let row = default_address(&mut chat);
    assert!(row.ends_with("http://192.168.1.5:11434/v1/"), "{row}");
}
