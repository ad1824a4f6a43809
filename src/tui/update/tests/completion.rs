//! Completion of commands and their arguments.

use crate::commands::COMMANDS;
use crate::commands::arguments::ArgumentKind;
use crate::domain::{
    CatalogState, ListedModel, ModelCatalog, ModelInfo, ModelList, ModelServer, PersonaSummary,
    ServerCatalog, Think, ToolMode,
};
use crate::tui::update::tests::*;

/// The labels in the completion list, the selected one in brackets; empty if the list is closed.
fn listed(chat: &ChatHarness) -> Vec<String> {
    let Some(list) = chat.model.completions() else {
        return Vec::new();
    };
    let label = |(index, label): (usize, &str)| match list.selected == Some(index) {
        true => format!("[{label}]"),
        false => label.to_owned(),
    };
    let labels = list.rows.iter().map(|row| row.label.as_str());
    labels.enumerate().map(label).collect()
}

fn models(names: &[&str]) -> Event {
    let model = |name: &&str| ModelRef {
        name: (*name).to_owned(),
        provider: ProviderKind::Ollama,
        model: "base".into(),
    };
    let models: Vec<_> = names.iter().map(model).collect();
    let selected = models.first().cloned();
    Event::ModelsListed {
        models,
        selected,
        selected_server: None,
    }
}

fn personas(names: &[&str], description: &str) -> Event {
    let persona = |name: &&str| PersonaSummary {
        name: (*name).to_owned(),
        description: description.to_owned(),
        is_usable: true,
    };
    Event::PersonasListed {
        personas: Arc::new(names.iter().map(persona).collect()),
        selected: None,
    }
}

fn servers(names: &[&str]) -> Event {
    let servers = names.iter().map(|name| fixtures::server(name, Vec::new()));
    Event::ServersListed(servers.collect())
}

fn stored_models(names: &[&str]) -> Event {
    let model = |name: &&str| ListedModel {
        name: (*name).to_owned(),
        bytes: Some(2_600_000_000),
        is_loaded: None,
        info: ModelInfo::default(),
    };
    let server = ModelServer {
        provider: ProviderKind::Ollama,
        url: "http://localhost:11434".into(),
    };
    let list = ModelList {
        models: names.iter().map(model).collect(),
        is_truncated: false,
    };
    Event::CatalogChanged(Arc::new(ModelCatalog {
        servers: vec![ServerCatalog {
            server,
            configured: Vec::new(),
            state: CatalogState::Listed(Arc::new(list)),
        }],
        ..ModelCatalog::default()
    }))
}

fn start_call(chat: &mut ChatHarness, id: u64, tool: &str, city: &str) {
    chat.turn_event(TurnEvent::Tool(ToolCall {
        id: CallId(id),
        state: ToolState::Running { progress: None },
        ..fixtures::tool_call("sky", tool, json!({ "city": city }))
    }));
}

#[test]
fn an_alias_works_but_is_not_listed() {
    let mut chat = chat();
    assert!(!listed(chat.keys("/")).contains(&"/clear".to_owned()));
    assert_eq!(listed(chat.keys("cl")), ["[/new]"]);
    chat.keys("ear<Enter>");
    assert_eq!(chat.commands(), [Command::NewSession]);
    assert_eq!(listed(chat.keys("/new")), [""; 0]);
}

#[test]
fn commands_match_by_the_start_of_a_word() {
    let mut chat = chat();
    assert_eq!(
        listed(chat.keys("/mo")),
        ["[/models]", "/mouse", "/set-model", "/set-tool-mode"]
    );
    let expected = ["[/models]", "/set-model", "/set-tool-mode"];
    assert_eq!(listed(chat.keys("d")), expected);
    assert_eq!(listed(chat.keys("<Ctrl+u>/ouse")), [""; 0]);
}

