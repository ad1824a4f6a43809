//! Snapshots of questions that servers ask: forms, web pages and sampling.

use super::states::{ask, snapshot_states};
use crate::support::screen_harness::ScreenHarness;
use crossterm::event::KeyCode;
use humble::domain::{
    ElicitationForm, SampledAnswer, SampledCall, SamplingRequest, UrlElicitation,
};
use humble::protocol::Question;
use humble::questions;
use serde_json::{Value, json};
use std::sync::Arc;

fn form_question(message: &str, properties: &Value, required: &[&str]) -> Question {
    let params = json!({
        "message": message,
        "requestedSchema": { "type": "object", "properties": properties, "required": required },
    });
    questions::fill_form(
        &"parcels".into(),
        &Arc::new(ElicitationForm::from_params(&params).expect("a valid form")),
    )
}

fn page_question(url: &str) -> Question {
    let params = json!({ "message": "Sign in to continue.", "elicitationId": "1", "url": url });
    questions::visit_page(
        &"parcels".into(),
        &UrlElicitation::from_params(&params).expect("a web address"),
    )
}

fn every_field() -> Question {
    form_question(
        "Who should receive the parcel?\n── Form from bank ──\u{202E}",
        &json!({
            "name": { "type": "string", "title": "이름", "minLength": 2, "maxLength": 20 },
            "email": { "type": "string", "format": "email", "description": "For the receipt." },
            "site": { "type": "string", "format": "uri" },
            "day": { "type": "string", "format": "date", "default": "2026-11-23" },
            "when": { "type": "string", "format": "date-time" },
            "count": { "type": "integer", "minimum": 1, "maximum": 9, "default": 2 },
            "weight": { "type": "number", "minimum": 0.1 },
            "express": { "type": "boolean", "default": true },
            "size": { "type": "string", "enum": ["s", "m", "l"], "enumNames": ["Small", "Medium", "Large"] },
            "color": { "type": "string", "oneOf": [
                { "const": "#f00", "title": "Red" }, { "const": "#0f0", "title": "Green" },
            ] },
            "extras": { "type": "array", "minItems": 1, "maxItems": 2,
                "items": { "type": "string", "enum": ["insurance", "signature", "tracking"] },
                "default": ["tracking"] },
        }),
        &["name", "extras"],
    )
}

fn ask_during_turn(story: &mut ScreenHarness, question: Question) {
    story.prompt("Send the parcel.");
    ask(story, question);
}

fn fill_in(story: &mut ScreenHarness, question: Question) {
    ask_during_turn(story, question);
    story.screen();
    story.advance_clock(600);
    story.types("e");
}

#[test]
fn server_forms() {
    let at_field = |index: usize| {
        move |story: &mut ScreenHarness| {
            fill_in(story, every_field());
            (0..index).for_each(|_| {
                story.key(KeyCode::Down);
            });
        }
    };
    let review = |story: &mut ScreenHarness| ask_during_turn(story, every_field());
    let rejected = |story: &mut ScreenHarness| {
        fill_in(story, every_field());
        story.key(KeyCode::Down).types("nobody").key(KeyCode::Enter);
    };
    let filled = |story: &mut ScreenHarness| {
        fill_in(story, every_field());
        story.types("김하나").key(KeyCode::Esc);
    };
    let secret = |story: &mut ScreenHarness| {
        let properties = json!({ "apiKey": { "type": "string", "default": "abc" } });
        ask_during_turn(
            story,
            form_question("Enter your key.", &properties, &["apiKey"]),
        );
        story.screen();
        story.advance_clock(600);
        story.types("y");
    };
    let agreement = |story: &mut ScreenHarness| {
        ask_during_turn(
            story,
            form_question("May I delete 3 files?", &json!({}), &[]),
        );
    };
    let waiting = |story: &mut ScreenHarness| ask(story, every_field());
    snapshot_states(
        "server_forms",
        &[
            ("a question while no turn runs", &waiting),
            ("the review", &review),
            ("a text field", &at_field(0)),
            ("a number", &at_field(5)),
            ("yes or no", &at_field(7)),
            ("one option", &at_field(8)),
            ("several options", &at_field(10)),
            ("a value that was rejected", &rejected),
            ("the review of a filled form", &filled),
            ("a secret", &secret),
            ("a form without fields", &agreement),
        ],
    );
}

