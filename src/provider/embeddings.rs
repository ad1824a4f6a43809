//! Requests for embeddings. The request is the same for Ollama (`/api/embed`) and for
//! OpenAI-compatible servers (`/v1/embeddings`); the replies differ.

use super::Provider;
use super::error::{FailureCause, MalformedReply, ProviderError};
use crate::domain::{ModelConfig, Notice};
use crate::ports::Embedder;
use futures::future::BoxFuture;
use serde_json::{Value, json};

/// Maximum number of characters that an error quotes from a reply.
const JSON_CHARS_MAX: usize = 200;

impl Embedder for Provider {
    fn embed(
        &self,
        model: &ModelConfig,
        texts: Vec<String>,
    ) -> BoxFuture<'static, Result<Vec<Vec<f32>>, Notice>> {
        let (provider, model) = (self.clone(), model.clone());
        Box::pin(async move {
            let embedded = match &provider {
                Self::Http(http) => http.embed(&model, &texts).await,
                Self::Scripted(_) => Err(ProviderError::new(&model, FailureCause::Unsupported)),
            };
            embedded.map_err(|error| error.notice())
        })
    }
}

pub(super) fn request_body(model: &str, texts: &[String]) -> Value {
    json!({ "model": model, "input": texts })
}

/// In the order of the texts.
pub(super) fn parse_reply(reply: &Value) -> Result<Vec<Vec<f32>>, FailureCause> {
    let malformed = || {
        let json = reply.to_string().chars().take(JSON_CHARS_MAX).collect();
        FailureCause::Malformed(MalformedReply::UnexpectedJson { json })
    };
    if let Some(vectors) = reply["embeddings"].as_array() {
        let vectors = vectors.iter().map(parse_vector);
        return vectors.collect::<Option<_>>().ok_or_else(malformed);
    }
    let entries = reply["data"].as_array().ok_or_else(malformed)?;
    let mut vectors = Vec::with_capacity(entries.len());
    for (position, entry) in entries.iter().enumerate() {
        // The order of the entries is not guaranteed.
        let index = entry["index"].as_u64().unwrap_or(position as u64);
        let vector = parse_vector(&entry["embedding"]).ok_or_else(malformed)?;
        vectors.push((index, vector));
    }
    vectors.sort_by_key(|(index, _)| *index);
    Ok(vectors.into_iter().map(|(_, vector)| vector).collect())
}

fn parse_vector(value: &Value) -> Option<Vec<f32>> {
    let components = value.as_array()?;
    components
        .iter()
        .map(|component| component.as_f64().map(|component| component as f32))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embedding_replies_of_ollama_and_openai_are_read() {
        let ollama = json!({ "embeddings": [[1, 0.5], [0, -1e-3]] });
        let expected = vec![vec![1.0, 0.5], vec![0.0, -0.001]];
        assert_eq!(parse_reply(&ollama).expect("parsed"), expected);
        let openai = json!({ "data": [
            { "index": 1, "embedding": [0, -1e-3] },
            { "index": 0, "embedding": [1, 0.5] },
        ]});
        assert_eq!(parse_reply(&openai).expect("parsed"), expected);
        for reply in [
            json!({}),
            json!([]),
            json!({ "embeddings": [["a"]] }),
            json!({ "data": [{ "embedding": "base64" }] }),
        ] {
            assert!(parse_reply(&reply).is_err(), "{reply}");
        }
    }
}