#[test]
fn list_shows_its_count_and_how_many_rows_are_hidden() {
    let mut chat = chat();
    let count = COMMANDS.len();
    let screen = chat.keys("/").screen();
    let below = count - 8;
    assert!(
        screen.contains(&format!(" {count}, ↓ {below} ─")),
        "{screen}"
    );
    let screen = chat.keys("<Up>").screen();
    assert!(
        screen.contains(&format!(" {count}, ↑ {below} ─")),
        "{screen}"
    );
    let screen = chat
        .keys("<Down><Down><Down><Down><Down><Down><Down><Down><Down>")
        .screen();
    let below = below - 1;
    assert!(
        screen.contains(&format!(" {count}, ↑ 1 ↓ {below} ─")),
        "{screen}"
    );
}

#[test]
fn hint_line_names_the_keys_of_the_list_while_it_is_open() {
    let mut chat = chat();
    let hints = "Tab complete · Enter run · Esc close";
    assert!(chat.keys("/").screen().contains(hints));
    let screen = chat.keys("<Esc>").screen();
    assert!(
        !screen.contains(hints) && !screen.contains("Commands ─"),
        "{screen}"
    );
    assert!(chat.keys("m").screen().contains(hints));
    assert!(!chat.keys("<Left>").screen().contains(hints));
}

#[test]
fn up_and_down_select_and_enter_runs_the_selected_row() {
    let mut chat = chat();
    chat.keys("/set-tool-mode ");
    assert_eq!(listed(&chat), ["auto", "manual"]);
    assert_eq!(listed(chat.keys("<Down>")), ["[auto]", "manual"]);
    assert_eq!(listed(chat.keys("<Down>")), ["auto", "[manual]"]);
    assert_eq!(listed(chat.keys("<Down>")), ["[auto]", "manual"]);
    assert_eq!(listed(chat.keys("<Up>")), ["auto", "[manual]"]);
    chat.keys("<Enter>");
    assert_eq!(chat.commands(), [Command::SetToolMode(ToolMode::Manual)]);
    assert_eq!(chat.message(), "");
}

#[test]
fn enter_without_an_argument_runs_the_command_as_typed() {
    let mut chat = chat();
    chat.keys("/think <Enter>");
    assert!(chat.model.layer.is_some() && chat.commands().is_empty());
    chat.keys("<Esc>/think m");
    // Only the levels that the provider takes.
    assert_eq!(listed(&chat), ["[medium]", "max"]);
    chat.keys("<Enter>");
    assert_eq!(chat.commands(), [Command::SetThink(Think::Medium)]);
}

#[test]
fn models_are_chosen_by_name_or_number() {
    let names = ["qwen3:4b", "gpt", "서울 모델"];
    let chosen_by = |script: &str| {
        let mut chat = chat();
        chat.engine_event(models(&names)).keys(script);
        match chat.commands().pop() {
            Some(Command::SelectModel(chosen)) => chosen.name,
            other => format!("{other:?}: {}", chat.notice()),
        }
    };
    assert_eq!(chosen_by("/set-model gp<Enter>"), "gpt");
    assert_eq!(chosen_by("/set-model 2<Enter>"), "gpt");
    assert_eq!(chosen_by("/set-model 4B<Enter>"), "qwen3:4b");
    assert_eq!(chosen_by("/set-model 모<Tab><Enter>"), "서울 모델");
    assert_eq!(chosen_by("/set-model <Down><Down><Enter>"), "gpt");
    let mut chat = chat();
    chat.engine_event(models(&names))
        .keys("/set-model gtp<Enter>");
    assert_eq!(
        chat.notice(),
        "No model `gtp` is configured. Did you mean `gpt`?"
    );
}

#[test]
fn a_typed_number_does_not_match_inside_a_name() {
    let mut chat = chat();
    chat.engine_event(models(&["gemma-12b", "70b"]));
    assert_eq!(listed(chat.keys("/set-model 12")), [""; 0]);
    assert_eq!(listed(chat.keys("<Ctrl+u>/set-model 7")), ["2  70b"]);
    chat.keys("<Enter>");
    assert!(chat.commands().is_empty());
    assert_eq!(chat.notice(), "Please enter a number from 0 to 2.");
}

