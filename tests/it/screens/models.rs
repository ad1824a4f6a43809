//! Snapshots of the model screens: first run, model list, server form.

use super::at_two_sizes;
use crate::support::screen_harness;
use crossterm::event::KeyCode;
use humble::domain::{
    CatalogState, ListedModel, ModelCatalog, ModelInfo, ModelList, ModelRef, ModelServer, Notice,
    ProviderKind, Pull, ServerCatalog, ToolMode,
};
use humble::protocol::Event;
use humble::tui::{TuiOptions, UiInput, UiModel, view};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use screen_harness::{ScreenHarness, screen_harness};
use std::sync::Arc;

fn model(name: &str, bytes: u64, capabilities: &[&str], family: &str) -> ListedModel {
    ListedModel {
        name: name.to_owned(),
        bytes: Some(bytes),
        is_loaded: Some(name.starts_with("gemma")),
        info: ModelInfo {
            capabilities: capabilities.iter().map(|name| (*name).to_owned()).collect(),
            family: Some(family.to_owned()),
            context_length: Some(40_960),
            ..ModelInfo::default()
        },
    }
}

fn server(provider: ProviderKind, url: &str) -> ModelServer {
    let url = url.to_owned();
    ModelServer { provider, url }
}

fn ollama() -> ModelServer {
    server(ProviderKind::Ollama, "http://localhost:11434")
}

fn ollama_models() -> CatalogState {
    let models = vec![
        model(
            "qwen3:4b",
            2_600_000_000,
            &["completion", "tools", "thinking"],
            "qwen3",
        ),
        model(
            "gemma3:4b",
            3_300_000_000,
            &["completion", "vision"],
            "gemma3",
        ),
        model(
            "한국어-모델\u{1b}[31m:8b",
            135_000_000,
            &["completion"],
            "llama",
        ),
    ];
    CatalogState::Listed(Arc::new(ModelList {
        models,
        is_truncated: false,
    }))
}

/// Starts without any configured model. `state` is the state of the local Ollama.
fn first_run(story: &mut ScreenHarness, state: CatalogState) {
    story.model = UiModel::new(&TuiOptions::default(), story.model.screen.size);
    let ollama = ServerCatalog {
        server: ollama(),
        configured: Vec::new(),
        state,
    };
    story.event(Event::CatalogChanged(Arc::new(ModelCatalog {
        servers: vec![ollama],
        key_variables: vec!["OPENAI_API_KEY".to_owned()],
        is_ollama_host_invalid: false,
        offers_discovered: true,
    })));
    story.advance_clock(600);
}

fn configured(name: &str, provider: ProviderKind, model: &str) -> ModelRef {
    ModelRef {
        name: name.to_owned(),
        provider,
        model: model.to_owned(),
    }
}

fn dialog(story: &mut ScreenHarness) {
    story.types("/models").key(KeyCode::Enter);
    let openai = server(ProviderKind::OpenAi, "https://api.openai.com/v1");
    let missing = Notice::failure("There is no key for `gpt-4o`.")
        .with_reason("The environment variable OPENAI_API_KEY is not set or empty.");
    let servers = vec![
        ServerCatalog {
            server: ollama(),
            configured: vec![
                configured("qwen3:4b", ProviderKind::Ollama, "qwen3:4b"),
                configured("old", ProviderKind::Ollama, "old:1b"),
            ],
            state: ollama_models(),
        },
        ServerCatalog {
            server: openai,
            configured: vec![configured("gpt-4o", ProviderKind::OpenAi, "gpt-4o")],
            state: CatalogState::Failed(missing),
        },
    ];
    story.event(Event::CatalogChanged(Arc::new(ModelCatalog {
        servers,
        ..ModelCatalog::default()
    })));
}

fn pull() -> Event {
    Event::PullChanged(Some(Pull {
        server: ollama(),
        name: "llama3.2:3b".to_owned(),
        status: "pulling".to_owned(),
        done: 840_000_000,
        total: 2_000_000_000,
    }))
}

macro_rules! screens {
    ($name:ident, $script:expr) => {
        #[test]
        fn $name() {
            insta::assert_snapshot!(at_two_sizes($script));
        }
    };
}

screens!(a_first_run_with_an_ollama, |story| {
    first_run(story, ollama_models());
    story.key(KeyCode::Down).key(KeyCode::Down);
});