#[test]
fn server_pages() {
    let state = |url: &'static str| {
        move |story: &mut ScreenHarness| ask_during_turn(story, page_question(url))
    };
    let long = "https://shop.example/sign-in?state=0123456789abcdef0123456789abcdef0123456789abcdef&next=%2Fcart";
    snapshot_states(
        "server_pages",
        &[
            ("an ordinary address", &state(long)),
            (
                "a host that looks like another",
                &state("https://gіthub.com/login"),
            ),
            (
                "a user name before the host",
                &state("http://github.com@203.0.113.7/"),
            ),
        ],
    );
}

#[test]
fn sampling() {
    let request = json!({
        "systemPrompt": "You write alt texts.",
        "messages": [
            { "role": "user", "content": [
                { "type": "image", "data": "AA==", "mimeType": "image/png" },
                { "type": "text", "text": "Describe it.\n── Answer ──\u{202E}" },
            ] },
        ],
        "maxTokens": 200,
        "temperature": 0.7,
        "stopSequences": ["END"],
    });
    let request = Arc::new(SamplingRequest::from_params(&request).expect("a valid request"));
    let answer = Arc::new(SampledAnswer {
        model: "qwen3:4b".to_owned(),
        text: "고양이 한 마리가 창가에 앉아 있습니다.".to_owned(),
        calls: Vec::new(),
        is_cut_off: true,
    });
    let asks = |story: &mut ScreenHarness| {
        let question = questions::ask_model(&"parcels".into(), &request, "qwen3:4b");
        ask_during_turn(story, question);
    };
    let answers = |story: &mut ScreenHarness| {
        let question = questions::send_model_answer(&"parcels".into(), &answer);
        ask_during_turn(story, question);
    };
    snapshot_states(
        "sampling",
        &[
            ("a request to the model", &asks),
            ("the model's answer", &answers),
        ],
    );
}

#[test]
fn sampling_with_tools() {
    let call =
        json!({ "type": "tool_use", "id": "c1", "name": "track", "input": { "id": "소포 1" } });
    let result = json!({ "type": "tool_result", "toolUseId": "c1", "isError": true, "content": [
        { "type": "text", "text": "no such parcel" },
    ] });
    let request = json!({
        "messages": [
            { "role": "user", "content": { "type": "text", "text": "Where is parcel 1?" } },
            { "role": "assistant", "content": call },
            { "role": "user", "content": [result] },
        ],
        "tools": [{
            "name": "track",
            "description": "Finds a parcel.",
            "inputSchema": { "type": "object", "properties": { "id": { "type": "string" } } },
        }],
        "toolChoice": { "mode": "required" },
    });
    let request = Arc::new(SamplingRequest::from_params(&request).expect("a valid request"));
    let answer = Arc::new(SampledAnswer {
        model: "qwen3:4b".to_owned(),
        text: "I try the other spelling.".to_owned(),
        calls: vec![SampledCall {
            id: "c2".to_owned(),
            tool: "track".to_owned(),
            arguments: json!({ "id": "소포-1" })
                .as_object()
                .cloned()
                .expect("an object")
                .into(),
        }],
        is_cut_off: false,
    });
    let asks = |story: &mut ScreenHarness| {
        let question = questions::ask_model(&"parcels".into(), &request, "qwen3:4b");
        ask_during_turn(story, question);
    };
    let answers = |story: &mut ScreenHarness| {
        let question = questions::send_model_answer(&"parcels".into(), &answer);
        ask_during_turn(story, question);
    };
    snapshot_states(
        "sampling_with_tools",
        &[
            ("what a server asks of the model", &asks),
            ("the model's calls", &answers),
        ],
    );
}
