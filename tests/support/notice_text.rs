//! A notice on one line, in which its advice is data: each front end has its own words.

use humble::domain::{Advice, Notice};

pub fn notice_text(notice: &Notice) -> String {
    notice.to_sentence(|advice| {
        Some(match advice {
            Advice::Sentence(sentence) => sentence.clone(),
            other => format!("[{other:?}]"),
        })
    })
}
