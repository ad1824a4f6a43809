//! Hand-written streams, split at every byte: the result never depends on the split, and no
//! stream is complete before its end marker.

use crate::providers::decoding::{
    DecodedReply, assert_incomplete_before, call, decode, decode_every_way, failed_reply, usage,
};
use crate::providers::model_server::{ollama_done, ollama_line, openai_event, openai_usage};
use humble::domain::ProviderKind::{Ollama, OpenAi};
use humble::provider::error::MalformedReply;
use humble::provider::{EndReason, FailureCause};
use humble::text::sse::{SseDecoder, SseEvent};
use serde_json::json;

const DONE: &str = "data: [DONE]\n\n";

fn error_in_reply(message: &str) -> FailureCause {
    FailureCause::ErrorInReply {
        message: message.to_owned(),
    }
}

#[test]
fn korean_text_and_thinking_from_ollama_survive_every_split() {
    let stream = [
        ollama_line(&json!({"role": "assistant", "content": "", "thinking": "무엇을 물었나"})),
        ollama_line(&json!({"role": "assistant", "content": "안녕하세"})),
        ollama_line(&json!({"role": "assistant", "content": "요 👩‍👩‍👧!\n"})),
        ollama_done(31, 7),
    ]
    .concat();
    let expected = DecodedReply {
        text: "안녕하세요 👩‍👩‍👧!\n".into(),
        thinking: "무엇을 물었나".into(),
        usage: usage(31, 7),
        end: Some(EndReason::Stop),
        ..DecodedReply::default()
    };
    assert_eq!(decode_every_way(Ollama, stream.as_bytes()), expected);
    let crlf = stream.replace('\n', "\r\n");
    assert_eq!(decode_every_way(Ollama, crlf.as_bytes()), expected);
    assert_incomplete_before(Ollama, &stream, "\"eval_count\":7}");
}

#[test]
fn korean_text_and_thinking_from_openai_survive_every_split() {
    let stream = [
        ": OPENROUTER PROCESSING\n\n".to_owned(),
        openai_event(&json!({"role": "assistant", "content": null}), None),
        openai_event(&json!({"reasoning_content": "무엇을"}), None),
        openai_event(&json!({"reasoning": " 물었나"}), None),
        openai_event(&json!({"content": "안녕하세"}), None),
        openai_event(&json!({"content": "요!"}), None),
        openai_event(&json!({}), Some("stop")),
        openai_usage(31, 7),
        DONE.to_owned(),
    ]
    .concat();
    let expected = DecodedReply {
        text: "안녕하세요!".into(),
        thinking: "무엇을 물었나".into(),
        usage: usage(31, 7),
        end: Some(EndReason::Stop),
        ..DecodedReply::default()
    };
    assert_eq!(decode_every_way(OpenAi, stream.as_bytes()), expected);
    let crlf = stream.replace('\n', "\r\n");
    assert_eq!(decode_every_way(OpenAi, crlf.as_bytes()), expected);
    let bare_returns = stream.replace('\n', "\r");
    assert_eq!(decode_every_way(OpenAi, bare_returns.as_bytes()), expected);
    let with_bom = format!("\u{feff}{stream}");
    assert_eq!(decode_every_way(OpenAi, with_bom.as_bytes()), expected);
    assert_incomplete_before(OpenAi, &stream, "\"finish_reason\":\"stop\"}");
}

#[test]
fn long_stream_decodes_the_same_in_200_splits() {
    let words: Vec<_> = (0..300).map(|n| format!("{n}번째 낱말 ")).collect();
    let lines: String = words
        .iter()
        .map(|word| ollama_line(&json!({"content": word})))
        .collect();
    let decoded = decode_every_way(Ollama, (lines + &ollama_done(1, 300)).as_bytes());
    assert_eq!(decoded.text, words.concat());
    let events: String = words
        .iter()
        .map(|word| openai_event(&json!({"content": word}), None))
        .collect();
    let end = openai_event(&json!({}), Some("stop"));
    let decoded = decode_every_way(OpenAi, (events + &end).as_bytes());
    assert_eq!(decoded.text, words.concat());
}

