//! Prompt templates as commands, in the completion list and in the palette.

use crate::domain::RecentCommands;
use crate::domain::{Notice, PromptTemplate, PromptTemplates, TemplateBody};
use crate::tui::update::tests::*;

fn template(name: &str, text: &str) -> PromptTemplate {
    PromptTemplate {
        name: name.to_owned(),
        description: format!("About {name}"),
        body: Ok(TemplateBody::parse(text)),
    }
}

fn chat_with_templates() -> ChatHarness {
    let broken = PromptTemplate {
        name: "broken".to_owned(),
        description: String::new(),
        body: Err("its front matter is not closed by a line `---`".to_owned()),
    };
    let list = vec![
        broken,
        template("greet", "Say hello."),
        template("new", "A text that a built-in command hides"),
        template("translate", "Translate to {{language}}:\n{{text}}"),
        template("번역", "한국어로: {{글}}"),
    ];
    let mut chat = chat();
    chat.engine_event(Event::PromptTemplatesListed(Arc::new(PromptTemplates {
        list,
        problem: None,
    })));
    chat
}

fn prompts(chat: &ChatHarness) -> Vec<String> {
    let sent = chat.sent.iter().filter_map(|effect| match effect {
        UiEffect::Send(Command::Submit { prompt, .. }) => Some(prompt.text.clone()),
        _ => None,
    });
    sent.collect()
}

#[test]
fn values_after_the_command_fill_the_template_and_send_it() {
    for (message, expected) in [
        (
            "/translate Korean Good morning!",
            "Translate to Korean:\nGood morning!",
        ),
        ("/TRANSLATE \"old Norse\" hi", "Translate to old Norse:\nhi"),
        ("/greet", "Say hello."),
        ("/greet Be brief.", "Say hello.\n\nBe brief."),
        ("/번역 Good morning", "한국어로: Good morning"),
    ] {
        let mut chat = chat_with_templates();
        chat.keys(message).keys("<Enter>");
        assert_eq!(prompts(&chat), [expected], "{message}\n{}", chat.screen());
        assert!(chat.model.composer.editor.is_empty());
        chat.model_answers("Fine.").keys("<Up>");
        let recalled = chat.model.composer.editor.text();
        assert_eq!(recalled, expected, "the history holds what was sent");
    }
}

#[test]
fn a_long_field_name_does_not_touch_its_value() {
    let mut chat = chat();
    let text = "{{the-name-of-the-city-and-of-its-country}} {{when}}";
    let list = vec![template("trip", text)];
    let templates = PromptTemplates {
        list,
        problem: None,
    };
    chat.engine_event(Event::PromptTemplatesListed(Arc::new(templates)));
    chat.keys("/trip Busan<Enter>");
    let screen = chat.screen();
    assert!(
        screen.contains("the-name-of-the-city-and… Busan"),
        "{screen}"
    );
}

#[test]
fn a_form_asks_for_missing_values_of_a_template() {
    let mut chat = chat_with_templates();
    chat.keys("/translate Korean<Enter>");
    assert_eq!(prompts(&chat), [""; 0]);
    let screen = chat.screen();
    assert!(screen.contains("── /translate "), "{screen}");
    assert!(screen.contains("▌ text"), "{screen}");
    chat.input(UiInput::Paste("one\ntwo".to_owned()));
    chat.keys("<Up><Up><End>!<Down><Enter>");
    assert_eq!(prompts(&chat), ["Translate to Korean!:\none two"]);
}

#[test]
fn a_form_with_an_empty_field_puts_the_text_into_the_message() {
    let mut chat = chat_with_templates();
    chat.keys("/translate<Enter>Korean<Enter>");
    assert!(
        chat.screen()
            .contains("Enter fill in later, in the message")
    );
    chat.keys("<Enter>");
    assert_eq!(prompts(&chat), [""; 0]);
    let message = chat.model.composer.editor.text();
    assert_eq!(message, "Translate to Korean:\n{{text}}");
    assert_eq!(
        chat.notice(),
        "The message is not sent yet. Replace or delete {{text}}."
    );
    chat.keys("<Ctrl+c>/translate<Enter>x<Esc>");
    assert!(chat.model.layer.is_none() && prompts(&chat).is_empty());
    chat.keys("/translate<Enter><Enter><Enter>");
    let notice = chat.notice();
    let names_both = notice.contains("{{text}}") && notice.contains(" and {{");
    assert!(names_both, "{notice}");
    chat.keys("<Enter>");
    assert_eq!(chat.notice(), "", "the message was sent");
}

