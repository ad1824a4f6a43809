//! Formats a notice on one line. Advice appears as data, because each front end words it
//! differently.

use humble::domain::{Advice, Notice};

pub fn notice_text(notice: &Notice) -> String {
    notice.to_sentence(|advice| {
        Some(match advice {
            Advice::Sentence(sentence) => sentence.clone(),
            other => format!("[{other:?}]"),
        })
    })
}
