//! Model lists that change during use, late checks, and drafts that must survive.

use crate::domain::{
    CatalogState, Catalogue, ModelCatalog, ModelServer, QueryId, ServerCatalog, ServerModel,
};
use crate::tui::update::branches;
use crate::tui::update::tests::*;

fn server() -> ModelServer {
    ModelServer {
        provider: ProviderKind::Ollama,
        url: "http://localhost:11434".into(),
    }
}

fn catalog(names: &[&str], offers: bool) -> Event {
    let model = |name: &&str| ServerModel {
        name: (*name).to_owned(),
        bytes: None,
        is_loaded: None,
        facts: crate::domain::ModelFacts::default(),
    };
    let catalogue = Catalogue {
        models: names.iter().map(model).collect(),
        is_cut: false,
    };
    Event::CatalogChanged(Arc::new(ModelCatalog {
        servers: vec![ServerCatalog {
            server: server(),
            configured: Vec::new(),
            state: CatalogState::Listed(Arc::new(catalogue)),
        }],
        key_variables: Vec::new(),
        offers,
        is_host_unread: false,
    }))
}

#[test]
fn what_the_arrows_stand_on_stays_under_them_while_rows_come() {
    let mut chat = chat();
    chat.engine(catalog(&["a", "b"], false));
    chat.keys("/models<Enter><Tab><Down>");
    chat.engine(catalog(&["0", "1", "a", "b"], false));
    chat.commands();
    chat.keys("d");
    let expected = Command::RemoveModel {
        server: Some(server()),
        name: "b".into(),
    };
    assert_eq!(chat.commands(), [expected]);
}

#[test]
fn a_key_that_is_held_down_takes_one_offer() {
    let mut chat = Chat {
        model: Model::new(&Options::default(), (80, 24)),
        sent: Vec::new(),
    };
    chat.wait(5_000);
    chat.engine(catalog(&["a", "b"], true)).wait(1_000);
    chat.commands();
    chat.keys("<Down><Enter><Enter><Enter>");
    let expected = Command::UseModel {
        server: server(),
        model: "a".into(),
    };
    assert_eq!(chat.commands(), [expected]);
}

#[test]
fn a_check_of_what_was_filled_in_before_saves_nothing() {
    let mut chat = chat();
    chat.keys("/models<Enter><Tab>a").commands();
    chat.keys("<Down>gpt<Down><Down><Down><Enter>");
    let tried = chat.commands();
    let [Command::TryModel { query, .. }] = tried[..] else {
        panic!("expected one check: {tried:?}");
    };
    chat.keys("<Up><Up><Up>5");
    let result = |query| Event::ModelTried {
        query,
        result: Ok(()),
    };
    chat.engine(result(query));
    assert_eq!(chat.commands(), []);
    chat.keys("<Down><Down><Down><Enter>");
    let again = chat.commands();
    let [Command::TryModel { query, model }] = &again[..] else {
        panic!("expected one check: {again:?}");
    };
    assert_eq!(model.model, "gpt5");
    chat.engine(result(QueryId(query.0 + 1)));
    assert_eq!(chat.commands(), []);
    chat.engine(result(*query));
    assert_eq!(chat.commands(), [Command::AddModel(model.clone())]);
}

#[test]
fn a_draft_outlives_the_prompts_that_come_into_the_message() {
    let mut chat = chat();
    chat.keys("question<Enter>").answers("answer").keys("draft");
    branches::edit(&mut chat.model);
    chat.keys(" more");
    branches::edit(&mut chat.model);
    assert_eq!(chat.message(), "question");
    assert!(branches::keeps_as_it_was(&mut chat.model));
    assert_eq!(chat.message(), "draft");
    chat.engine(Event::PromptOffered("earlier".into()));
    assert_eq!(chat.message(), "draft");
    chat.keys("<Ctrl+u><Up>");
    assert_eq!(chat.message(), "earlier");
}
