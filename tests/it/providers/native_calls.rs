//! Native tool calls: whole, in fragments, and with fields that servers omit or repeat.

use crate::providers::decoding::{call, decode_every_way, failed_reply, raw_arguments, usage};
use crate::providers::model_server::openai_event;
use humble::domain::ProviderKind::{Anthropic, Ollama, OpenAi};
use humble::provider::{EndReason, FailureCause, NativeCall};
use serde_json::{Value, json};

const DONE: &str = "data: [DONE]\n\n";

/// The calls of a `/chat/completions` stream with these entries in its deltas.
fn calls_of(entries: &[Value]) -> Vec<NativeCall> {
    let events: String = entries
        .iter()
        .map(|entry| openai_event(&json!({"content": null, "tool_calls": [entry]}), None))
        .collect();
    let stream = format!(
        "{events}{}{DONE}",
        openai_event(&json!({}), Some("tool_calls"))
    );
    let decoded = decode_every_way(OpenAi, stream.as_bytes());
    assert_eq!(decoded.end, Some(EndReason::ToolCalls));
    decoded.calls
}

#[test]
fn ollama_call_on_the_last_line_is_not_lost() {
    let stream = r#"{"message":{"role":"assistant","content":"","tool_calls":[{"id":"call_9","function":{"index":0,"name":"f","arguments":{"b":1,"a":2}}},{"function":{"name":"g","arguments":"{\"x\":3}"}},{"function":{"name":"h"}},{"function":{"name":"i","arguments":"x ="}}]},"done":true,"done_reason":"stop","prompt_eval_count":5}"#;
    let decoded = decode_every_way(Ollama, stream.as_bytes());
    let expected = [
        call(Some("call_9"), "f", json!({"b": 1, "a": 2})),
        call(None, "g", json!({"x": 3})),
        call(None, "h", json!({})),
        call(None, "i", json!("x =")),
    ];
    assert_eq!(decoded.calls, expected);
    assert_eq!(decoded.end, Some(EndReason::Stop));
    assert_eq!(decoded.usage, usage(5, 0), "a count of 0 is omitted");
}

#[test]
fn call_fragments_with_an_index_are_joined_by_index() {
    let calls = calls_of(&[
        json!({"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": ""}}),
        json!({"index": 0, "id": "", "function": {"name": "", "arguments": "{\"city\":"}}),
        json!({"index": 1, "id": "b", "type": "function", "function": {"name": "g", "arguments": ""}}),
        json!({"index": 0, "function": {"arguments": "\"서울\"}"}}),
        json!({"index": 1, "function": {"name": "g", "arguments": "{\"x\":1}"}}),
        json!({"index": 1, "function": {"name": "g", "arguments": ""}}),
    ]);
    let expected = [
        call(Some("a"), "f", json!({"city": "서울"})),
        call(Some("b"), "g", json!({"x": 1})),
    ];
    assert_eq!(calls, expected);
}

#[test]
fn fragments_without_an_index_belong_to_the_last_call() {
    let calls = calls_of(&[
        json!({"id": "a", "function": {"name": "f", "arguments": "{\"x\""}}),
        json!({"function": {"arguments": ":1}"}}),
        json!({"id": "b", "function": {"name": "f", "arguments": "{\"x\":2}"}}),
        json!({"function": {"name": "g", "arguments": "{"}}),
        json!({"function": {"name": "g", "arguments": "}"}}),
        json!({"function": {"name": "g", "arguments": {"y": 3}}}),
    ]);
    let expected = [
        call(Some("a"), "f", json!({"x": 1})),
        call(Some("b"), "f", json!({"x": 2})),
        call(None, "g", json!({})),
        call(None, "g", json!({"y": 3})),
    ];
    assert_eq!(calls, expected);
}

#[test]
fn calls_that_all_have_index_zero_are_distinguished_by_id() {
    let calls = calls_of(&[
        json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "{\"x\":1}"}}),
        json!({"index": 0, "id": "b", "function": {"name": "f", "arguments": "{\"x\":2}"}}),
        json!({"index": 0, "function": {"name": "f", "arguments": ""}}),
    ]);
    let expected = [
        call(Some("a"), "f", json!({"x": 1})),
        call(Some("b"), "f", json!({"x": 2})),
    ];
    assert_eq!(calls, expected);
}

