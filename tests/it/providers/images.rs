//! Request bodies of prompts with images, and the image support of models.

use crate::providers::hosted_request_bodies::{body, native_model};
use crate::support::attachment_files::{PNG_BASE64, attach, png};
use crate::support::fixtures::model_config;
use humble::domain::ProviderKind::{self, Anthropic, Mistral, Ollama, OpenAi};
use humble::domain::{ImageSupport, Message, ModelConfig, ModelInfo, Toolset};
use humble::provider::ChatRequest;
use humble::provider::parameter_fallback::ParameterFallback;
use serde_json::{Value, json};
use std::sync::Arc;
use tempfile::TempDir;

/// The messages of a request that asks about a PNG and a GIF image.
fn messages(model: ModelConfig, text: &str) -> Value {
    let folder = TempDir::new().expect("a temporary folder");
    let gif = b"GIF89a\x01\x00\x01\x00\x80\x00\x00";
    let files = [
        attach(folder.path(), "a.png", &png()),
        attach(folder.path(), "b.gif", gif),
    ];
    let request = ChatRequest {
        model: Arc::new(model),
        messages: vec![
            Message::System("be brief".into()),
            Message::UserWithImages {
                text: text.to_owned(),
                images: files.iter().filter_map(|file| file.image()).collect(),
            },
        ],
        tools: Arc::new(Toolset::default()),
        num_ctx: 8192,
        temperature: None,
    };
    body(&request, ParameterFallback::default())["messages"].take()
}

const GIF_BASE64: &str = "R0lGODlhAQABAIAAAA==";

#[test]
fn ollama_gets_images_in_a_field_of_their_own() {
    let model = model_config(Ollama, "http://localhost:11434");
    let expected = json!([
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "무엇?", "images": [PNG_BASE64, GIF_BASE64]},
    ]);
    let sent = messages(model, "무엇?");
    assert_eq!(sent.to_string(), expected.to_string());
}

#[test]
fn openai_and_mistral_receive_images_as_data_urls() {
    for provider in [OpenAi, Mistral] {
        let expected = json!([
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": [
                {"type": "text", "text": "무엇?"},
                {"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{PNG_BASE64}")}},
                {"type": "image_url", "image_url": {"url": format!("data:image/gif;base64,{GIF_BASE64}")}},
            ]},
        ]);
        let sent = messages(native_model(provider), "무엇?");
        assert_eq!(sent.to_string(), expected.to_string(), "{provider}");
    }
}

#[test]
fn anthropic_gets_source_blocks_before_the_text() {
    let image = |media_type: &str, data: &str| json!({"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}});
    let (png, gif) = (
        image("image/png", PNG_BASE64),
        image("image/gif", GIF_BASE64),
    );
    let text = json!({"type": "text", "text": "무엇?"});
    let expected = json!([{"role": "user", "content": [png, gif, text]}]);
    let sent = messages(native_model(Anthropic), "무엇?");
    assert_eq!(sent.to_string(), expected.to_string());
    let expected = json!([{"role": "user", "content": [png, gif]}]);
    let sent = messages(native_model(Anthropic), "");
    assert_eq!(
        sent.to_string(),
        expected.to_string(),
        "blank text is refused"
    );
}

#[test]
fn setting_server_and_provider_decide_whether_a_model_accepts_images() {
    let capabilities = |names: &[&str]| ModelInfo {
        capabilities: names.iter().map(|name| (*name).to_owned()).collect(),
        ..ModelInfo::default()
    };
    let with_url = |provider: ProviderKind, url: &str| model_config(provider, url);
    let default = |provider: ProviderKind| with_url(provider, provider.default_base_url());
    let with_vision = capabilities(&["completion", "vision"]);
    let without_vision = capabilities(&["completion"]);
    let other_server = with_url(OpenAi, "http://localhost:8080/v1");
    for (model, info, expected) in [
        (default(Ollama), Some(&with_vision), ImageSupport::Yes),
        (default(Ollama), Some(&without_vision), ImageSupport::No),
        (
            default(Ollama),
            Some(&capabilities(&[])),
            ImageSupport::Unknown,
        ),
        (default(Ollama), None, ImageSupport::Unknown),
        (default(OpenAi), None, ImageSupport::Yes),
        (other_server, None, ImageSupport::Unknown),
        (default(Mistral), None, ImageSupport::Unknown),
        (default(Anthropic), None, ImageSupport::Yes),
    ] {
        assert_eq!(ImageSupport::of(&model, info), expected, "{model:?}");
    }
    let mut configured = default(Ollama);
    configured.vision = Some(true);
    assert_eq!(
        ImageSupport::of(&configured, Some(&without_vision)),
        ImageSupport::Yes
    );
    configured.vision = Some(false);
    assert_eq!(
        ImageSupport::of(&configured, Some(&with_vision)),
        ImageSupport::No
    );
}
