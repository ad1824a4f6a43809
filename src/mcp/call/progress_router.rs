//! Routes progress notifications to their calls.

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
    /// Subscribes to the progress of one request until [`Self::unsubscribe`]. A watch channel keeps
    /// only the newest value, so a flood of progress does not use memory.
    pub fn subscribe(&self, token: ProgressToken) -> watch::Receiver<Option<ToolProgress>> {
        let (sender, receiver) = watch::channel(None);
        lock_ignoring_poison(&self.0).insert(token, sender);
        receiver
    }

    pub fn unsubscribe(&self, token: &ProgressToken) {
        lock_ignoring_poison(&self.0).remove(token);
    }

    /// Handles the `params` of `notifications/progress`. Returns false if they are invalid.
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