#[test]
fn korean_names_match_while_a_syllable_is_composed() {
    // Decomposed, as some systems store file names.
    let decomposed = "\u{1102}\u{1161}\u{11af}\u{110a}\u{1175} 도우미";
    let mut chat = chat();
    chat.engine_event(personas(&["terraform", decomposed], ""));
    for typed in ["ㄴ", "나", "날", "날씨", "도우", "우미"] {
        let labels = listed(chat.keys(&format!("<Ctrl+u>/persona {typed}")));
        assert_eq!(labels.len(), 1, "{typed}: {labels:?}");
    }
    let mut chat = self::chat();
    chat.engine_event(personas(&["terraform", decomposed], ""));
    chat.keys("/persona 우미<Tab>");
    assert_eq!(chat.message(), format!("/persona {decomposed}"));
    chat.keys("<Enter>");
    let expected = Command::SelectPersona(Some(decomposed.to_owned()));
    assert_eq!(chat.commands(), [expected]);
}

#[test]
fn completion_offers_the_actions_of_a_server_after_its_name() {
    let mut chat = chat();
    chat.engine_event(servers(&["docs", "my files", "my files too"]));
    let labels = listed(chat.keys("/mcp my f<Tab>"));
    assert_eq!((labels[0].as_str(), labels.len()), ("retry", 9));
    assert_eq!(labels[8], "3  my files too");
    chat.keys("re");
    assert_eq!(listed(&chat), ["[retry]"]);
    chat.keys("<Tab><Enter>");
    let expected = Command::ReconnectServer("my files".into());
    assert_eq!(chat.commands(), [expected]);
    assert_eq!(listed(chat.keys("/mcp 1 of")), ["[off]"]);
    assert_eq!(listed(chat.keys("<Ctrl+u>/toggle-mcp docs ")), [""; 0]);
}

#[test]
fn odd_names_are_drawn_sanitized_and_inserted_raw() {
    let mut chat = chat();
    chat.engine_event(servers(&["a\u{1b}[31m\u{202e}b", "two\nlines", " c"]));
    let screen = chat.keys("/toggle-mcp ").screen();
    assert!(!screen.contains(['\u{1b}', '\u{202e}']), "{screen}");
    assert!(
        screen.contains("two⟨LF⟩lines") && screen.contains("\" c\""),
        "{screen}"
    );
    chat.keys("a<Tab>");
    assert_eq!(chat.message(), "/toggle-mcp a\u{1b}[31m\u{202e}b");
    // These names cannot be typed, so completion inserts their numbers.
    chat.keys("<Ctrl+u>/toggle-mcp two<Enter>");
    assert_eq!(
        chat.commands(),
        [Command::ToggleServer("two\nlines".into())]
    );
    chat.keys("/toggle-mcp <Up><Enter>");
    assert_eq!(chat.commands(), [Command::ToggleServer(" c".into())]);
}

#[test]
fn completion_offers_stored_models_after_models_rm() {
    let mut chat = chat();
    chat.engine_event(stored_models(&["qwen3:4b", "qwen3:latest", "two words"]));
    assert_eq!(
        listed(chat.keys("/models r<Tab>")),
        ["qwen3:4b", "qwen3:latest"]
    );
    // A name without a tag means `latest`, so it matches exactly.
    assert_eq!(listed(chat.keys("qwen3")), ["[qwen3:latest]", "qwen3:4b"]);
    assert_eq!(listed(chat.keys(":4")), ["[qwen3:4b]"]);
    chat.keys("<Enter>");
    let name = "qwen3:4b".to_owned();
    assert_eq!(
        chat.commands(),
        [Command::RemoveModel { server: None, name }]
    );
    assert_eq!(listed(chat.keys("/models pull qw")), [""; 0]);
}