#[test]
fn line_with_more_than_text_is_parsed_fully() {
    let decode_line = |rest: &str| {
        let line = format!(r#"{{"message": {{"content": "a"{rest}, "done": false}}"#);
        decode(Ollama, &[line.as_bytes(), b"\n"])
    };
    let plain = decode_line("}");
    assert_eq!(
        (plain.text.as_str(), plain.failed),
        ("a", Some(FailureCause::ReplyCutOff))
    );
    let failed = decode_line(r#"}, "error": "no""#);
    assert_eq!(
        (failed.text.as_str(), failed.failed),
        ("", Some(error_in_reply("no")))
    );
    let flat = decode_line(r#"}, "type": "error", "message": "flat""#);
    assert_eq!(flat.failed, Some(error_in_reply("flat")));
    let call = decode_line(r#", "tool_calls": [{"function": {"name": "f"}}]}"#);
    assert_eq!((call.text.as_str(), call.calls.len()), ("a", 1));
    let escaped = decode(
        Ollama,
        &[
            br#"{"message": {"content": "\u00e9\n", "thinking": "t"}, "done": false}"#,
            b"\n",
        ],
    );
    assert_eq!(
        (escaped.text.as_str(), escaped.thinking.as_str()),
        ("é\n", "t")
    );
}

#[test]
fn the_end_reason_of_a_reply_is_read() {
    let end_reason =
        |reason: &str| decode(OpenAi, &[openai_event(&json!({}), Some(reason)).as_bytes()]).end;
    assert_eq!(end_reason("length"), Some(EndReason::Length));
    assert_eq!(end_reason("content_filter"), Some(EndReason::ContentFilter));
    assert_eq!(end_reason(""), None, "empty reason counts as none");
    let truncated = r#"{"message":{"content":"x"},"done":true,"done_reason":"length"}"#;
    assert_eq!(
        decode(Ollama, &[truncated.as_bytes()]).end,
        Some(EndReason::Length)
    );
}

#[test]
fn counts_after_the_finish_reason_are_not_lost() {
    let end = openai_event(&json!({"content": "x"}), Some("stop"));
    let with_counts = format!("{end}{}", openai_usage(3, 4));
    assert_eq!(
        decode_every_way(OpenAi, with_counts.as_bytes()).usage,
        usage(3, 4)
    );
    let early = format!("{}{end}{}", openai_usage(3, 1), openai_usage(3, 9));
    assert_eq!(
        decode_every_way(OpenAi, early.as_bytes()).usage,
        usage(3, 9)
    );
    let decoded = decode(OpenAi, &[format!("{end}{DONE}").as_bytes()]);
    assert_eq!((decoded.usage, decoded.end), (None, Some(EndReason::Stop)));
}

#[test]
fn done_completes_a_reply_without_a_finish_reason() {
    let text = openai_event(&json!({"content": "안녕"}), None);
    let stream = format!("{text}{}{DONE}", openai_usage(3, 4));
    let expected = DecodedReply {
        text: "안녕".into(),
        usage: usage(3, 4),
        end: Some(EndReason::Stop),
        ..DecodedReply::default()
    };
    assert_eq!(decode_every_way(OpenAi, stream.as_bytes()), expected);
    assert_incomplete_before(OpenAi, &stream, "[DONE]");
    let without_line_break = stream.trim_end();
    assert_eq!(
        decode_every_way(OpenAi, without_line_break.as_bytes()),
        expected
    );
}

#[test]
fn error_in_the_stream_takes_precedence() {
    let object = r#"data: {"error":{"message":"it broke","type":"server_error"},"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}"#;
    let flat = r#"data: {"object":"error","message":"it broke","code":500}"#;
    let text = r#"data: {"error":"it broke"}"#;
    let named = "event: error\ndata: {\"message\":\"it broke\"}";
    for event in [object, flat, text, named] {
        let stream = format!("{event}\n\n{DONE}");
        let decoded = decode_every_way(OpenAi, stream.as_bytes());
        assert_eq!(decoded, failed_reply(error_in_reply("it broke")), "{event}");
    }
    let null_error = openai_event(&json!({}), Some("stop")).replacen('{', "{\"error\":null,", 1);
    for event in [null_error.clone(), null_error.replace("null,", "\"\",")] {
        assert_eq!(
            decode(OpenAi, &[event.as_bytes()]).end,
            Some(EndReason::Stop)
        );
    }
    let lines = ollama_line(&json!({"content": "so far"})) + "{\"error\":\"it broke\"}\n";
    let decoded = decode_every_way(Ollama, (lines + &ollama_done(1, 1)).as_bytes());
    assert_eq!(decoded.text, "so far");
    assert_eq!(decoded.failed, Some(error_in_reply("it broke")));
}

#[test]
fn context_overflow_is_distinguished_from_other_errors() {
    let event = r#"data: {"error":{"code":400,"message":"too long","n_ctx":512,"n_prompt_tokens":2009,"type":"exceed_context_size_error"}}"#;
    let expected = FailureCause::ContextOverflow {
        sent: Some(2009),
        limit: Some(512),
        message: "too long".into(),
    };
    assert_eq!(
        decode_every_way(OpenAi, event.as_bytes()),
        failed_reply(expected)
    );
}

#[test]
fn unstreamed_reply_is_decoded() {
    let answer = json!({
        "object": "chat.completion",
        "choices": [{
            "index": 0,
            "message": {
                "role": "assistant",
                "content": "서울",
                "reasoning_content": "음",
                "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
            },
            "finish_reason": "tool_calls",
        }],
        "usage": {"prompt_tokens": 3, "completion_tokens": 4},
    });
    let expected = DecodedReply {
        text: "서울".into(),
        thinking: "음".into(),
        calls: vec![call(Some("a"), "f", json!({}))],
        usage: usage(3, 4),
        end: Some(EndReason::ToolCalls),
        failed: None,
    };
    let pretty = serde_json::to_string_pretty(&answer).unwrap();
    assert_eq!(decode_every_way(OpenAi, pretty.as_bytes()), expected);
    let without_reason = pretty.replace(
        "\"finish_reason\": \"tool_calls\"",
        "\"finish_reason\": null",
    );
    let decoded = decode_every_way(OpenAi, without_reason.as_bytes());
    assert_eq!(
        (decoded.calls, decoded.end),
        (expected.calls, Some(EndReason::Stop))
    );
    let error = json!([{"error": {"message": "no"}}]).to_string();
    assert_eq!(
        decode_every_way(OpenAi, error.as_bytes()),
        failed_reply(error_in_reply("no"))
    );
    let multi_line = "{\n  \"message\": {\"content\": \"서울\"},\n  \"done\": true\n}\n";
    assert_eq!(decode_every_way(Ollama, multi_line.as_bytes()).text, "서울");
    let error = "{\n  \"error\": \"no\"\n}\n";
    assert_eq!(
        decode_every_way(Ollama, error.as_bytes()),
        failed_reply(error_in_reply("no"))
    );
}

#[test]
fn malformed_ollama_or_openai_reply_is_classified() {
    let malformed = |malformed| failed_reply(FailureCause::Malformed(malformed));
    let page = b"\n<!DOCTYPE html>\n<html><body>Sign in</body></html>\n";
    assert_eq!(
        decode_every_way(Ollama, page),
        malformed(MalformedReply::WebPage)
    );
    assert_eq!(
        decode_every_way(OpenAi, page),
        malformed(MalformedReply::WebPage)
    );
    let not_json = |line: &str| malformed(MalformedReply::NotJson { line: line.into() });
    assert_eq!(decode_every_way(Ollama, b"hello\n"), not_json("hello"));
    assert_eq!(decode_every_way(Ollama, b"hello"), not_json("hello"));
    assert_eq!(
        decode_every_way(OpenAi, b"data: hello\n\n"),
        not_json("hello")
    );
    assert_eq!(decode_every_way(OpenAi, b"data: hello"), not_json("hello"));
    let latin = b"{\"message\":{\"content\":\"caf\xE9\"}}\n";
    assert_eq!(
        decode_every_way(Ollama, latin),
        malformed(MalformedReply::NotUtf8)
    );
    let latin = [b"data: ", &latin[..], b"\n"].concat();
    assert_eq!(
        decode_every_way(OpenAi, &latin),
        malformed(MalformedReply::NotUtf8)
    );
    for nothing in [&b""[..], b"\r\n\r\n", b"\xEF\xBB\xBF"] {
        assert_eq!(
            decode_every_way(Ollama, nothing),
            failed_reply(FailureCause::EmptyReply)
        );
        assert_eq!(
            decode_every_way(OpenAi, nothing),
            failed_reply(FailureCause::EmptyReply)
        );
    }
}

#[test]
fn endless_line_endless_reply_and_too_many_calls_are_stopped() {
    let chunk = vec![b'a'; 1 << 20];
    let endless = |start: &'static [u8]| {
        let mut chunks = vec![start];
        chunks.extend(std::iter::repeat_n(chunk.as_slice(), 17));
        chunks
    };
    let too_long = |megabytes: usize| {
        failed_reply(FailureCause::Malformed(MalformedReply::TooLong {
            bytes_max: megabytes << 20,
        }))
    };
    assert_eq!(decode(Ollama, &endless(b"{\"message\":\"")), too_long(16));
    assert_eq!(decode(OpenAi, &endless(b"data: ")), too_long(16));
    assert_eq!(decode(OpenAi, &endless(b"{\"choices\":\"")), too_long(16));
    let entries: Vec<_> = (0..300)
        .map(|index| json!({"index": index, "function": {"name": "f"}}))
        .collect();
    let many = openai_event(&json!({"tool_calls": entries}), Some("tool_calls"));
    let decoded = decode(OpenAi, &[many.as_bytes()]);
    let expected = FailureCause::Malformed(MalformedReply::TooManyCalls { calls_max: 256 });
    assert_eq!(decoded, failed_reply(expected));
}

#[test]
fn events_follow_the_standard_but_need_no_blank_line_at_the_end() {
    let stream = "\u{feff}data: one\r\ndata:two\r\n\r\n: comment\nid: 7\nevent: error\ndata\n\nevent: lost\n\ndata:  spaced\n\ndata: last";
    let event = |name: &str, data: &str| SseEvent {
        name: name.into(),
        data: data.into(),
    };
    let expected = [
        event("", "one\ntwo"),
        event("error", ""),
        event("", " spaced"),
        event("", "last"),
    ];
    for offset in 0..=stream.len() {
        let (head, tail) = stream.as_bytes().split_at(offset);
        let mut events = SseDecoder::new(16 << 20);
        let mut decoded = events.push(head);
        decoded.extend(events.push(tail));
        let mut decoded: Vec<_> = decoded.into_iter().map(|event| event.unwrap()).collect();
        decoded.extend(events.finish());
        assert_eq!(decoded, expected, "cut at byte {offset}");
    }
}

#[test]
fn unknown_fields_and_other_choices_are_ignored() {
    let stream = r#"data: {"choices":[{"index":1,"delta":{"content":"no"},"finish_reason":"stop"},{"delta":{"content":[{"type":"text","text":"yes"}],"refusal":null,"x":{}}}],"timings":{}}"#;
    let stream = format!(
        "{stream}\n\nretry: 10\n\n{}",
        openai_event(&json!(null), Some("stop"))
    );
    let decoded = decode_every_way(OpenAi, stream.as_bytes());
    assert_eq!(
        (decoded.text.as_str(), decoded.end),
        ("yes", Some(EndReason::Stop))
    );
}