/// Some servers count fragments instead of calls, or leave out the index of some fragments.
#[test]
fn fragments_reach_their_call_in_every_combination_of_indices() {
    let with_index = |mut entry: Value, index: Option<u64>| {
        if let Some(index) = index {
            entry["index"] = json!(index);
        }
        entry
    };
    for head_index in [None, Some(0), Some(1)] {
        for rest_index in [None, Some(0), Some(1), Some(2)] {
            for repeats_id in [true, false] {
                for counts_on in [true, false] {
                    let entries = ["a", "b"].iter().zip(0..).flat_map(|(id, number)| {
                        let later = |index: Option<u64>| {
                            index.map(|index| index + if counts_on { 2 * number } else { 0 })
                        };
                        let head = json!({"id": id, "function": {"name": "f", "arguments": ""}});
                        let rest = ["{\"call\":", &format!("\"{id}\"}}")].map(|text| {
                            let mut rest = json!({"function": {"arguments": text}});
                            if repeats_id {
                                rest["id"] = json!(id);
                            }
                            with_index(rest, later(rest_index))
                        });
                        [with_index(head, later(head_index))]
                            .into_iter()
                            .chain(rest)
                    });
                    let entries: Vec<Value> = entries.collect();
                    let expected = ["a", "b"].map(|id| call(Some(id), "f", json!({"call": id})));
                    assert_eq!(calls_of(&entries), expected, "{entries:?}");
                }
            }
        }
    }
}

#[test]
fn a_known_id_outweighs_the_index_of_another_call() {
    let calls = calls_of(&[
        json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "{\"x\""}}),
        json!({"index": 1, "id": "b", "function": {"name": "g", "arguments": "{\"y\""}}),
        json!({"index": 1, "id": "a", "function": {"arguments": ":1}"}}),
        json!({"index": 0, "id": "b", "function": {"arguments": ":2}"}}),
    ]);
    let expected = [
        call(Some("a"), "f", json!({"x": 1})),
        call(Some("b"), "g", json!({"y": 2})),
    ];
    assert_eq!(calls, expected);
}

#[test]
fn calls_that_all_have_the_same_id_are_distinguished_by_index() {
    let calls = calls_of(&[
        json!({"index": 0, "id": "f", "function": {"name": "f", "arguments": "{\"x\":"}}),
        json!({"index": 0, "id": "f", "function": {"name": "f", "arguments": "1}"}}),
        json!({"index": 1, "id": "f", "function": {"name": "f", "arguments": "{\"x\":2}"}}),
        json!({"index": 2, "id": "f", "function": {"name": "g", "arguments": "{}"}}),
    ]);
    let expected = [
        call(Some("f"), "f", json!({"x": 1})),
        call(Some("f"), "f", json!({"x": 2})),
        call(Some("f"), "g", json!({})),
    ];
    assert_eq!(calls, expected);
}

#[test]
fn arguments_that_are_not_an_object_are_returned_raw() {
    let parsed_arguments = |arguments: &str| {
        let entry =
            json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": arguments}});
        calls_of(&[entry]).remove(0).arguments
    };
    assert_eq!(parsed_arguments(""), Ok(humble::domain::Arguments::new()));
    assert_eq!(parsed_arguments(" "), Ok(humble::domain::Arguments::new()));
    assert_eq!(parsed_arguments("{\"x\": "), Err("{\"x\": ".to_owned()));
    assert_eq!(parsed_arguments("[1]"), Err("[1]".to_owned()));
    assert_eq!(
        parsed_arguments("\"{}\""),
        Ok(humble::domain::Arguments::new())
    );
}

#[test]
fn call_truncated_by_the_token_limit_cannot_run() {
    let entry =
        json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "{\"text\":\"half"}});
    let stream = openai_event(&json!({"tool_calls": [entry]}), Some("length"));
    let decoded = decode_every_way(OpenAi, stream.as_bytes());
    assert_eq!(decoded.end, Some(EndReason::Length));
    assert_eq!(
        decoded.calls,
        [call(Some("a"), "f", json!("{\"text\":\"half"))]
    );
}

#[test]
fn truncated_stream_yields_no_call() {
    let entry = json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}});
    let stream = openai_event(&json!({"tool_calls": [entry]}), None);
    assert_eq!(
        decode_every_way(OpenAi, stream.as_bytes()),
        failed_reply(FailureCause::ReplyCutOff)
    );
}

