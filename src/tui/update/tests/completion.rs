//! Completion of commands and their arguments.

use crate::domain::{
    CatalogState, ListedModel, ModelCatalog, ModelInfo, ModelList, ModelServer, PersonaSummary,
    ServerCatalog, Think, ToolMode,
};
use crate::tui::keymap;
use crate::tui::keymap::arguments::ArgumentKind;
use crate::tui::update::tests::*;

/// The labels in the list, the selected one in brackets.
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
    Event::ModelsListed { models, selected }
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

fn running_call(chat: &mut ChatHarness, id: u64, tool: &str, city: &str) {
    chat.turn_event(TurnEvent::Tool(ToolCall {
        id: CallId(id),
        state: ToolState::Running { progress: None },
        ..fixtures::tool_call("sky", tool, json!({ "city": city }))
    }));
}

#[test]
fn an_alias_is_typed_but_not_listed() {
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
    let found = ["[/models]", "/set-model", "/set-tool-mode"];
    assert_eq!(
        listed(chat.keys("/mo")),
        ["[/models]", "/mouse", found[1], found[2]]
    );
    assert_eq!(listed(chat.keys("d")), found);
    assert_eq!(listed(chat.keys("<Ctrl+u>/ouse")), [""; 0]);
}

#[test]
fn list_shows_its_count_and_how_many_rows_are_hidden() {
    let mut chat = chat();
    let count = keymap::listed_commands().count();
    let drawn = chat.keys("/").screen();
    let below = count - 8;
    assert!(drawn.contains(&format!(" {count}, ↓ {below} ─")), "{drawn}");
    let drawn = chat.keys("<Up>").screen();
    assert!(drawn.contains(&format!(" {count}, ↑ {below} ─")), "{drawn}");
    let drawn = chat
        .keys("<Down><Down><Down><Down><Down><Down><Down><Down><Down>")
        .screen();
    let below = below - 1;
    assert!(
        drawn.contains(&format!(" {count}, ↑ 1 ↓ {below} ─")),
        "{drawn}"
    );
}

#[test]
fn hint_line_names_the_keys_of_the_list_while_it_is_open() {
    let mut chat = chat();
    let keys = "Tab complete · Enter run · Esc close";
    assert!(chat.keys("/").screen().contains(keys));
    let drawn = chat.keys("<Esc>").screen();
    assert!(
        !drawn.contains(keys) && !drawn.contains("Commands ─"),
        "{drawn}"
    );
    assert!(chat.keys("m").screen().contains(keys));
    assert!(!chat.keys("<Left>").screen().contains(keys));
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
    chat.keys("<Esc>/think h");
    assert_eq!(listed(&chat), ["[high]"]);
    chat.keys("<Enter>");
    assert_eq!(chat.commands(), [Command::SetThink(Think::High)]);
}

#[test]
fn models_are_chosen_by_name_or_number() {
    let names = ["qwen3:4b", "gpt", "서울 모델"];
    let chosen = |script: &str| {
        let mut chat = chat();
        chat.engine_event(models(&names)).keys(script);
        match chat.commands().pop() {
            Some(Command::SelectModel(chosen)) => chosen.name,
            other => format!("{other:?}: {}", chat.notice()),
        }
    };
    assert_eq!(chosen("/set-model gp<Enter>"), "gpt");
    assert_eq!(chosen("/set-model 2<Enter>"), "gpt");
    assert_eq!(chosen("/set-model 4B<Enter>"), "qwen3:4b");
    assert_eq!(chosen("/set-model 모<Tab><Enter>"), "서울 모델");
    assert_eq!(chosen("/set-model <Down><Down><Enter>"), "gpt");
    let mut chat = chat();
    chat.engine_event(models(&names))
        .keys("/set-model gtp<Enter>");
    assert_eq!(
        chat.notice(),
        "No model `gtp` is configured. Did you mean `gpt`?"
    );
}

#[test]
fn a_typed_number_is_not_taken_for_a_part_of_a_name() {
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
    let stored = "\u{1102}\u{1161}\u{11af}\u{110a}\u{1175} 도우미";
    let mut chat = chat();
    chat.engine_event(personas(&["terraform", stored], ""));
    for typed in ["ㄴ", "나", "날", "날씨", "도우", "우미"] {
        let found = listed(chat.keys(&format!("<Ctrl+u>/persona {typed}")));
        assert_eq!(found.len(), 1, "{typed}: {found:?}");
    }
    chat.keys("<Tab>");
    assert_eq!(chat.message(), format!("/persona {stored}"));
    chat.keys("<Enter>");
    let expected = Command::SelectPersona(Some(stored.to_owned()));
    assert_eq!(chat.commands(), [expected]);
}

