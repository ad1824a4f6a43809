//! Model lists that change during use, late checks, and drafts that must survive.

use crate::domain::{
    CatalogState, ListedModel, ModelCatalog, ModelList, ModelServer, QueryId, ServerCatalog,
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

#[test]
fn selection_stays_put_while_rows_arrive() {
    let mut chat = chat();
    chat.engine_event(catalog(&["a", "b"], false));
    chat.keys("/models<Enter><Tab><Down>");
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
fn held_key_chooses_one_item_only() {
    let mut chat = ChatHarness {
        model: UiModel::new(&TuiOptions::default(), (80, 24)),
        sent: Vec::new(),
    };
    chat.wait(5_000);
    chat.engine_event(catalog(&["a", "b"], true)).wait(1_000);
    chat.commands();
    chat.keys("<Down><Enter><Enter><Enter>");
    let expected = Command::UseModel {
        server: server(),
        model: "a".into(),
    };
    assert_eq!(chat.commands(), [expected]);
}

#[test]
fn outdated_form_check_saves_nothing() {
    let mut chat = chat();
    chat.keys("/models<Enter><Tab>a").commands();
    chat.keys("<Down>gpt<Down><Down><Down><Enter>");
    let tried = chat.commands();
    let [Command::TestModel { query, .. }] = tried[..] else {
        panic!("expected one check: {tried:?}");
    };
    chat.keys("<Up><Up><Up>5");
    let result = |query| Event::ModelTested {
        query,
        result: Ok(()),
    };
    chat.engine_event(result(query));
    assert_eq!(chat.commands(), []);
    chat.keys("<Down><Down><Down><Enter>");
    let again = chat.commands();
    let [Command::TestModel { query, model }] = &again[..] else {
        panic!("expected one check: {again:?}");
    };
    assert_eq!(model.model, "gpt5");
    chat.engine_event(result(QueryId(query.0 + 1)));
    assert_eq!(chat.commands(), []);
    chat.engine_event(result(*query));
    assert_eq!(chat.commands(), [Command::AddModel(model.clone())]);
}

#[test]
fn draft_survives_prompts_set_into_the_message() {
    let mut chat = chat();
    chat.keys("question<Enter>")
        .model_answers("answer")
        .keys("draft");
    branches::edit_last_prompt(&mut chat.model);
    chat.keys(" more");
    branches::edit_last_prompt(&mut chat.model);
    assert_eq!(chat.message(), "question");
    assert!(branches::cancel_edit(&mut chat.model));
    assert_eq!(chat.message(), "draft");
    chat.engine_event(Event::PromptOffered("earlier".into()));
    assert_eq!(chat.message(), "draft");
    chat.keys("<Ctrl+u><Up>");
    assert_eq!(chat.message(), "earlier");
}
