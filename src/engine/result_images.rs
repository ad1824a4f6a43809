//! What a tool result contains besides text for the model. Its images are kept for the turn and sent
//! to models that take images. Events, sessions and journals hold none of them.

use crate::attachments::image_from_base64;
use crate::domain::AttachedImage;
use crate::domain::audience::is_part_for_model;
use serde_json::Value;
use std::path::PathBuf;

/// Maximum number of images sent from one result.
const RESULT_IMAGES_MAX: usize = 10;
/// Maximum total size of the images of one result, in Base64 characters.
const RESULT_BASE64_BYTES_MAX: usize = 32 << 20;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ResultImages {
    pub images: Vec<AttachedImage>,
    /// The number of images that cannot be sent: broken, too large, too many, or of a format that
    /// models do not take.
    pub omitted_count: usize,
    /// Where images and sounds of the result were saved for the user.
    pub saved_files: Vec<PathBuf>,
    /// The parts that are not for the model, as text.
    pub user_text: String,
}

impl ResultImages {
    /// The images for the model in a raw result of `tools/call`, embedded resources included. Decodes them, so
    /// it must not run on the event loop.
    pub fn from_result(result: &Value) -> Self {
        let items = result.get("content").and_then(Value::as_array);
        let items = items
            .into_iter()
            .flatten()
            .filter(|item| is_part_for_model(item));
        let mut collected = Self::default();
        let mut bytes_left = RESULT_BASE64_BYTES_MAX;
        for data in items.filter_map(image_data) {
            let is_within_limits =
                collected.images.len() < RESULT_IMAGES_MAX && data.len() <= bytes_left;
            let image = is_within_limits.then(|| image_from_base64(data));
            match image {
                Some(Ok(image)) => {
                    bytes_left -= data.len();
                    collected.images.push(image);
                }
                Some(Err(error)) => {
                    tracing::debug!("an image of a tool result is not sent: {error}");
                    collected.omitted_count += 1;
                }
                None => collected.omitted_count += 1,
            }
        }
        collected
    }

    /// A sentence about the omitted images for the model; `None` if there are none.
    pub fn omission_note(&self) -> Option<String> {
        let why = "broken, too large, too many, or of a format that cannot be sent";
        match self.omitted_count {
            0 => None,
            1 => Some(format!("[1 image of this result was left out: {why}.]")),
            count => Some(format!(
                "[{count} images of this result were left out: {why}.]"
            )),
        }
    }
}

fn image_data(item: &Value) -> Option<&str> {
    match item.get("type")?.as_str()? {
        "image" => item.get("data")?.as_str(),
        "resource" => {
            let resource = item.get("resource")?;
            let media_type = resource.get("mimeType")?.as_str()?;
            let is_image = media_type.starts_with("image/") && resource.get("text").is_none();
            resource.get("blob")?.as_str().filter(|_| is_image)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::attachment::ImageFormat;
    use serde_json::json;

    const GIF_BASE64: &str = "R0lGODlhAQABAIAAAA==";

    #[test]
    fn images_are_recognized_by_their_data() {
        let result = json!({ "content": [
            { "type": "text", "text": "two" },
            { "type": "image", "mimeType": "image/png", "data": GIF_BASE64 },
            { "type": "resource", "resource": { "uri": "x:", "mimeType": "image/gif", "blob": GIF_BASE64 } },
            { "type": "resource", "resource": { "uri": "x:", "mimeType": "text/csv", "blob": "AAAA" } },
            { "type": "image", "mimeType": "image/png", "data": "AAAA" },
            { "type": "image", "mimeType": "image/png", "data": "not Base64" },
            { "type": "audio", "mimeType": "audio/wav", "data": "AAAA" },
            { "type": "image", "data": GIF_BASE64, "annotations": { "audience": ["user"] } },
        ] });
        let found = ResultImages::from_result(&result);
        let formats: Vec<ImageFormat> = found.images.iter().map(|image| image.format).collect();
        assert_eq!(formats, [ImageFormat::Gif, ImageFormat::Gif]);
        assert_eq!(found.omitted_count, 2);
        assert_eq!(
            ResultImages::from_result(&json!(null)),
            ResultImages::default()
        );
    }

    #[test]
    fn images_beyond_the_maximum_are_counted() {
        let image = json!({ "type": "image", "data": GIF_BASE64 });
        let found = ResultImages::from_result(&json!({ "content": vec![image; 13] }));
        assert_eq!((found.images.len(), found.omitted_count), (10, 3));
        assert_eq!(
            found.omission_note().expect("a note"),
            "[3 images of this result were left out: broken, too large, too many, or of a format \
             that cannot be sent.]"
        );
    }
}