/// Some servers and proxies never send a `finish_reason`.
#[test]
fn done_completes_the_calls_of_a_reply_without_a_finish_reason() {
    let calls_of = |arguments: &[&str]| {
        let head = json!({"index": 0, "id": "a", "function": {"name": "f"}});
        let rest = arguments
            .iter()
            .map(|text| json!({"index": 0, "function": {"arguments": text}}));
        let entries = std::iter::once(head).chain(rest);
        let events = entries.map(|entry| openai_event(&json!({"tool_calls": [entry]}), None));
        let stream = events.collect::<String>() + DONE;
        let decoded = decode_every_way(OpenAi, stream.as_bytes());
        assert_eq!((decoded.end, decoded.failed), (Some(EndReason::Stop), None));
        decoded.calls
    };
    let complete = calls_of(&["{\"x\":", "1}"]);
    assert_eq!(complete, [call(Some("a"), "f", json!({"x": 1}))]);
    // Without a reason, the model may have been interrupted in the middle of a call.
    let half = calls_of(&["{\"text\":", "\"half"]);
    assert_eq!(half, [call(Some("a"), "f", json!("{\"text\":\"half"))]);
    for not_begun in [&[][..], &[""], &[" "]] {
        let calls = calls_of(not_begun);
        assert_eq!(calls, [call(Some("a"), "f", json!(""))], "{not_begun:?}");
    }
}

/// Parsing keeps only one value of a key that occurs twice, and the approval must show both.
#[test]
fn calls_keep_their_arguments_as_received() {
    let json = r#"{"path": "a", "path": "b"}"#;
    let calls = json!([{"index": 0, "id": "a", "function": {"name": "f", "arguments": json}}]);
    let delta = openai_event(&json!({"content": null, "tool_calls": calls}), None);
    let end = openai_event(&json!({}), Some("tool_calls"));
    let stream = format!("{delta}{end}{DONE}");
    assert_eq!(raw_arguments(OpenAi, &stream), [json]);
    let line = json!({
        "message": {"content": "", "tool_calls": [{"function": {"name": "f", "arguments": json}}]},
        "done": true,
    });
    assert_eq!(raw_arguments(Ollama, &line.to_string()), [json]);
    let events = [
        json!({"type": "message_start", "message": {}}),
        json!({"type": "content_block_start", "index": 0,
            "content_block": {"type": "tool_use", "id": "a", "name": "f", "input": {}}}),
        json!({"type": "content_block_delta", "index": 0,
            "delta": {"type": "input_json_delta", "partial_json": json}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
        json!({"type": "message_stop"}),
    ];
    let event = |event: &Value| {
        format!(
            "event: {}\ndata: {event}\n\n",
            event["type"].as_str().unwrap_or_default()
        )
    };
    let stream: String = events.iter().map(event).collect();
    assert_eq!(raw_arguments(Anthropic, &stream), [json]);
}

/// Some servers send an object; parsing it would lose parts of the original text.
#[test]
fn arguments_that_arrive_as_objects_are_kept_as_written() {
    let json = r#"{"path": "a", "path": "b", "id": 10000000000000000000001, "s": "\ud83d"}"#;
    let with_object = |event: Value| event.to_string().replace(r#""ARGUMENTS""#, json);
    let calls = json!([
        {"index": 0, "id": "a", "function": {"name": "f", "arguments": "ARGUMENTS"}},
        {"index": 1, "id": "b", "function": {"name": "g", "arguments": {}}},
    ]);
    let line = json!({"message": {"content": "", "tool_calls": calls}, "done": true});
    assert_eq!(raw_arguments(Ollama, &with_object(line)), [json, ""]);
    let message = json!({"content": null, "tool_calls": calls});
    let delta = with_object(json!({"choices": [{"index": 0, "delta": message}]}));
    let end = openai_event(&json!({}), Some("tool_calls"));
    let stream = format!("data: {delta}\n\n{end}{DONE}");
    assert_eq!(raw_arguments(OpenAi, &stream), [json, "{}"]);
    let choice = json!({"index": 0, "message": message, "finish_reason": "tool_calls"});
    let body = with_object(json!({ "choices": [choice] }));
    assert_eq!(raw_arguments(OpenAi, &body), [json, "{}"]);
    let block = json!({"type": "tool_use", "id": "a", "name": "f", "input": "ARGUMENTS"});
    let body = json!({"type": "message", "content": [block], "stop_reason": "tool_use"});
    assert_eq!(raw_arguments(Anthropic, &with_object(body)), [json]);
    let start = json!({"type": "content_block_start", "index": 0, "content_block": block});
    let events = [
        json!({"type": "message_start", "message": {}}),
        start,
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
        json!({"type": "message_stop"}),
    ];
    let event = |event: Value| {
        let name = event["type"].as_str().unwrap_or_default().to_owned();
        format!("event: {name}\ndata: {}\n\n", with_object(event))
    };
    let stream: String = events.map(event).concat();
    assert_eq!(raw_arguments(Anthropic, &stream), [json]);
}