#[test]
fn calls_of_the_same_tool_are_cancelled_by_number() {
    let mut chat = chat();
    chat.keys("go<Enter>");
    start_call(&mut chat, 1, "weather", "Seoul");
    start_call(&mut chat, 2, "weather", "Busan");
    chat.commands();
    assert_eq!(
        listed(chat.keys("/cancel we")),
        ["[1  weather]", "2  weather"]
    );
    assert!(chat.screen().contains(r#"sky  {"city":"Busan"}"#));
    chat.keys("<Down><Tab>");
    assert_eq!(chat.message(), "/cancel 2");
    chat.keys("<Enter>");
    assert_eq!(chat.commands(), [Command::CancelCall(CallId(2))]);
}

#[test]
fn an_enter_within_a_paste_runs_no_completion() {
    let mut chat = chat();
    chat.type_at_once("/und").type_at_once("\n");
    chat.type_at_once("more").wait(20);
    assert_eq!(chat.message(), "/und\nmore");
    assert!(chat.commands().is_empty());
}

#[test]
fn long_description_is_shown_whole_for_the_selected_row_only() {
    let long = "Answers in one sentence, names its sources, and asks back when the question \
                can be read in two ways.";
    let mut chat = chat();
    chat.engine_event(personas(&["one", "two"], long));
    let screen = chat.keys("/persona ").screen();
    assert!(!screen.contains("Answers in one"), "{screen}");
    let row_of_two = |screen: &str| screen.lines().position(|row| row.contains("two"));
    let before = row_of_two(&screen);
    let screen = chat.keys("<Down><Down>").screen();
    let words: Vec<&str> = screen.split_whitespace().collect();
    assert!(words.join(" ").contains(long), "{screen}");
    assert_eq!(screen.matches("Answers in one").count(), 1);
    assert_eq!(row_of_two(&screen), before);
}

#[test]
fn commands_accept_the_words_that_they_declare() {
    for row in COMMANDS {
        let words = match row.argument {
            ArgumentKind::Words(words) | ArgumentKind::Server(words) => words,
            _ => continue,
        };
        for word in words {
            let before = match row.argument {
                ArgumentKind::Server(_) => "docs ",
                _ => "",
            };
            let mut chat = chat();
            chat.engine_event(servers(&["docs"]));
            chat.keys(&format!("{} {before}{}<Esc><Enter>", row.name, word.word));
            let notice = chat.notice();
            let refusals = ["Please", "Unknown", "is not an action"];
            let needs_argument = word.next != ArgumentKind::Free;
            let is_invalid_usage = notice.starts_with("Usage") && !needs_argument;
            let is_refused = is_invalid_usage || refusals.iter().any(|text| notice.contains(text));
            assert!(!is_refused, "{} {}: {notice}", row.name, word.word);
        }
    }
}

#[test]
fn every_command_with_an_argument_declares_its_kind() {
    // Their arguments are free text, or known only to the engine.
    let undeclared = [
        "/attach",
        "/branches",
        "/chat",
        "/detach",
        "/find",
        "/rename",
        "/sessions",
    ];
    for row in COMMANDS {
        let takes_argument = row.argument != ArgumentKind::Free || undeclared.contains(&row.name);
        assert_eq!(takes_argument, !row.usage.is_empty(), "{}", row.name);
    }
}

#[test]
fn the_completion_list_fits_any_screen() {
    let mut chat = chat();
    chat.engine_event(personas(&["one"], &"long ".repeat(60)));
    for script in ["/", "<Up>", "persona on"] {
        chat.keys(script);
        for width in (1..30).chain([80, 200]) {
            for height in (1..14).chain([24, 60]) {
                chat.size(width, height).screen();
            }
        }
    }
    let screen = chat.size(20, 6).screen();
    assert!(screen.contains("▌ 2  one"), "{screen}");
}
