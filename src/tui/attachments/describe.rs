//! Descriptions of attached files.

use crate::domain::Attachment;
use crate::domain::attachment::{AttachmentContents, AttachmentKind};
use crate::domain::model_catalog::format_size;
use crate::text::Clean;
use std::sync::Arc;

/// A line for each file below a prompt in the chat.
pub fn attachment_lines(attachments: &[Arc<Attachment>]) -> String {
    let lines = attachments.iter().map(|attachment| {
        let name = Clean::name(&attachment.name);
        format!("@ {}  {}", name.as_str(), description(attachment, ", "))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Format and size of a file, such as `PNG 640x480, 12 kB`.
pub fn description(attachment: &Attachment, separator: &str) -> String {
    let kind = match attachment.kind {
        AttachmentKind::Text => "text".to_owned(),
        AttachmentKind::Image {
            format,
            width: Some(width),
            height: Some(height),
        } => format!("{} {width}x{height}", format.name().to_uppercase()),
        AttachmentKind::Image { format, .. } => format.name().to_uppercase(),
    };
    let missing = match attachment.contents {
        AttachmentContents::Missing => format!("{separator}no longer available"),
        AttachmentContents::Text(_) | AttachmentContents::Image(_) => String::new(),
    };
    format!(
        "{kind}{separator}{}{missing}",
        format_size(attachment.bytes)
    )
}
