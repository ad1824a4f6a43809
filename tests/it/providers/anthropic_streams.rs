//! Anthropic streams, split at every byte: interleaved blocks, calls without arguments, restarted
//! replies, errors and every end reason.

use crate::providers::decoding::*;
use crate::providers::model_server::*;
use humble::domain::ProviderKind::Anthropic;
use humble::domain::{ReasoningEcho, Usage};
use humble::provider::error::MalformedReply;
use humble::provider::{EndReason, FailureCause};
use serde_json::{Value, json};

fn stream(blocks: &[String], reason: &str) -> String {
    anthropic_stream(blocks, reason)
}

fn decode_all(stream: &str) -> DecodedReply {
    decode_every_way(Anthropic, stream.as_bytes())
}

fn reasoning_echo(value: Value) -> Option<ReasoningEcho> {
    let provider = Anthropic;
    Some(ReasoningEcho { provider, value })
}

#[test]
fn korean_text_and_thinking_survive_every_split() {
    let ping = anthropic_event(&json!({"type": "ping"}));
    let stream = [
        ping.clone(),
        stream(
            &[
                anthropic_thinking(0, &["무엇을", " 물었나"], "c2ln"),
                ping,
                anthropic_text(1, &["안녕하세", "요 👩‍👩‍👧!"]),
            ],
            "end_turn",
        ),
    ]
    .concat();
    let expected = DecodedReply {
        text: "안녕하세요 👩‍👩‍👧!".into(),
        thinking: "무엇을 물었나".into(),
        usage: usage(20, 10),
        end: Some(EndReason::Stop),
        ..DecodedReply::default()
    };
    assert_eq!(decode_all(&stream), expected);
    assert_eq!(decode_all(&stream.replace('\n', "\r\n")), expected);
    assert_cut_off_before(Anthropic, &stream, "{\"type\":\"message_stop\"}");
}

#[test]
fn fragmented_signature_is_sent_back_whole() {
    let delta = |key: &str, kind: &str, text: &str| json!({"type": kind, key: text});
    let block = anthropic_block(
        0,
        &json!({"type": "thinking", "thinking": "", "signature": ""}),
        &[
            delta("thinking", "thinking_delta", "생각"),
            delta("signature", "signature_delta", "c2l"),
            delta("signature", "signature_delta", "nbmVk"),
        ],
    );
    let stream = stream(&[block], "end_turn");
    let expected = json!([{"type": "thinking", "thinking": "생각", "signature": "c2lnbmVk"}]);
    assert_eq!(
        decode_reasoning_echo(Anthropic, &stream),
        reasoning_echo(expected)
    );
}

#[test]
fn stream_without_its_last_event_is_reported_as_cut_off() {
    let complete = stream(&[anthropic_text(0, &["x"])], "end_turn");
    let last_event = complete
        .rfind("event: message_stop")
        .expect("event is present");
    let reply = decode(Anthropic, &[&complete.as_bytes()[..last_event]]);
    assert_eq!(
        (reply.text.as_str(), reply.failed),
        ("x", Some(FailureCause::ReplyCutOff))
    );
    assert_eq!(reply.end, None);
}

#[test]
fn interleaved_blocks_are_distinguished_by_index() {
    let json = |text: &str| json!({"type": "input_json_delta", "partial_json": text});
    let open = |index: u64, id: &str, name: &str| {
        let block = json!({"type": "tool_use", "id": id, "name": name});
        anthropic_event(
            &json!({"type": "content_block_start", "index": index, "content_block": block}),
        )
    };
    let stream = stream(
        &[
            open(0, "a", "f"),
            open(1, "b", "g"),
            anthropic_delta(0, &json("{\"x\"")),
            anthropic_delta(1, &json("{\"y\":")),
            anthropic_delta(0, &json(":1}")),
            anthropic_delta(1, &json("\"둘\"}")),
        ],
        "tool_use",
    );
    let reply = decode_all(&stream);
    let expected = [
        call(Some("a"), "f", json!({"x": 1})),
        call(Some("b"), "g", json!({"y": "둘"})),
    ];
    assert_eq!(reply.calls, expected);
    assert_eq!(reply.end, Some(EndReason::ToolCalls));
}

