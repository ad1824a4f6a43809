//! A gate that holds back a reply until the test opens it.
#![allow(dead_code, reason = "each test crate uses only some of these items")]

use std::sync::Arc;
use tokio::sync::watch;

#[derive(Debug, Clone)]
pub struct Gate(Arc<watch::Sender<bool>>);

impl Gate {
    pub fn closed() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }

    pub fn open(&self) {
        self.0.send_replace(true);
    }

    pub(super) async fn wait_until_open(&self) {
        let mut gate = self.0.subscribe();
        // Cannot fail: the sender is in `self`.
        let _ = gate.wait_for(|is_open| *is_open).await;
    }
}
