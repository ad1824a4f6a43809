//! Limits the images of a request, and replaces those that the model cannot see.

use super::{BudgetOutput, ContextUsage, UnsentRequest};
use crate::domain::attachment::REQUEST_IMAGE_BYTES_MAX;
use crate::domain::{Advice, ImageSupport, Message, ModelConfig, Notice};
use std::fmt::Write;

const VISION_ADVICE: &str =
    "If the model can take them, set `\"vision\": true` for it in config.json.";

/// Leaves out the oldest images beyond the maximum total size.
pub(super) fn limit(messages: &mut [Message]) {
    let mut remaining = REQUEST_IMAGE_BYTES_MAX;
    for message in messages.iter_mut().rev() {
        let images = match message {
            Message::UserWithImages { images, .. } => images,
            Message::ToolResult(result) if !result.images.is_empty() => &result.images,
            _ => continue,
        };
        let bytes: u64 = images.iter().map(|image| image.bytes).sum();
        match remaining.checked_sub(bytes) {
            Some(rest) => remaining = rest,
            None => {
                remaining = 0;
                replace_images(message);
            }
        }
    }
}

/// Whether the messages have images, and only the server knows whether the model takes them.
pub(super) fn needs_support(messages: &[Message], model: &ModelConfig) -> bool {
    let has_images = |message: &Message| match message {
        Message::ToolResult(result) => !result.images.is_empty(),
        Message::UserWithImages { .. } => model.provider.reports_capabilities(),
        _ => false,
    };
    ImageSupport::of(model, None) == ImageSupport::Unknown && messages.iter().any(has_images)
}

impl ContextUsage {
    /// Removes all images if the model does not support them, and reports attached ones once. Refuses the
    /// request instead if the prompt of the turn has images. If support is unknown, images of prompts
    /// are sent, because the user attached them, but images of tool results are not: a server that
    /// refuses them would refuse every further request of the turn.
    pub(super) fn apply_image_support(
        &mut self,
        unsent: &mut UnsentRequest,
    ) -> Option<BudgetOutput> {
        let UnsentRequest {
            model, messages, ..
        } = unsent;
        let support = ImageSupport::of(model, self.model_info.as_deref());
        if support != ImageSupport::Yes {
            messages.iter_mut().for_each(replace_result_images);
        }
        if support != ImageSupport::No {
            return None;
        }
        if unsent.has_prompt_images {
            return Some(BudgetOutput::Refuse(not_supported_notice(&model.name)));
        }
        let images = messages.iter().map(|message| match message {
            Message::UserWithImages { images, .. } => images.len(),
            _ => 0,
        });
        let left_out: usize = images.sum();
        messages.iter_mut().for_each(replace_images);
        if left_out == 0 || std::mem::replace(&mut self.has_reported_left_out_images, true) {
            return None;
        }
        Some(BudgetOutput::TurnNotice(left_out_notice(
            &model.name,
            left_out,
        )))
    }
}

/// Replaces the images of a result with a remark that the model cannot see them.
fn replace_result_images(message: &mut Message) {
    let Message::ToolResult(result) = message else {
        return;
    };
    let _ = match result.images.len() {
        0 => Ok(()),
        1 => write!(
            result.content,
            "\n[You cannot see the image in this result. Do not describe it.]"
        ),
        count => write!(
            result.content,
            "\n[You cannot see the {count} images in this result. Do not describe them.]"
        ),
    };
    result.images.clear();
}

fn replace_images(message: &mut Message) {
    if let Message::ToolResult(result) = message
        && !result.images.is_empty()
    {
        result
            .content
            .push_str("\n[The images of this result were left out.]");
        result.images.clear();
    }
    let Message::UserWithImages { text, images } = message else {
        return;
    };
    let separator = if text.is_empty() { "" } else { "\n\n" };
    let _ = match images.len() {
        1 => write!(text, "{separator}[An attached image was left out.]"),
        count => write!(text, "{separator}[{count} attached images were left out.]"),
    };
    *message = Message::User(std::mem::take(text));
}

fn not_supported_notice(model: &str) -> Notice {
    Notice::failure(format!("{model} takes no images."))
        .with_advice(Advice::ChooseImageModel)
        .with_advice(VISION_ADVICE)
}

fn left_out_notice(model: &str, count: usize) -> Notice {
    let images = match count {
        1 => "the image of an earlier message is".to_owned(),
        count => format!("{count} images of earlier messages are"),
    };
    Notice::warning(format!("{model} takes no images: {images} left out."))
        .with_advice(VISION_ADVICE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::AttachedImage;
    use crate::domain::attachment::ImageFormat;

    fn with_images(text: &str, sizes: &[u64]) -> Message {
        let image = |bytes: &u64| AttachedImage {
            format: ImageFormat::Png,
            base64: "AA==".into(),
            bytes: *bytes,
            tokens: 1,
        };
        Message::UserWithImages {
            text: text.to_owned(),
            images: sizes.iter().map(image).collect(),
        }
    }

    #[test]
    fn oldest_images_are_left_out_first() {
        const MB: u64 = 1024 * 1024;
        let mut messages = [
            with_images("a", &[15 * MB]),
            with_images("b", &[15 * MB, 6 * MB]),
            Message::Assistant("c".to_owned()),
            with_images("d", &[20 * MB]),
        ];
        let unchanged = messages[3].clone();
        limit(&mut messages);
        let expected = [
            Message::User("a\n\n[An attached image was left out.]".to_owned()),
            Message::User("b\n\n[2 attached images were left out.]".to_owned()),
            Message::Assistant("c".to_owned()),
            unchanged,
        ];
        assert_eq!(messages, expected);
    }
}
