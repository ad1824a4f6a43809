//! Feeds streams to the decoders in pieces and joins what they say.

use humble::domain::{Carry, ProviderKind, Usage};
use humble::provider::{Cause, EndReason, NativeCall, StreamPart, reply_builder::Piece};
use humble::provider::{anthropic, ollama, openai};
use serde_json::Value;

/// What a whole stream said, texts joined.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DecodedReply {
    pub text: String,
    pub thinking: String,
    pub calls: Vec<NativeCall>,
    pub usage: Option<Usage>,
    pub end: Option<EndReason>,
    pub failed: Option<Cause>,
}

pub fn decode(provider: ProviderKind, pieces: &[&[u8]]) -> DecodedReply {
    join_parts(parts(provider, pieces))
}

/// What a stream gives to be sent back with its calls.
pub fn decode_reasoning_echo(provider: ProviderKind, stream: &str) -> Option<Carry> {
    let parts = parts(provider, &[stream.as_bytes()]).into_iter();
    let mut carries = parts.filter_map(|part| match part {
        Ok(StreamPart::Carry(carry)) => Some(carry),
        _ => None,
    });
    let carry = carries.next();
    assert_eq!(carries.next(), None, "it comes once");
    carry
}

fn parts(provider: ProviderKind, pieces: &[&[u8]]) -> Vec<Piece> {
    macro_rules! decode {
        ($decoder:expr) => {{
            let mut decoder = $decoder;
            let mut parts: Vec<_> = pieces.iter().flat_map(|p| decoder.push(p)).collect();
            parts.extend(decoder.finish());
            parts
        }};
    }
    match provider {
        ProviderKind::Ollama => decode!(ollama::Decoder::default()),
        ProviderKind::Anthropic => decode!(anthropic::Decoder::default()),
        provider => decode!(openai::Decoder::new(provider)),
    }
}

/// Checks on the way what every stream promises: one end or one fault, the last.
pub fn join_parts(parts: Vec<Piece>) -> DecodedReply {
    let mut said = DecodedReply::default();
    let mut is_over = false;
    for part in parts {
        assert!(!is_over, "something follows the end: {part:?}");
        match part {
            Ok(StreamPart::Text(text)) => said.text.push_str(&text),
            Ok(StreamPart::Thinking(text)) => said.thinking.push_str(&text),
            Ok(StreamPart::Call(call)) => said.calls.push(call),
            Ok(StreamPart::Usage(usage)) => {
                assert_eq!(said.usage.replace(usage), None, "counts come once");
            }
            Ok(StreamPart::StartedOver) => said = DecodedReply::default(),
            Ok(StreamPart::Heartbeat | StreamPart::Notice(_) | StreamPart::Carry(_)) => {}
            Ok(StreamPart::End(reason)) => {
                said.end = Some(reason);
                is_over = true;
            }
            Err(cause) => {
                said.failed = Some(cause);
                is_over = true;
            }
        }
    }
    assert!(is_over, "neither end nor fault: {said:?}");
    said
}

/// Feeds the stream whole, then in two at each place (or, where it is long, byte by
/// byte and in 200 seeded ways); all must say the same, which is returned.
pub fn decode_every_way(provider: ProviderKind, bytes: &[u8]) -> DecodedReply {
    let whole = decode(provider, &[bytes]);
    let single: Vec<_> = bytes.chunks(1).collect();
    assert_eq!(decode(provider, &single), whole, "byte by byte");
    if bytes.len() <= 4096 {
        for at in 0..=bytes.len() {
            let (head, tail) = bytes.split_at(at);
            assert_eq!(decode(provider, &[head, tail]), whole, "cut at byte {at}");
        }
        return whole;
    }
    for seed in 0..200 {
        let pieces = seeded_split(bytes, seed);
        assert_eq!(decode(provider, &pieces), whole, "split with seed {seed}");
    }
    whole
}

/// Cuts into pieces of 1 to 2,000 bytes (an xorshift generator chooses).
fn seeded_split(bytes: &[u8], seed: u64) -> Vec<&[u8]> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut pieces = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let size = 1 + usize::try_from(state % 2000).expect("it is small");
        let (piece, tail) = rest.split_at(size.min(rest.len()));
        pieces.push(piece);
        rest = tail;
    }
    pieces
}

/// Every proper prefix that ends before `end_marker` does must count as no answer.
pub fn never_complete_before(provider: ProviderKind, stream: &str, end_marker: &str) {
    let marker = stream.find(end_marker).expect("the marker is there") + end_marker.len();
    for length in 0..marker {
        let said = decode(provider, &[&stream.as_bytes()[..length]]);
        assert_eq!(said.end, None, "complete after {length} bytes");
        let expected = [Cause::Cut, Cause::Empty];
        let failed = said.failed.expect("a cut is a fault");
        assert!(expected.contains(&failed), "{length} bytes: {failed:?}");
    }
}

/// A call with these arguments, or with this text that is none.
pub fn call(id: Option<&str>, name: &str, arguments: Value) -> NativeCall {
    let arguments = match arguments {
        Value::Object(arguments) => Ok(arguments),
        Value::String(raw) => Err(raw),
        other => panic!("{other} is neither an object nor raw text"),
    };
    NativeCall {
        id: id.map(str::to_owned),
        name: name.to_owned(),
        arguments,
    }
}

pub fn usage(input: u64, output: u64) -> Option<Usage> {
    Some(Usage {
        input: Some(input),
        output: Some(output),
    })
}

/// A stream of which nothing came but this.
pub fn failed(cause: Cause) -> DecodedReply {
    DecodedReply {
        failed: Some(cause),
        ..DecodedReply::default()
    }
}
