//! Feeds streams to the decoders in chunks and joins the decoded parts.

use humble::domain::{ProviderKind, ReasoningEcho, Usage};
use humble::provider::registry::adapter_for;
use humble::provider::{
    EndReason, FailureCause, NativeCall, StreamPart, reply_builder::DecodedPart,
};
use serde_json::Value;

/// A decoded stream, with its text joined.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DecodedReply {
    pub text: String,
    pub thinking: String,
    pub calls: Vec<NativeCall>,
    pub usage: Option<Usage>,
    pub end: Option<EndReason>,
    pub failed: Option<FailureCause>,
}

pub fn decode(provider: ProviderKind, chunks: &[&[u8]]) -> DecodedReply {
    join_parts(parts(provider, chunks))
}

/// The arguments of each call in a stream, as the provider sent them.
pub fn raw_arguments(provider: ProviderKind, stream: &str) -> Vec<String> {
    let parts = parts(provider, &[stream.as_bytes()]).into_iter();
    let calls = parts.filter_map(|part| match part {
        Ok(StreamPart::Call(call)) => Some(call.raw_arguments),
        _ => None,
    });
    calls.collect()
}

/// The reasoning in a stream that must be sent back with its calls.
pub fn decode_reasoning_echo(provider: ProviderKind, stream: &str) -> Option<ReasoningEcho> {
    let parts = parts(provider, &[stream.as_bytes()]).into_iter();
    let mut echoes = parts.filter_map(|part| match part {
        Ok(StreamPart::ReasoningEcho(echo)) => Some(echo),
        _ => None,
    });
    let echo = echoes.next();
    assert_eq!(echoes.next(), None, "the echo is sent once");
    echo
}

fn parts(provider: ProviderKind, chunks: &[&[u8]]) -> Vec<DecodedPart> {
    let mut decoder = adapter_for(provider)
        .expect("provider has an adapter")
        .decoder();
    let mut parts: Vec<_> = chunks
        .iter()
        .flat_map(|chunk| decoder.push(chunk))
        .collect();
    parts.extend(decoder.finish());
    parts
}

/// Joins the parts and asserts that exactly one of them, the last, is an end or an error.
pub fn join_parts(parts: Vec<DecodedPart>) -> DecodedReply {
    let mut decoded = DecodedReply::default();
    let mut is_over = false;
    for part in parts {
        assert!(!is_over, "something follows the end: {part:?}");
        match part {
            Ok(StreamPart::Text(text)) => decoded.text.push_str(&text),
            Ok(StreamPart::Thinking(text)) => decoded.thinking.push_str(&text),
            Ok(StreamPart::Call(call)) => {
                // Raw arguments are compared separately, with `raw_arguments`.
                decoded.calls.push(NativeCall {
                    raw_arguments: String::new(),
                    ..call
                });
            }
            Ok(StreamPart::Usage(usage)) => {
                assert_eq!(decoded.usage.replace(usage), None, "counts are sent once");
            }
            Ok(StreamPart::StartedOver) => decoded = DecodedReply::default(),
            Ok(StreamPart::Heartbeat | StreamPart::Notice(_) | StreamPart::ReasoningEcho(_)) => {}
            Ok(StreamPart::End(reason)) => {
                decoded.end = Some(reason);
                is_over = true;
            }
            Err(cause) => {
                decoded.failed = Some(cause);
                is_over = true;
            }
        }
    }
    assert!(is_over, "neither end nor error: {decoded:?}");
    decoded
}

/// Decodes the stream whole, byte by byte, and split in two at every byte (or, if it is long, split
/// in 200 seeded ways). All results must be equal.
pub fn decode_every_way(provider: ProviderKind, bytes: &[u8]) -> DecodedReply {
    let whole = decode(provider, &[bytes]);
    let single: Vec<_> = bytes.chunks(1).collect();
    assert_eq!(decode(provider, &single), whole, "byte by byte");
    if bytes.len() <= 4096 {
        for offset in 0..=bytes.len() {
            let (head, tail) = bytes.split_at(offset);
            assert_eq!(
                decode(provider, &[head, tail]),
                whole,
                "cut at byte {offset}"
            );
        }
        return whole;
    }
    for seed in 0..200 {
        let chunks = seeded_split(bytes, seed);
        assert_eq!(decode(provider, &chunks), whole, "split with seed {seed}");
    }
    whole
}

/// Splits `bytes` into chunks of 1 to 2,000 bytes, chosen by an xorshift generator.
fn seeded_split(bytes: &[u8], seed: u64) -> Vec<&[u8]> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut chunks = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let size = 1 + usize::try_from(state % 2000).expect("fits in usize");
        let (chunk, tail) = rest.split_at(size.min(rest.len()));
        chunks.push(chunk);
        rest = tail;
    }
    chunks
}

/// Asserts that every prefix without the whole `end_marker` is reported as cut off or empty.
pub fn assert_incomplete_before(provider: ProviderKind, stream: &str, end_marker: &str) {
    let marker_end = stream.find(end_marker).expect("marker is present") + end_marker.len();
    for length in 0..marker_end {
        let decoded = decode(provider, &[&stream.as_bytes()[..length]]);
        assert_eq!(decoded.end, None, "complete after {length} bytes");
        let expected = [FailureCause::ReplyCutOff, FailureCause::EmptyReply];
        let cause = decoded.failed.expect("truncated stream fails");
        assert!(expected.contains(&cause), "{length} bytes: {cause:?}");
    }
}

/// A call with these arguments; a string stands for raw text that is not an object.
pub fn call(id: Option<&str>, name: &str, arguments: Value) -> NativeCall {
    let arguments = match arguments {
        Value::Object(arguments) => Ok(arguments.into()),
        Value::String(raw) => Err(raw),
        other => panic!("{other} is neither an object nor raw text"),
    };
    NativeCall {
        id: id.map(str::to_owned),
        name: name.to_owned(),
        arguments,
        raw_arguments: String::new(),
    }
}

pub fn usage(input: u64, output: u64) -> Option<Usage> {
    Some(Usage {
        input: Some(input),
        output: Some(output),
        ..Usage::default()
    })
}

/// A stream that yielded nothing but this failure.
pub fn failed_reply(cause: FailureCause) -> DecodedReply {
    DecodedReply {
        failed: Some(cause),
        ..DecodedReply::default()
    }
}
