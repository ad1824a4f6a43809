//! The choice of the first model, model lists that change while they are open, and drafts that
//! must not be lost.

use crate::commands::turns::EDIT;
use crate::domain::{
    Banner, BannerCause, CatalogState, ListedModel, ModelCatalog, ModelList, ModelServer,
    ServerCatalog, UnsentText,
};
use crate::tui::update::branches;
use crate::tui::update::tests::*;

fn server() -> ModelServer {
    ModelServer {
        provider: ProviderKind::Ollama,
        url: "http://localhost:11434".into(),
    }
}

fn catalog(names: &[&str], offers_discovered: bool) -> Event {
    let model = |name: &&str| ListedModel {
        name: (*name).to_owned(),
        bytes: None,
        is_loaded: None,
        info: crate::domain::ModelInfo::default(),
    };
    let list = ModelList {
        models: names.iter().map(model).collect(),
        is_truncated: false,
    };
    Event::CatalogChanged(Arc::new(ModelCatalog {
        servers: vec![ServerCatalog {
            server: server(),
            configured: Vec::new(),
            state: CatalogState::Listed(Arc::new(list)),
        }],
        key_variables: Vec::new(),
        offers_discovered,
        is_ollama_host_invalid: false,
    }))
}

/// A chat without a configured model, whose Ollama lists these models.
fn first_run(names: &[&str]) -> ChatHarness {
    let mut chat = ChatHarness {
        model: UiModel::new(&TuiOptions::default(), (80, 24)),
        sent: Vec::new(),
    };
    chat.wait(5_000);
    chat.engine_event(catalog(names, true)).wait(1_000);
    chat.commands();
    chat
}

fn use_model(name: &str) -> Command {
    Command::UseModel {
        server: server(),
        model: name.into(),
    }
}

fn is_selected(chat: &mut ChatHarness, label: &str) -> bool {
    let screen = chat.screen();
    let mut rows = screen.lines().filter(|row| row.contains(label));
    rows.any(|row| row.contains('▌'))
}

fn model_added(chat: &mut ChatHarness, name: &str) {
    let model = ModelRef {
        name: name.into(),
        provider: ProviderKind::Ollama,
        model: name.into(),
    };
    chat.engine_event(Event::ModelsListed {
        models: vec![model.clone()],
        selected: Some(model.clone()),
        selected_server: None,
    });
    chat.engine_event(Event::ModelAdded(model));
}

#[test]
fn selection_stays_on_its_row_while_rows_arrive() {
    let mut chat = chat();
    chat.engine_event(catalog(&["a", "b"], false));
    chat.keys("/models<Enter><Up><Up><Tab><Down>");
    chat.engine_event(catalog(&["0", "1", "a", "b"], false));
    chat.commands();
    chat.keys("d");
    let expected = Command::RemoveModel {
        server: Some(server()),
        name: "b".into(),
    };
    assert_eq!(chat.commands(), [expected]);
}

#[test]
fn first_item_is_selected_and_enter_takes_it() {
    let mut chat = first_run(&["a", "b"]);
    assert!(is_selected(&mut chat, "1  a"));
    chat.keys("<Enter>");
    assert_eq!(chat.commands(), [use_model("a")]);
    let mut chat = first_run(&["a", "b"]);
    chat.keys("2<Enter>");
    assert_eq!(chat.commands(), [use_model("b")]);
}

#[test]
fn a_digit_chooses_unless_another_key_follows() {
    let mut chat = first_run(&["a", "b"]);
    chat.keys("2").wait(500);
    assert_eq!(chat.commands(), []);
    assert!(is_selected(&mut chat, "2  b"));
    chat.wait(400);
    assert_eq!(chat.commands(), [use_model("b")]);
    chat.wait(5_000);
    assert_eq!(chat.commands(), []);
    for (keys, message) in [("2 plus 3?", "2 plus 3?"), ("12", ""), ("2<Backspace>", "")] {
        let mut chat = first_run(&["a", "b"]);
        chat.keys(keys).wait(5_000);
        let chooses = |command: &Command| matches!(command, Command::UseModel { .. });
        assert!(!chat.commands().iter().any(chooses), "{keys}");
        assert_eq!(chat.message(), message, "{keys}");
    }
}

