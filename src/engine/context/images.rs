//! The images of a request: how many are sent, and what a model without vision gets.

use crate::domain::attachment::REQUEST_IMAGE_BYTES_MAX;
use crate::domain::{Advice, ImageSupport, Message, Notice};
use std::fmt::Write;

/// Leaves out the oldest images beyond the maximum total size.
pub(super) fn limit(messages: &mut [Message]) {
    let mut remaining = REQUEST_IMAGE_BYTES_MAX;
    for message in messages.iter_mut().rev() {
        let Message::UserWithImages { images, .. } = message else {
            continue;
        };
        let bytes: u64 = images.iter().map(|image| image.bytes).sum();
        match remaining.checked_sub(bytes) {
            Some(rest) => remaining = rest,
            None => {
                remaining = 0;
                remove(message);
            }
        }
    }
}

/// Removes all images if the model takes none. Returns a notice instead if the prompt of the turn
/// has images; `prompt` says so, and names the model.
pub(super) fn apply_support(
    support: ImageSupport,
    (model, has_prompt_images): (&str, bool),
    messages: &mut [Message],
) -> Option<Notice> {
    match (support, has_prompt_images) {
        (ImageSupport::Yes | ImageSupport::Unknown, _) => None,
        (ImageSupport::No, true) => Some(not_supported_notice(model)),
        (ImageSupport::No, false) => {
            messages.iter_mut().for_each(remove);
            None
        }
    }
}

/// Replaces the images of a message by a sentence.
fn remove(message: &mut Message) {
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
