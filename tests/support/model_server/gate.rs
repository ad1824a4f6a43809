//! What holds a reply of the model server back until a test lets it go on.
#![allow(dead_code, reason = "each test crate uses a part of it")]

use std::sync::Arc;
use tokio::sync::watch;

/// Holds a reply back until it is opened.
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
        // The sender lives in `self`.
        let _ = gate.wait_for(|is_open| *is_open).await;
    }
}