screens!(a_first_run_without_an_ollama, |story| {
    first_run(story, CatalogState::Failed(Notice::failure("refused")));
});

screens!(a_prompt_before_the_first_model, |story| {
    first_run(story, ollama_models());
    story.types("Hello").key(KeyCode::Enter);
});

screens!(the_models_dialog, |story| {
    dialog(story);
    story.key(KeyCode::Down);
});

screens!(the_models_dialog_during_a_pull, |story| {
    dialog(story);
    story.event(pull()).key(KeyCode::Tab);
});

screens!(a_pull_in_the_background, |story| {
    story.event(pull());
});

screens!(the_form_for_another_server, |story| {
    first_run(story, CatalogState::Loading);
    story.key(KeyCode::Enter);
    story.key(KeyCode::Down).key(KeyCode::Down).types("sk-1234");
    story.key(KeyCode::Down).types("내-모델");
});

#[test]
fn invalid_ollama_host_is_explained_in_the_welcome() {
    let mut story = screen_harness((104, 30));
    story.model = UiModel::new(&TuiOptions::default(), story.model.screen.size);
    story.event(Event::CatalogChanged(Arc::new(ModelCatalog {
        servers: vec![ServerCatalog {
            server: ollama(),
            configured: Vec::new(),
            state: CatalogState::Loading,
        }],
        is_ollama_host_invalid: true,
        offers_discovered: true,
        ..ModelCatalog::default()
    })));
    let screen = story.screen();
    assert!(
        screen.contains("OLLAMA_HOST is set, but is not a valid address. Looking"),
        "{screen}"
    );
}

#[test]
fn a_narrow_header_keeps_the_automatic_mode_in_its_color() {
    for width in [30, 40, 104] {
        let mut story = screen_harness((width, 12));
        story.event(Event::ToolModeChanged(ToolMode::Auto));
        let mut buffer = Buffer::empty(Rect::new(0, 0, width, 12));
        view::paint(&mut story.model, &mut buffer);
        let is_auto = |x: &u16| {
            let letters = (*x..*x + 4).map(|x| buffer[(x, 0)].symbol());
            letters.eq(["a", "u", "t", "o"])
        };
        let at = (0..width - 4)
            .find(is_auto)
            .expect("the mode is in the header");
        let style = buffer[(at, 0)].style();
        assert_eq!(style.fg, story.model.screen.theme.attention.fg, "{width}");
    }
}

#[test]
fn no_small_size_breaks_the_screens_about_models() {
    for width in 0..30 {
        for height in 0..14 {
            let mut story = screen_harness((width, height));
            first_run(&mut story, ollama_models());
            for key in [
                KeyCode::Down,
                KeyCode::Up,
                KeyCode::Char('4'),
                KeyCode::Enter,
                KeyCode::Tab,
                KeyCode::Up,
            ] {
                story.key(key).advance_clock(600);
                story.screen();
            }
            let mut story = self::screen_harness((width, height));
            dialog(&mut story);
            story.event(pull());
            for key in [
                KeyCode::Tab,
                KeyCode::PageDown,
                KeyCode::Char('p'),
                KeyCode::Char('x'),
            ] {
                story.key(key);
                story.screen();
            }
        }
    }
}

#[test]
fn provider_key_is_not_offered_for_a_custom_address() {
    let mut story = screen_harness((60, 20));
    first_run(&mut story, CatalogState::Loading);
    story.key(KeyCode::Enter);
    assert!(story.screen().contains("${OPENAI_API_KEY}"));
    story.key(KeyCode::Down).types("h");
    assert!(!story.screen().contains("OPENAI_API_KEY"));
    story.key(KeyCode::Backspace);
    assert!(story.screen().contains("${OPENAI_API_KEY}"));
    story.key(KeyCode::Up).key(KeyCode::Right);
    let screen = story.screen();
    assert!(
        screen.contains("Mistral") && !screen.contains("OPENAI_API_KEY"),
        "{screen}"
    );
    story.key(KeyCode::Down).key(KeyCode::Down);
    story.input(UiInput::Paste("sk-\u{1b}12\n".to_owned()));
    let screen = story.screen();
    assert!(
        screen.contains("•••••") && !screen.contains("sk-12"),
        "{screen}"
    );
}