#[test]
fn a_server_is_followed_by_what_to_do_with_it() {
    let mut chat = chat();
    chat.engine_event(servers(&["docs", "my files", "my files too"]));
    let found = listed(chat.keys("/mcp my f<Tab>"));
    assert_eq!((found[0].as_str(), found.len()), ("retry", 7));
    assert_eq!(found[6], "3  my files too");
    chat.keys("re");
    assert_eq!(listed(&chat), ["[retry]"]);
    chat.keys("<Tab><Enter>");
    let expected = Command::ReconnectServer("my files".into());
    assert_eq!(chat.commands(), [expected]);
    assert_eq!(listed(chat.keys("/mcp 1 of")), ["[off]"]);
    assert_eq!(listed(chat.keys("<Ctrl+u>/toggle-mcp docs ")), [""; 0]);
}

#[test]
fn odd_names_are_drawn_clean_and_inserted_raw() {
    let mut chat = chat();
    chat.engine_event(servers(&["a\u{1b}[31m\u{202e}b", "two\nlines", " c"]));
    let drawn = chat.keys("/toggle-mcp ").screen();
    assert!(!drawn.contains(['\u{1b}', '\u{202e}']), "{drawn}");
    assert!(
        drawn.contains("two⟨LF⟩lines") && drawn.contains("\" c\""),
        "{drawn}"
    );
    chat.keys("a<Tab>");
    assert_eq!(chat.message(), "/toggle-mcp a\u{1b}[31m\u{202e}b");
    // These names cannot be typed, so their numbers stand for them.
    chat.keys("<Ctrl+u>/toggle-mcp two<Enter>");
    assert_eq!(
        chat.commands(),
        [Command::ToggleServer("two\nlines".into())]
    );
    chat.keys("/toggle-mcp <Up><Enter>");
    assert_eq!(chat.commands(), [Command::ToggleServer(" c".into())]);
}

#[test]
fn stored_models_follow_rm() {
    let mut chat = chat();
    chat.engine_event(stored_models(&["qwen3:4b", "qwen3:latest", "two words"]));
    assert_eq!(
        listed(chat.keys("/models r<Tab>")),
        ["qwen3:4b", "qwen3:latest"]
    );
    // Without a tag, the name means `latest`, so it is complete.
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
fn equal_calls_are_cancelled_by_number() {
    let mut chat = chat();
    chat.keys("go<Enter>");
    running_call(&mut chat, 1, "weather", "Seoul");
    running_call(&mut chat, 2, "weather", "Busan");
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
    let drawn = chat.keys("/persona ").screen();
    assert!(!drawn.contains("Answers in one"), "{drawn}");
    let place = |drawn: &str| drawn.lines().position(|row| row.contains("two"));
    let before = place(&drawn);
    let drawn = chat.keys("<Down><Down>").screen();
    let words: Vec<&str> = drawn.split_whitespace().collect();
    assert!(words.join(" ").contains(long), "{drawn}");
    assert_eq!(drawn.matches("Answers in one").count(), 1);
    assert_eq!(place(&drawn), before);
}

#[test]
fn commands_accept_the_words_that_they_declare() {
    for (command, binding) in keymap::commands() {
        let words = match binding.argument {
            ArgumentKind::Words(words) | ArgumentKind::Server(words) => words,
            _ => continue,
        };
        for word in words {
            let before = match binding.argument {
                ArgumentKind::Server(_) => "docs ",
                _ => "",
            };
            let mut chat = chat();
            chat.engine_event(servers(&["docs"]));
            chat.keys(&format!("{command} {before}{}<Esc><Enter>", word.word));
            let notice = chat.notice();
            let refused = ["Please", "Unknown", "is not an action"];
            let needs_more = word.next != ArgumentKind::Free;
            let is_usage = notice.starts_with("Usage") && !needs_more;
            let is_refused = is_usage || refused.iter().any(|text| notice.contains(text));
            assert!(!is_refused, "{command} {}: {notice}", word.word);
        }
    }
}

#[test]
fn every_command_with_syntax_for_known_values_declares_its_argument() {
    // The values of these are free text, or known only to the engine.
    let free = ["/branches", "/rename"];
    for (command, binding) in keymap::commands() {
        let declares = binding.argument != ArgumentKind::Free || free.contains(&command);
        assert_eq!(declares, !binding.usage.is_empty(), "{command}");
    }
}

#[test]
fn the_list_fits_any_screen() {
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
    let drawn = chat.size(20, 6).screen();
    assert!(drawn.contains("▌ 2  one"), "{drawn}");
}
