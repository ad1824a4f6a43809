//! The banner about conversations whose last save failed. It stays until each of them is saved.

use super::session_writer::ConversationSeq;
use crate::domain::{Banner, BannerCause, Notice};
use crate::engine::cx::EngineCx;
use crate::store::StoreError;
use std::collections::BTreeMap;

const UNSAVED_SESSION: BannerCause = BannerCause::UnsavedSession;

#[derive(Default)]
pub struct UnsavedConversations {
    /// Why each of them was not saved.
    notices: BTreeMap<ConversationSeq, Notice>,
}

impl UnsavedConversations {
    pub fn handle_saved(&mut self, conversation: ConversationSeq, cx: &mut EngineCx) {
        if self.notices.remove(&conversation).is_none() {
            return;
        }
        self.show(cx);
        if self.notices.is_empty() {
            cx.notice(Notice::info("The conversation is saved again."));
        }
    }

    pub fn handle_failed(
        &mut self,
        conversation: ConversationSeq,
        error: &StoreError,
        cx: &mut EngineCx,
    ) {
        let notice = error
            .notice()
            .with_reason("The save is retried automatically; you can continue.");
        self.notices.insert(conversation, notice);
        self.show(cx);
    }

    /// Shows only the newest conversation, because retries would otherwise keep changing the banner.
    fn show(&self, cx: &mut EngineCx) {
        let Some(notice) = self.notices.values().next_back() else {
            return cx.clear_banner(&UNSAVED_SESSION);
        };
        let banner = cx.banners.get(&UNSAVED_SESSION);
        if banner.is_none_or(|banner| banner.notice != *notice) {
            cx.set_banner(Banner::new(UNSAVED_SESSION, notice.clone()));
        }
    }
}