#[test]
fn a_digit_chooses_nothing_if_its_row_disappears() {
    let mut chat = first_run(&["a", "b"]);
    chat.keys("2").engine_event(catalog(&["a"], true));
    chat.wait(5_000);
    assert_eq!(chat.commands(), []);
    chat.keys(" and 2?");
    assert_eq!(chat.message(), "2 and 2?");
}

#[test]
fn selected_item_stays_selected_when_models_are_found() {
    let mut chat = first_run(&[]);
    chat.keys("<Down><Down><Down>");
    assert!(is_selected(&mut chat, "Look around"));
    chat.engine_event(catalog(&["a"], true));
    assert!(is_selected(&mut chat, "Look around"));
    let mut chat = first_run(&[]);
    assert!(is_selected(&mut chat, "Pull a model"));
    chat.engine_event(catalog(&["a"], true));
    assert!(
        is_selected(&mut chat, "1  a"),
        "the user had selected nothing"
    );
    chat.keys("<Enter>");
    assert_eq!(chat.commands(), [], "the list has just changed");
}

#[test]
fn held_key_chooses_one_item_only() {
    let mut chat = first_run(&["a", "b"]);
    chat.keys("<Down><Enter><Enter><Enter>");
    assert_eq!(chat.commands(), [use_model("b")]);
}

#[test]
fn prompt_waits_for_the_first_model() {
    let mut chat = first_run(&["a", "b"]);
    chat.keys("hello<Enter><Enter>");
    let draft = Command::SaveDraft(UnsentText {
        queue: vec!["hello".into()],
        ..UnsentText::default()
    });
    assert_eq!(chat.commands(), [draft], "a second Enter chooses nothing");
    let screen = chat.screen();
    assert!(
        screen.contains("2  b") && screen.contains("hello"),
        "{screen}"
    );
    assert_eq!(
        chat.notice(),
        "No active model is configured. Use /set-model to choose a model."
    );
    chat.wait(1_000).keys("again<Enter>").wait(1_000);
    chat.sent.clear();
    chat.keys("<Down><Enter>");
    assert_eq!(chat.commands(), [use_model("b")]);
    model_added(&mut chat, "b");
    assert_eq!(chat.prompts(), ["hello"]);
    chat.model_answers("Hi.");
    assert_eq!(chat.prompts(), ["again"]);
}

#[test]
fn waiting_prompt_can_be_taken_back() {
    let mut chat = first_run(&["a"]);
    chat.keys("hello<Enter>").wait(1_000).keys("x<Enter>");
    chat.wait(1_000).keys("<Esc><Up><Enter>");
    assert_eq!(chat.message(), "x");
    model_added(&mut chat, "a");
    assert_eq!(chat.prompts(), ["hello"]);
    chat.model_answers("Hi.");
    assert_eq!(
        chat.prompts(),
        [""; 0],
        "the second prompt is in the message again"
    );
}

#[test]
fn skipped_model_chooser_can_be_reopened() {
    for command in ["/models", "/set-model"] {
        let mut chat = first_run(&["a", "b"]);
        chat.keys("<Esc>");
        assert_eq!(chat.notice(), "Skipped. /models brings this back.");
        assert!(!chat.screen().contains("2  b"));
        chat.keys(command).keys("<Enter>");
        assert!(chat.model.layer.is_none());
        assert!(is_selected(&mut chat, "1  a"), "{command}");
        assert_eq!(chat.commands(), [Command::ListCatalog]);
        chat.wait(1_000).keys("<Enter>");
        assert_eq!(chat.commands(), [use_model("a")]);
    }
    let mut chat = first_run(&["a", "b"]);
    chat.keys("<Esc>hello<Enter>");
    assert!(is_selected(&mut chat, "1  a"), "a prompt needs a model too");
    chat.keys("/set-model<Enter>");
    let screen = chat.screen();
    assert!(
        screen.contains("── Models") && screen.contains("b"),
        "{screen}"
    );
    assert!(screen.contains("0  Change nothing"), "{screen}");
    chat.keys("0");
    assert!(chat.model.layer.is_none());
}