#[test]
fn a_template_whose_text_begins_with_a_slash_is_not_run_as_a_command() {
    let mut chat = chat();
    chat.engine_event(Event::PromptTemplatesListed(Arc::new(PromptTemplates {
        list: vec![template("quitter", "/quit")],
        problem: None,
    })));
    chat.keys("/quitter<Enter>");
    assert_eq!(prompts(&chat), ["/quit"]);
}

#[test]
fn an_unusable_template_shows_the_reason_and_keeps_the_message() {
    let mut chat = chat_with_templates();
    chat.keys("/broken<Enter>");
    let screen = chat.screen();
    assert!(
        screen.contains("prompts/broken.md cannot be used: its front matter is not closed"),
        "{screen}"
    );
    assert_eq!(chat.model.composer.editor.text(), "/broken");
    let problem = Notice::warning("prompts cannot be read: it is a file, expected a folder.");
    chat.engine_event(Event::PromptTemplatesListed(Arc::new(PromptTemplates {
        list: Vec::new(),
        problem: Some(problem),
    })));
    chat.keys("<Ctrl+c>/greet<Enter>");
    assert!(chat.screen().contains("prompts cannot be read"));
}

#[test]
fn templates_are_completed_and_built_in_commands_take_precedence() {
    let mut chat = chat_with_templates();
    chat.keys("/tr");
    let screen = chat.screen();
    assert!(screen.contains("/translate"), "{screen}");
    assert!(screen.contains("LANGUAGE TEXT"), "{screen}");
    chat.keys("ans<Tab>");
    assert_eq!(chat.model.composer.editor.text(), "/translate ");
    chat.keys("<Ctrl+c>/new");
    assert_eq!(chat.screen().matches("/new").count(), 1, "only the message");
    chat.keys("<Enter>");
    assert!(chat.sent.contains(&UiEffect::Send(Command::NewSession)));
}

#[test]
fn beginning_a_command_reads_the_templates_again() {
    let mut chat = chat();
    let is_list = |effect: &&UiEffect| **effect == UiEffect::Send(Command::ListPromptTemplates);
    chat.keys("a/");
    assert_eq!(chat.sent.iter().filter(is_list).count(), 0);
    chat.keys("<Ctrl+c>/he");
    assert_eq!(chat.sent.iter().filter(is_list).count(), 1);
    chat.keys("<Ctrl+c><Ctrl+p>");
    assert_eq!(chat.sent.iter().filter(is_list).count(), 2);
}

#[test]
fn the_palette_lists_templates_and_puts_recent_commands_first() {
    let mut chat = chat_with_templates();
    chat.keys("<Ctrl+p>transl<Enter>");
    assert!(chat.screen().contains("── /translate "));
    chat.keys("<Esc><Ctrl+p>");
    assert!(chat.screen().contains("▌ About translate"));
    chat.keys("<Esc>/raw<Enter><Ctrl+p>");
    let screen = chat.screen();
    let rows: Vec<&str> = screen.lines().filter(|row| row.contains("  /")).collect();
    assert!(rows[0].contains("/raw"), "{screen}");
    assert!(rows[1].contains("/translate"), "{screen}");
    assert!(rows[2].contains("/models"), "{screen}");
}