#[test]
fn call_may_omit_arguments_in_several_ways() {
    let json = |text: &str| json!({"type": "input_json_delta", "partial_json": text});
    let stream = stream(
        &[
            anthropic_block(0, &json!({"type": "tool_use", "id": "a", "name": "f"}), &[]),
            anthropic_block(
                1,
                &json!({"type": "tool_use", "id": "b", "name": "g", "input": {}}),
                &[json(""), json("")],
            ),
            anthropic_block(
                2,
                &json!({"type": "tool_use", "id": "", "name": "h", "input": {"x": 1}}),
                &[],
            ),
            anthropic_block(
                3,
                &json!({"type": "tool_use", "id": "d", "name": "i", "input": {}}),
                &[json("{\"half")],
            ),
        ],
        "max_tokens",
    );
    let reply = decode_all(&stream);
    let expected = [
        call(Some("a"), "f", json!({})),
        call(Some("b"), "g", json!({})),
        call(None, "h", json!({"x": 1})),
        call(Some("d"), "i", json!("{\"half")),
    ];
    assert_eq!(reply.calls, expected);
    assert_eq!(reply.end, Some(EndReason::Length));
}

#[test]
fn second_message_start_discards_the_earlier_parts() {
    let first = [
        anthropic_start(&json!({"input_tokens": 99})),
        anthropic_thinking(0, &["first"], "old"),
        anthropic_text(1, &["half an ans"]),
        anthropic_block(2, &json!({"type": "tool_use", "id": "a", "name": "f"}), &[]),
    ]
    .concat();
    let second = stream(&[anthropic_text(0, &["whole"])], "end_turn");
    let both = first + &second;
    let expected = DecodedReply {
        text: "whole".into(),
        usage: usage(20, 10),
        end: Some(EndReason::Stop),
        ..DecodedReply::default()
    };
    assert_eq!(decode_all(&both), expected);
    assert_eq!(decode_reasoning_echo(Anthropic, &both), None);
}

#[test]
fn unknown_events_are_skipped() {
    let text = json!({"type": "text_delta", "text": "not an answer"});
    let stream = stream(
        &[
            anthropic_block(0, &json!({"type": "server_tool_use", "id": "x"}), &[text]),
            anthropic_event(&json!({"type": "something_new", "index": 1})),
            anthropic_delta(1, &json!({"type": "citations_delta", "citation": {}})),
            anthropic_text(1, &["answer"]),
            "data: [DONE]\n\n".to_owned(),
        ],
        "end_turn",
    );
    assert_eq!(decode_all(&stream).text, "answer");
}

#[test]
fn cached_tokens_count_as_input() {
    let start = json!({
        "input_tokens": 5, "cache_creation_input_tokens": 100, "cache_read_input_tokens": 1000,
        "output_tokens": 1,
    });
    let stream = anthropic_start(&start) + &anthropic_stop("end_turn");
    assert_eq!(decode_all(&stream).usage, usage(1105, 10));
    let with_late_input = stream.replace(
        "\"output_tokens\":10",
        "\"output_tokens\":10,\"input_tokens\":6",
    );
    assert_eq!(decode_all(&with_late_input).usage, usage(1106, 10));
    let without_input = anthropic_start(&json!(null)) + &anthropic_stop("end_turn");
    let expected = Usage {
        input: None,
        output: Some(10),
    };
    assert_eq!(decode_all(&without_input).usage, Some(expected));
}

#[test]
fn each_stop_reason_is_kept() {
    let end_reason = |reason: &str| {
        decode(Anthropic, &[stream(&[], reason).as_bytes()])
            .end
            .unwrap()
    };
    assert_eq!(end_reason("end_turn"), EndReason::Stop);
    assert_eq!(end_reason("refusal"), EndReason::Refused { why: None });
    assert_eq!(end_reason("stop_sequence"), EndReason::StopSequence);
    assert_eq!(end_reason("pause_turn"), EndReason::Paused);
    assert_eq!(
        end_reason("model_context_window_exceeded"),
        EndReason::ContextFull
    );
    assert_eq!(end_reason("tired"), EndReason::Other("tired".into()));
    let why = json!({"stop_reason": "refusal", "stop_details": {"explanation": "No."}});
    let event = anthropic_event(&json!({"type": "message_delta", "delta": why}));
    let stream = event + &anthropic_event(&json!({"type": "message_stop"}));
    let why = Some("No.".into());
    assert_eq!(decode_all(&stream).end, Some(EndReason::Refused { why }));
}

#[test]
fn error_is_detected_at_the_start_and_in_the_middle() {
    let error = |kind: &str| {
        anthropic_event(&json!({"type": "error", "error": {"type": kind, "message": "it broke"}}))
    };
    let message = || "it broke".to_owned();
    let in_stream = FailureCause::ErrorInReply { message: message() };
    assert_eq!(decode_all(&error("api_error")), failed(in_stream.clone()));
    let overloaded = FailureCause::Overloaded { message: message() };
    assert_eq!(decode_all(&error("overloaded_error")), failed(overloaded));
    let start = anthropic_start(&json!({"input_tokens": 17, "output_tokens": 1}));
    let stream = start + &anthropic_text(0, &["so far"]) + &error("api_error");
    let expected = DecodedReply {
        text: "so far".into(),
        usage: usage(17, 1),
        failed: Some(in_stream),
        ..DecodedReply::default()
    };
    assert_eq!(decode_all(&stream), expected);
    let bare = "event: error\ndata: {\"message\": \"it broke\"}\n\n";
    let in_stream = FailureCause::ErrorInReply { message: message() };
    assert_eq!(decode_all(bare), failed(in_stream));
}

