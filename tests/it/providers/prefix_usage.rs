//! Prompt tokens that servers report as taken from their prefix cache.

use super::decoding::decode;
use crate::support::model_server::{anthropic_start, anthropic_stop};
use humble::domain::PrefixUsage;
use humble::domain::ProviderKind::{self, Anthropic, Mistral, Ollama, OpenAi};
use serde_json::{Value, json};

fn prefix_usage(provider: ProviderKind, stream: &str) -> Option<PrefixUsage> {
    let decoded = decode(provider, &[stream.as_bytes()]);
    decoded.usage.expect("token counts").prefix
}

/// A stream of `/chat/completions` that ends with this event.
fn completions(last: &Value) -> String {
    let choice = json!({"index": 0, "delta": {"content": "x"}, "finish_reason": "stop"});
    let first = json!({"choices": [choice]});
    format!("data: {first}\n\ndata: {last}\n\ndata: [DONE]\n\n")
}

fn read_and_reused(read: u64, reused: u64) -> Option<PrefixUsage> {
    Some(PrefixUsage { read, reused })
}

#[test]
fn openai_compatible_servers_report_cached_tokens_in_three_places() {
    let usage = |details: Value| {
        let mut usage = json!({"prompt_tokens": 300, "completion_tokens": 5});
        for (key, value) in details.as_object().expect("an object") {
            usage[key] = value.clone();
        }
        json!({"choices": [], "usage": usage})
    };
    let cached = usage(json!({"prompt_tokens_details": {"cached_tokens": 256}}));
    let deepseek = usage(json!({"prompt_cache_hit_tokens": 256}));
    let mut llama_cpp = usage(json!({}));
    llama_cpp["timings"] = json!({"cache_n": 256, "prompt_n": 44});
    for provider in [OpenAi, Mistral] {
        for last in [&cached, &deepseek, &llama_cpp] {
            let expected = read_and_reused(44, 256);
            assert_eq!(
                prefix_usage(provider, &completions(last)),
                expected,
                "{last}"
            );
        }
        let silent = completions(&usage(json!({})));
        assert_eq!(prefix_usage(provider, &silent), None);
    }
    // More cached than sent must not underflow.
    let odd = usage(json!({"prompt_tokens_details": {"cached_tokens": 301}}));
    assert_eq!(
        prefix_usage(OpenAi, &completions(&odd)),
        read_and_reused(0, 301)
    );
}

#[test]
fn anthropic_cache_writes_count_as_read() {
    let counts = json!({"input_tokens": 5, "cache_creation_input_tokens": 100,
        "cache_read_input_tokens": 1000, "output_tokens": 1});
    let stream = anthropic_start(&counts) + &anthropic_stop("end_turn");
    assert_eq!(prefix_usage(Anthropic, &stream), read_and_reused(105, 1000));
    let silent = anthropic_start(&json!({"input_tokens": 5})) + &anthropic_stop("end_turn");
    assert_eq!(prefix_usage(Anthropic, &silent), None);
}

#[test]
fn only_newer_ollama_versions_report_cached_tokens() {
    let mut done = json!({"model": "m", "message": {"role": "assistant", "content": "x"},
        "done": true, "done_reason": "stop", "prompt_eval_count": 300, "eval_count": 5});
    assert_eq!(prefix_usage(Ollama, &format!("{done}\n")), None);
    done["prompt_eval_cached_count"] = json!(256);
    let expected = read_and_reused(44, 256);
    assert_eq!(prefix_usage(Ollama, &format!("{done}\n")), expected);
}
