//! Anthropic streams, split at every byte: interleaved blocks, calls without arguments, restarted
//! replies, errors and every end reason.

use crate::providers::decoding::*;
use crate::providers::model_server::*;
use humble::domain::ProviderKind::Anthropic;
use humble::domain::{ReasoningEcho, Usage};
use humble::provider::error::MalformedReply;
use humble::provider::{EndReason, FailureCause};
use serde_json::{Value, json};

fn decode_anthropic(stream: &str) -> DecodedReply {
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
        anthropic_stream(
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
    assert_eq!(decode_anthropic(&stream), expected);
    assert_eq!(decode_anthropic(&stream.replace('\n', "\r\n")), expected);
    assert_incomplete_before(Anthropic, &stream, "\"usage\":{\"output_tokens\":10}}");
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
    let stream = anthropic_stream(&[block], "end_turn");
    let expected = json!([{"type": "thinking", "thinking": "생각", "signature": "c2lnbmVk"}]);
    assert_eq!(
        decode_reasoning_echo(Anthropic, &stream),
        reasoning_echo(expected)
    );
}

#[test]
fn stop_reason_completes_a_reply_without_its_last_event() {
    let blocks = [
        anthropic_text(0, &["x"]),
        anthropic_call(1, "a", "f", &json!({"y": 1})),
    ];
    let whole = anthropic_stream(&blocks, "tool_use");
    let (without_end, _) = whole.split_once("event: message_stop").unwrap();
    for end in ["", "event: mess", "data: [DONE]\n\n", "data: oops"] {
        let decoded = decode_anthropic(&format!("{without_end}{end}"));
        assert_eq!(decoded, decode_anthropic(&whole), "{end}");
    }
}

#[test]
fn interleaved_blocks_are_distinguished_by_index() {
    let input_delta = |text: &str| json!({"type": "input_json_delta", "partial_json": text});
    let block_start = |index: u64, id: &str, name: &str| {
        let block = json!({"type": "tool_use", "id": id, "name": name});
        anthropic_event(
            &json!({"type": "content_block_start", "index": index, "content_block": block}),
        )
    };
    let stream = anthropic_stream(
        &[
            block_start(0, "a", "f"),
            block_start(1, "b", "g"),
            anthropic_delta(0, &input_delta("{\"x\"")),
            anthropic_delta(1, &input_delta("{\"y\":")),
            anthropic_delta(0, &input_delta(":1}")),
            anthropic_delta(1, &input_delta("\"둘\"}")),
        ],
        "tool_use",
    );
    let decoded = decode_anthropic(&stream);
    let expected = [
        call(Some("a"), "f", json!({"x": 1})),
        call(Some("b"), "g", json!({"y": "둘"})),
    ];
    assert_eq!(decoded.calls, expected);
    assert_eq!(decoded.end, Some(EndReason::ToolCalls));
}

#[test]
fn call_may_omit_arguments_in_several_ways() {
    let input_delta = |text: &str| json!({"type": "input_json_delta", "partial_json": text});
    let stream = anthropic_stream(
        &[
            anthropic_block(0, &json!({"type": "tool_use", "id": "a", "name": "f"}), &[]),
            anthropic_block(
                1,
                &json!({"type": "tool_use", "id": "b", "name": "g", "input": {}}),
                &[input_delta(""), input_delta("")],
            ),
            anthropic_block(
                2,
                &json!({"type": "tool_use", "id": "", "name": "h", "input": {"x": 1}}),
                &[],
            ),
            anthropic_block(
                3,
                &json!({"type": "tool_use", "id": "d", "name": "i", "input": {}}),
                &[input_delta("{\"half")],
            ),
        ],
        "max_tokens",
    );
    let decoded = decode_anthropic(&stream);
    let expected = [
        call(Some("a"), "f", json!({})),
        call(Some("b"), "g", json!({})),
        call(None, "h", json!({"x": 1})),
        call(Some("d"), "i", json!("{\"half")),
    ];
    assert_eq!(decoded.calls, expected);
    assert_eq!(decoded.end, Some(EndReason::Length));
}

#[test]
fn second_message_start_discards_everything_before() {
    let abandoned = [
        anthropic_start(&json!({"input_tokens": 99})),
        anthropic_thinking(0, &["first"], "old"),
        anthropic_text(1, &["half an ans"]),
        anthropic_block(2, &json!({"type": "tool_use", "id": "a", "name": "f"}), &[]),
    ]
    .concat();
    let second = anthropic_stream(&[anthropic_text(0, &["whole"])], "end_turn");
    let both = abandoned + &second;
    let expected = DecodedReply {
        text: "whole".into(),
        usage: usage(20, 10),
        end: Some(EndReason::Stop),
        ..DecodedReply::default()
    };
    assert_eq!(decode_anthropic(&both), expected);
    assert_eq!(decode_reasoning_echo(Anthropic, &both), None);
}

#[test]
fn unknown_events_are_skipped() {
    let text = json!({"type": "text_delta", "text": "not an answer"});
    let stream = anthropic_stream(
        &[
            anthropic_block(0, &json!({"type": "server_tool_use", "id": "x"}), &[text]),
            anthropic_event(&json!({"type": "something_new", "index": 1})),
            anthropic_delta(1, &json!({"type": "citations_delta", "citation": {}})),
            anthropic_text(1, &["answer"]),
            "data: [DONE]\n\n".to_owned(),
        ],
        "end_turn",
    );
    assert_eq!(decode_anthropic(&stream).text, "answer");
}

#[test]
fn cached_tokens_count_as_input() {
    let start = json!({
        "input_tokens": 5, "cache_creation_input_tokens": 100, "cache_read_input_tokens": 1000,
        "output_tokens": 1,
    });
    let stream = anthropic_start(&start) + &anthropic_stop("end_turn");
    let counts = |stream: &str| {
        let usage = decode_anthropic(stream).usage.expect("token counts");
        (usage.input, usage.output)
    };
    assert_eq!(counts(&stream), (Some(1105), Some(10)));
    let late = stream.replace(
        "\"output_tokens\":10",
        "\"output_tokens\":10,\"input_tokens\":6",
    );
    assert_eq!(counts(&late), (Some(1106), Some(10)));
    let without_input = anthropic_start(&json!(null)) + &anthropic_stop("end_turn");
    let expected = Usage {
        input: None,
        output: Some(10),
        ..Usage::default()
    };
    assert_eq!(decode_anthropic(&without_input).usage, Some(expected));
}

#[test]
fn each_stop_reason_is_kept() {
    let end_reason = |reason: &str| {
        decode(Anthropic, &[anthropic_stream(&[], reason).as_bytes()])
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
    assert_eq!(
        decode_anthropic(&stream).end,
        Some(EndReason::Refused { why })
    );
}

#[test]
fn error_is_detected_at_the_start_and_in_the_middle() {
    let error = |kind: &str| {
        anthropic_event(&json!({"type": "error", "error": {"type": kind, "message": "it broke"}}))
    };
    let message = || "it broke".to_owned();
    let in_reply = FailureCause::ErrorInReply { message: message() };
    assert_eq!(
        decode_anthropic(&error("api_error")),
        failed_reply(in_reply.clone())
    );
    let busy = FailureCause::Overloaded { message: message() };
    assert_eq!(
        decode_anthropic(&error("overloaded_error")),
        failed_reply(busy)
    );
    let start = anthropic_start(&json!({"input_tokens": 17, "output_tokens": 1}));
    let middle = start + &anthropic_text(0, &["so far"]) + &error("api_error");
    let expected = DecodedReply {
        text: "so far".into(),
        usage: usage(17, 1),
        failed: Some(in_reply),
        ..DecodedReply::default()
    };
    assert_eq!(decode_anthropic(&middle), expected);
    let bare = "event: error\ndata: {\"message\": \"it broke\"}\n\n";
    let in_reply = FailureCause::ErrorInReply { message: message() };
    assert_eq!(decode_anthropic(bare), failed_reply(in_reply));
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
    let pretty = serde_json::to_string_pretty(&answer).unwrap();
    assert_eq!(decode_anthropic(&pretty), expected);
    let sent_back = json!([
        {"type": "thinking", "thinking": "음", "signature": "c2ln"},
        {"type": "text", "text": "서울"},
        {"type": "tool_use", "id": "a"},
    ]);
    assert_eq!(
        decode_reasoning_echo(Anthropic, &pretty),
        reasoning_echo(sent_back)
    );
}

#[test]
fn malformed_anthropic_reply_is_classified() {
    let malformed = |malformed| failed_reply(FailureCause::Malformed(malformed));
    let page = "\n<!DOCTYPE html>\n<html></html>\n";
    assert_eq!(decode_anthropic(page), malformed(MalformedReply::WebPage));
    let line = "hello".to_owned();
    assert_eq!(
        decode_anthropic("data: hello\n\n"),
        malformed(MalformedReply::NotJson { line })
    );
    let latin = b"data: {\"type\":\"ping\",\"x\":\"caf\xE9\"}\n\n";
    let not_text = malformed(MalformedReply::NotUtf8);
    assert_eq!(decode_every_way(Anthropic, latin), not_text);
    assert_eq!(
        decode_anthropic("\r\n\r\n"),
        failed_reply(FailureCause::EmptyReply)
    );
    let call = |index: u64| {
        let id = format!("t{index}");
        anthropic_block(
            index,
            &json!({"type": "tool_use", "id": id, "name": "f"}),
            &[],
        )
    };
    let blocks: Vec<_> = (0..300).map(call).collect();
    let reply = decode(
        Anthropic,
        &[anthropic_stream(&blocks, "tool_use").as_bytes()],
    );
    let expected = MalformedReply::TooManyCalls { calls_max: 256 };
    assert_eq!(reply, malformed(expected));
}

#[test]
fn too_many_content_blocks_are_not_reported_as_calls() {
    let started: String = (0..5000)
        .map(|index| anthropic_block(index, &json!({"type": "text", "text": ""}), &[]))
        .collect();
    let delta = |index: u64| {
        let delta = json!({"type": "text_delta", "text": "x"});
        let event = json!({"type": "content_block_delta", "index": index, "delta": delta});
        format!("data: {event}\n\n")
    };
    let deltas: String = (0..5000).map(delta).collect();
    let expected = MalformedReply::TooManyBlocks { blocks_max: 4096 };
    let expected = FailureCause::Malformed(expected);
    for stream in [started, deltas] {
        let reply = decode(Anthropic, &[stream.as_bytes()]);
        assert_eq!(reply.failed.as_ref(), Some(&expected));
    }
}

#[test]
fn thinking_is_sent_back_in_order_with_its_signature() {
    let redacted = json!({"type": "redacted_thinking", "data": "b3BhcXVl"});
    let stream = anthropic_stream(
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
    let stream = anthropic_stream(
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
    assert_eq!(decode_anthropic(&stream).thinking, "");
}

#[test]
fn reply_with_only_text_leaves_no_reasoning_to_send_back() {
    let plain = anthropic_stream(&[anthropic_text(0, &["x"])], "end_turn");
    assert_eq!(decode_reasoning_echo(Anthropic, &plain), None);
}