#[test]
fn unstreamed_message_is_decoded() {
    let answer = json!({
        "type": "message", "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "음", "signature": "c2ln"},
            {"type": "text", "text": "서울"},
            {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}},
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 3, "output_tokens": 4},
    });
    let expected = DecodedReply {
        text: "서울".into(),
        thinking: "음".into(),
        calls: vec![call(Some("a"), "f", json!({"x": 1}))],
        usage: usage(3, 4),
        end: Some(EndReason::ToolCalls),
        failed: None,
    };
    let text = serde_json::to_string_pretty(&answer).unwrap();
    assert_eq!(decode_all(&text), expected);
    let echo = json!([
        {"type": "thinking", "thinking": "음", "signature": "c2ln"},
        {"type": "text", "text": "서울"},
        {"type": "tool_use", "id": "a"},
    ]);
    assert_eq!(
        decode_reasoning_echo(Anthropic, &text),
        reasoning_echo(echo)
    );
}

#[test]
fn malformed_reply_is_classified() {
    let malformed = |kind| failed(FailureCause::Malformed(kind));
    let page = "\n<!DOCTYPE html>\n<html></html>\n";
    assert_eq!(decode_all(page), malformed(MalformedReply::WebPage));
    let line = "hello".to_owned();
    assert_eq!(
        decode_all("data: hello\n\n"),
        malformed(MalformedReply::NotJson { line })
    );
    let latin = b"data: {\"type\":\"ping\",\"x\":\"caf\xE9\"}\n\n";
    let not_text = malformed(MalformedReply::NotUtf8);
    assert_eq!(decode_every_way(Anthropic, latin), not_text);
    assert_eq!(decode_all("\r\n\r\n"), failed(FailureCause::EmptyReply));
    let call = |index: u64| {
        let id = format!("t{index}");
        anthropic_block(
            index,
            &json!({"type": "tool_use", "id": id, "name": "f"}),
            &[],
        )
    };
    let calls: Vec<_> = (0..300).map(call).collect();
    let reply = decode(Anthropic, &[stream(&calls, "tool_use").as_bytes()]);
    let expected = MalformedReply::TooManyCalls { calls_max: 256 };
    assert_eq!(reply, malformed(expected));
}

#[test]
fn thinking_is_sent_back_in_order_with_its_signature() {
    let redacted = json!({"type": "redacted_thinking", "data": "b3BhcXVl"});
    let stream = stream(
        &[
            anthropic_thinking(0, &["one ", "two"], "c2lnMQ=="),
            anthropic_block(1, &redacted, &[]),
            anthropic_text(2, &["Let me look."]),
            anthropic_call(3, "toolu_1", "f", &json!({"x": 1})),
            anthropic_text(4, &["\n"]),
        ],
        "tool_use",
    );
    let expected = json!([
        {"type": "thinking", "thinking": "one two", "signature": "c2lnMQ=="},
        {"type": "redacted_thinking", "data": "b3BhcXVl"},
        {"type": "text", "text": "Let me look."},
        {"type": "tool_use", "id": "toolu_1"},
    ]);
    assert_eq!(
        decode_reasoning_echo(Anthropic, &stream),
        reasoning_echo(expected)
    );
}

#[test]
fn hidden_thinking_is_sent_back_by_its_signature() {
    let stream = stream(
        &[
            anthropic_thinking(0, &[], "c2ln"),
            anthropic_call(1, "toolu_1", "f", &json!({})),
        ],
        "tool_use",
    );
    let expected = json!([
        {"type": "thinking", "thinking": "", "signature": "c2ln"},
        {"type": "tool_use", "id": "toolu_1"},
    ]);
    assert_eq!(
        decode_reasoning_echo(Anthropic, &stream),
        reasoning_echo(expected)
    );
    assert_eq!(decode_all(&stream).thinking, "");
}

#[test]
fn text_alone_is_not_sent_back() {
    let text_only = stream(&[anthropic_text(0, &["x"])], "end_turn");
    assert_eq!(decode_reasoning_echo(Anthropic, &text_only), None);
}
