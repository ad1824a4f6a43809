//! The rows of attached files above the message.

use crate::domain::ImageSupport;
use crate::text::Clean;
use crate::text::numbers::group_digits;
use crate::tui::attachments::describe::description;
use crate::tui::attachments::file::AttachedFile;
use crate::tui::attachments::state::AttachmentList;
use crate::tui::ui_model::UiModel;

/// A file above the message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttachmentRow {
    pub name: String,
    /// Size and tokens, a problem, or `reading`.
    pub details: String,
    pub is_problem: bool,
}

pub fn attachment_rows(model: &UiModel) -> Vec<AttachmentRow> {
    let files = model.attachments.files().iter();
    files.map(|file| attachment_row(file, model)).collect()
}

fn attachment_row(file: &AttachedFile, model: &UiModel) -> AttachmentRow {
    let name = Clean::name(&file.name).as_str().to_owned();
    let Some(read) = &file.read else {
        return AttachmentRow {
            name,
            details: "reading".to_owned(),
            is_problem: false,
        };
    };
    let problem = problem(file, &model.attachments, model);
    let separator = format!(" {} ", model.screen.glyphs.dot);
    let tokens = match read.tokens {
        0 => String::new(),
        tokens => format!("{separator}~{} tokens", group_digits(tokens as usize)),
    };
    let size = format!("{}{tokens}", description(&read.attachment, &separator));
    AttachmentRow {
        name,
        is_problem: problem.is_some(),
        details: problem.unwrap_or(size),
    }
}

/// Why the file cannot or should not be sent.
fn problem(file: &AttachedFile, list: &AttachmentList, model: &UiModel) -> Option<String> {
    let read = file.read.as_ref()?;
    let selected = model.engine.selected.as_ref();
    if read.attachment.is_image() && list.support_of(selected) == ImageSupport::No {
        let name = Clean::single_line(model.engine.model_name());
        return Some(format!("{} takes no images", name.as_str()));
    }
    let limit = model.engine.context_meter.limit;
    if let Some(limit) = limit.filter(|limit| read.tokens > *limit) {
        let (tokens, limit) = (
            group_digits(read.tokens as usize),
            group_digits(limit as usize),
        );
        return Some(format!(
            "~{tokens} tokens, more than the context of {limit}"
        ));
    }
    read.may_hold_secrets.then(|| "may hold secrets".to_owned())
}
