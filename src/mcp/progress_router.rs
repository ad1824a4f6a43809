//! Routes progress notifications to the calls that they are about.

use crate::domain::ToolProgress;
use crate::sync::lock_ignoring_poison;
use rmcp::model::ProgressToken;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Mutex;
use tokio::sync::watch;

#[derive(Debug, Default)]
pub struct ProgressRouter(Mutex<HashMap<ProgressToken, watch::Sender<Option<ToolProgress>>>>);

impl ProgressRouter {
    /// The progress of one request, from now until [`Self::forget`]. A watch keeps the newest only: a
    /// flood of progress costs nothing.
    pub fn subscribe(&self, token: ProgressToken) -> watch::Receiver<Option<ToolProgress>> {
        let (sender, receiver) = watch::channel(None);
        lock_ignoring_poison(&self.0).insert(token, sender);
        receiver
    }

    pub fn unsubscribe(&self, token: &ProgressToken) {
        lock_ignoring_poison(&self.0).remove(token);
    }

    /// Takes `params` of `notifications/progress`. False where they cannot be read.
    pub fn deliver(&self, params: &Value) -> bool {
        let token = params.get("progressToken").cloned().unwrap_or_default();
        let (Ok(token), Some(done)) = (
            serde_json::from_value::<ProgressToken>(token),
            params.get("progress").and_then(Value::as_f64),
        ) else {
            return false;
        };
        if let Some(sender) = lock_ignoring_poison(&self.0).get(&token) {
            let total = params.get("total").and_then(Value::as_f64);
            let message = params.get("message").and_then(Value::as_str);
            sender.send_replace(Some(ToolProgress::new(done, total, message)));
        }
        true
    }
}
