//! The keys of all questions against the documentation, and the rows of some.

use super::*;
use crate::domain::{ElicitationForm, UrlElicitation};
use crate::fixtures::{documented, question_rows, question_text};
use crate::text::grapheme::width;
use serde_json::json;
use std::sync::Arc;

#[test]
fn docs_list_the_keys_of_each_question_that_has_a_section() {
    let page = include_str!("../../docs/keys.md");
    for (heading, rows) in [
        ("### A call that cannot be run", turn::UNUSABLE_CALL),
        ("### A tool that several servers have", turn::FOUR_SERVERS),
        ("### After a failed call", turn::AFTER_ERROR),
        ("### A silent server", turn::STALLED),
        ("### Too many rounds of tools", turn::ROUND_LIMIT),
        ("### A context that has to grow", turn::GROW_CONTEXT),
        ("### Removing a model", models::REMOVE_MODEL),
        ("### The result of a probe", models::SAVE_DIALECT),
        ("### Edited settings files", settings::EXTERNAL_EDIT),
        ("### An old system prompt", settings::REPLACE_PROMPT),
        ("### A notes folder", settings::NOTES_FOLDER),
        ("### A notes folder", settings::NEW_NOTES_FOLDER),
        ("### An unfinished turn", unfinished::UNFINISHED_TURN),
        ("### An unfinished turn", unfinished::UNFINISHED_TASK),
        ("### A tool that changed", trust::PIN_CHANGED),
        ("### Server instructions", trust::INSTRUCTIONS),
        ("### A form from a server", server_requests::FILL_FORM),
        ("### A form without fields", server_requests::AGREE),
        ("### A web page from a server", server_requests::VISIT_PAGE),
        (
            "### A web page that a call requires",
            server_requests::PAGE_VISITED,
        ),
        (
            "### A server that asks the model",
            server_requests::ASK_MODEL,
        ),
        (
            "### The answer for a server",
            server_requests::SEND_MODEL_ANSWER,
        ),
    ] {
        let keys = rows.iter().flat_map(|row| [row.key, row.alias]);
        let keys = keys.filter(|key| *key != ' ').map(String::from);
        let documented = documented(page, heading).concat();
        assert_eq!(keys.collect::<Vec<_>>(), documented, "{heading}");
    }
}

#[test]
fn a_long_host_is_shown_to_its_end() {
    let host = format!(
        "sso.session-{}.accounts.google.com.evil.example",
        "0".repeat(37)
    );
    let params = json!({ "message": "", "url": format!("https://{host}/login") });
    let page = UrlElicitation::from_params(&params).expect("a web address");
    for columns in [30, 60, 76, 118] {
        for (question, indent) in [
            (visit_page(&"shop".into(), &page), "Address  ".len()),
            (page_visited(&"shop".into(), &page.host), "Host  ".len()),
        ] {
            let rows = question_rows(&question, columns);
            assert!(
                rows.iter()
                    .all(|row| width(row.trim_end()) <= columns.into()),
                "{rows:#?}"
            );
            let shown = rows.iter().skip_while(|row| !row.starts_with("Host"));
            let shown = shown.take_while(|row| !row.starts_with("Address"));
            let shown: String = shown
                .map(|row| row.get(indent..).unwrap_or_default())
                .collect();
            assert_eq!(shown, host);
        }
    }
}

#[test]
fn a_form_names_fields_that_look_like_secrets() {
    let params = json!({ "message": "Your account", "requestedSchema": { "properties": {
        "p\u{430}ssword": { "type": "string" },
        "password": { "type": "string" },
    } } });
    let form = ElicitationForm::from_params(&params).expect("a valid form");
    let text = question_text(&fill_form(&"shop".into(), &Arc::new(form)));
    let warning = "Warning: `p⟨U+0430⟩ssword`, `password` look like secrets.";
    assert!(text.contains(warning), "{text}");
}

#[test]
fn an_unfinished_turn_lists_calls_before_the_partial_answer() {
    let call = |tool: &str, stage| UnfinishedCall {
        server: "fs".to_owned(),
        tool: tool.to_owned(),
        arguments: json!({}),
        stage,
    };
    let turn = UnfinishedTurn {
        title: Some("My disk".to_owned()),
        prompt: "Tidy up".to_owned(),
        partial_answer: "Half".to_owned(),
        calls: vec![
            call("list", CallStage::Ended("timed_out".to_owned())),
            call("delete\nlist", CallStage::Running),
            call("move", CallStage::AwaitingApproval),
        ],
        ..UnfinishedTurn::default()
    };
    let expected = [
        "humble ended while a tool call of this turn was running. Restoring puts the prompt into the message. Nothing runs until you send it; the answer then starts over.",
        "",
        "Its conversation is \"My disk\".",
        "",
        "You asked:",
        "  Tidy up",
        "",
        "Tool call list on fs: timed out",
        "  {}",
        "",
        "Tool call delete⟨LF⟩list on fs: was running",
        "  {}",
        "",
        "Tool call move on fs: awaited your approval, did not run",
        "  {}",
        "",
        "The answer so far:",
        "  Half",
    ];
    assert_eq!(question_text(&unfinished(&turn)), expected.join("\n"));
}

#[test]
fn the_summary_of_a_question_is_a_sentence() {
    let form = json!({ "message": "", "requestedSchema": { "properties": {} } });
    let form = ElicitationForm::from_params(&form).expect("a valid form");
    let page = json!({ "message": "", "url": "https://shop.example/login" });
    let page = UrlElicitation::from_params(&page).expect("a web address");
    let server = "shop".into();
    for (question, expected) in [
        (
            fill_form(&server, &Arc::new(form)),
            "shop asks for your agreement.",
        ),
        (
            visit_page(&server, &page),
            "shop asks you to open a page on shop.example.",
        ),
        (
            choose_server("add", &[server.clone(), "bank".into()], "{}"),
            "Several servers have add: shop, bank.",
        ),
        (after_error(None, &["add".to_owned()]), "A call failed."),
        (
            unusable_call("", "no tool is called `fly`. Call one of: a, b"),
            "The model wrote an invalid tool call: no tool is called `fly`.",
        ),
    ] {
        assert_eq!(question.summary(), expected);
    }
}
