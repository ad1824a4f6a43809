//! Limits the images of a request, and replaces those that the model cannot see.

use crate::domain::attachment::REQUEST_IMAGE_BYTES_MAX;
use crate::domain::{Advice, ImageSupport, Message, Notice};
use std::fmt::Write;

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

/// Whether some tool result has images.
pub(super) fn has_result_images(messages: &[Message]) -> bool {
    let has_images = |message: &Message| matches!(message, Message::ToolResult(result) if !result.images.is_empty());
    messages.iter().any(has_images)
}

/// Removes all images if `model` does not support them. Returns a notice instead if the prompt of
/// the turn has images. If support is unknown, images of prompts are sent, because the user attached
/// them, but images of tool results are not: a server that refuses them would refuse every further
/// request of the turn.
pub(super) fn apply_support(
    support: ImageSupport,
    (model, has_prompt_images): (&str, bool),
    messages: &mut [Message],
) -> Option<Notice> {
    if support != ImageSupport::Yes {
        messages.iter_mut().for_each(replace_result_images);
    }
    match (support, has_prompt_images) {
        (ImageSupport::Yes | ImageSupport::Unknown, _) => None,
        (ImageSupport::No, true) => Some(not_supported_notice(model)),
        (ImageSupport::No, false) => {
            messages.iter_mut().for_each(replace_images);
            None
        }
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

/// Replaces the images of a message with a sentence.
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
        .with_advice("If it does, set `\"vision\": true` for it in config.json.")
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