#[test]
fn set_model_opens_the_first_run_chooser_while_no_model_is_configured() {
    let mut chat = first_run(&["a"]);
    chat.keys("/set-model<Enter>");
    let screen = chat.screen();
    for label in ["a", "Pull a model", "Another server", "Look around"] {
        assert!(screen.contains(label), "{label}: {screen}");
    }
    chat.commands();
    chat.keys("<Down><Down><Enter>llama<Enter>");
    let pull = Command::PullModel {
        server: None,
        name: "llama".into(),
    };
    assert_eq!(chat.commands(), [pull]);
    chat.keys("<Down><Enter>");
    assert!(chat.screen().contains("── Another server"));
}

#[test]
fn unreadable_config_is_not_a_first_run() {
    let mut chat = first_run(&["a"]);
    chat.engine_event(catalog(&["a"], false));
    let cause = BannerCause::UnreadableFile("config.json".into());
    let banner = Banner::new(cause, Notice::failure("config.json, line 1."));
    chat.engine_event(Event::BannersChanged(vec![banner]));
    let screen = chat.screen();
    assert!(!screen.contains("Welcome"), "{screen}");
    let text = "config.json could not be read. Starting without it.";
    assert!(screen.contains(text), "{screen}");
    chat.keys("hello<Enter>");
    assert_eq!(
        chat.prompts(),
        ["hello"],
        "the engine reports why it cannot answer"
    );
}

#[test]
fn draft_is_kept_when_a_prompt_is_put_into_the_message() {
    let mut chat = chat();
    chat.keys("question<Enter>")
        .model_answers("answer")
        .keys("draft");
    chat.run(&EDIT);
    chat.keys(" more");
    chat.run(&EDIT);
    assert_eq!(chat.message(), "question");
    assert!(branches::cancel_edit(&mut chat.model));
    assert_eq!(chat.message(), "draft");
    chat.engine_event(Event::PromptOffered {
        prompt: crate::domain::Prompt::new("earlier"),
        notice: None,
    });
    assert_eq!(chat.message(), "earlier");
    chat.keys("<Home><Up>");
    assert_eq!(chat.message(), "draft");
}

#[test]
fn the_first_start_offers_servers_of_other_clients() {
    let mut chat = first_run(&["a"]);
    let screen = chat.screen();
    let label = "3  Import MCP servers from Claude Desktop, Cursor, VS Code …";
    assert!(screen.contains(label), "{screen}");
    chat.keys("3<Enter>");
    let commands = chat.commands();
    assert!(matches!(
        commands.as_slice(),
        [Command::FindImportSources(_)]
    ));
    assert!(chat.model.is_layer_open(crate::tui::keymap::Action::IMPORT));
}

#[test]
fn a_server_with_only_embedding_models_has_no_model_that_can_chat() {
    let mut chat = first_run(&[]);
    let Event::CatalogChanged(mut catalog) = catalog(&["nomic-embed-text"], true) else {
        unreachable!("a catalog");
    };
    let server = &mut Arc::make_mut(&mut catalog).servers[0];
    if let CatalogState::Listed(list) = &mut server.state {
        let info = &mut Arc::make_mut(list).models[0].info;
        info.capabilities = vec!["embedding".to_owned()];
    }
    chat.engine_event(Event::CatalogChanged(catalog));
    let screen = chat.screen();
    assert!(
        screen.contains("Ollama is running, but has no model that can chat:"),
        "{screen}"
    );
}