#[test]
fn recent_commands_are_saved_and_those_of_earlier_runs_come_after_them() {
    let mut chat = chat();
    let mut earlier = RecentCommands::default();
    earlier.remember("log".into());
    earlier.remember("raw".into());
    chat.engine_event(Event::RecentCommandsLoaded(earlier));
    chat.keys("<Ctrl+p>mouse cap<Enter>");
    let is_saved = |effect: &UiEffect| match effect {
        UiEffect::Send(Command::RememberCommand(name)) => name == "mouse",
        _ => false,
    };
    assert!(chat.sent.iter().any(is_saved));
    chat.keys("<Ctrl+p>");
    let screen = chat.screen();
    let rows: Vec<&str> = screen.lines().filter(|row| row.contains("  /")).collect();
    for (row, command) in ["/mouse", "/raw", "/log", "/models"].iter().enumerate() {
        assert!(rows[row].contains(command), "{command}: {screen}");
    }
}

#[test]
fn quitting_is_not_remembered_as_a_recent_command() {
    for script in ["/exit<Enter>", "/quit<Enter>", "<Ctrl+p>exit<Enter>"] {
        let mut chat = chat();
        chat.keys(script);
        let is_saved =
            |effect: &UiEffect| matches!(effect, UiEffect::Send(Command::RememberCommand(_)));
        assert!(!chat.sent.iter().any(is_saved), "{script}");
    }
}

fn listed(chat: &ChatHarness) -> Vec<String> {
    let list = chat.model.completions();
    let rows = list.map_or_else(Vec::new, |list| list.rows);
    rows.iter()
        .map(|row| row.label.as_str().to_owned())
        .collect()
}

#[test]
fn templates_are_found_by_the_word_template() {
    let mut chat = chat_with_templates();
    chat.keys("/templ");
    let own = ["/broken", "/greet", "/translate", "/번역"];
    assert_eq!(listed(&chat), [&["/prompt"], &own[..]].concat());
    chat.keys("<Ctrl+u>/prompt ");
    assert_eq!(listed(&chat), own.map(|name| name[1..].to_owned()));
    chat.keys("translate Korean Good morning!<Enter>");
    assert_eq!(prompts(&chat), ["Translate to Korean:\nGood morning!"]);
    let mut chat = chat_with_templates();
    let screen = chat.size(120, 40).keys("<F1>template").screen();
    assert!(screen.contains("prompts/NAME.md"), "{screen}");
}

#[test]
fn a_template_that_cannot_be_used_is_reported_once() {
    let mut chat = chat_with_templates();
    let hidden = "prompts/new.md cannot be used: /new is a built-in command. Rename it.";
    let broken = "prompts/broken.md cannot be used: its front matter is not closed by a line `---`. \
                  Correct it.";
    let mut shown = vec![chat.notice()];
    shown.extend((0..3).map(|_| chat.wait(10_000).notice()));
    assert_eq!(shown, [broken, hidden, "", ""]);
    let again = Event::PromptTemplatesListed(Arc::clone(&chat.model.engine.templates));
    chat.engine_event(again).wait(10_000);
    assert_eq!(chat.notice(), "");
    let list = (0..5).map(|number| PromptTemplate {
        name: format!("t{number}"),
        description: String::new(),
        body: Err("line 1 of its file is not UTF-8".to_owned()),
    });
    let templates = PromptTemplates {
        list: list.collect(),
        problem: None,
    };
    chat.engine_event(Event::PromptTemplatesListed(Arc::new(templates)));
    let shown: Vec<String> = (0..5).map(|_| chat.wait(10_000).notice()).collect();
    assert!(
        shown[1].starts_with("prompts/t2.md cannot be used: line 1"),
        "{shown:?}"
    );
    assert_eq!(
        shown[2..],
        [
            "2 more prompt templates cannot be used. Check the files in `prompts`.",
            "",
            ""
        ]
    );
}

#[test]
fn the_report_about_a_name_with_spaces_proposes_another() {
    let mut chat = chat();
    let templates = PromptTemplates {
        list: vec![PromptTemplate {
            name: "code review".into(),
            description: String::new(),
            body: Err("a command name cannot contain spaces".to_owned()),
        }],
        problem: None,
    };
    chat.engine_event(Event::PromptTemplatesListed(Arc::new(templates)));
    let expected = "prompts/code review.md cannot be used: a command name cannot contain spaces. \
                    Rename it, for example to code-review.md.";
    assert_eq!(chat.notice(), expected);
}
