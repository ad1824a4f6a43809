//! Checks arguments against schemas on a blocking thread, with a deadline. A check cannot be
//! cancelled, so at most one runs at a time: one that never ends occupies a single thread, and
//! later ones time out as `Unchecked`.

use crate::domain::{ArgumentCheck, SchemaCheck};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::{Instant, timeout_at};

/// Time limit for all checks of one request.
const CHECK_TIME_MAX: Duration = Duration::from_millis(250);

#[derive(Debug, Clone)]
pub struct ArgumentChecker {
    /// Its only permit is held by the running check.
    slot: Arc<Semaphore>,
}

impl Default for ArgumentChecker {
    fn default() -> Self {
        Self {
            slot: Arc::new(Semaphore::new(1)),
        }
    }
}

impl ArgumentChecker {
    /// Returns one result per check, in order, within [`CHECK_TIME_MAX`]. Unfinished checks
    /// are `Unchecked`. Must be awaited within a tokio runtime.
    pub fn run(
        &self,
        checks: Vec<ArgumentCheck>,
    ) -> impl Future<Output = Vec<SchemaCheck>> + Send + 'static {
        let slot = Arc::clone(&self.slot);
        async move {
            let (count, deadline) = (checks.len(), Instant::now() + CHECK_TIME_MAX);
            let mut results = Vec::with_capacity(count);
            if let Ok(Ok(permit)) = timeout_at(deadline, slot.acquire_owned()).await {
                let (sender, mut receiver) = mpsc::channel(count.max(1));
                tokio::task::spawn_blocking(move || {
                    let _permit = permit;
                    for check in checks {
                        if sender.is_closed() || sender.blocking_send(check.run()).is_err() {
                            // The caller has stopped waiting.
                            break;
                        }
                    }
                });
                while let Ok(Some(result)) = timeout_at(deadline, receiver.recv()).await {
                    results.push(result);
                }
            }
            if results.len() < count {
                let unfinished = count - results.len();
                tracing::warn!(
                    "{unfinished} schema checks of tool arguments did not finish in time"
                );
            }
            results.resize(count, SchemaCheck::Unchecked);
            results
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{object, tool_with};
    use serde_json::json;

    fn number_check(value: serde_json::Value) -> ArgumentCheck {
        let schema = json!({ "properties": { "n": { "type": "number" } } });
        ArgumentCheck {
            tool: Arc::new(tool_with("t", schema)),
            arguments: object(json!({ "n": value })),
            may_repair: false,
        }
    }

    #[tokio::test]
    async fn results_of_argument_checks_keep_the_order_of_the_checks() {
        let checker = ArgumentChecker::default();
        let results = checker
            .run(vec![
                number_check(json!(1)),
                number_check(json!("x")),
                number_check(json!(2)),
            ])
            .await;
        assert_eq!(results[0], SchemaCheck::Valid);
        assert!(matches!(results[1], SchemaCheck::Invalid(_)), "{results:?}");
        assert_eq!(results[2], SchemaCheck::Valid);
    }

    #[tokio::test(start_paused = true)]
    async fn checks_behind_a_stuck_check_time_out_as_unchecked() {
        let checker = ArgumentChecker::default();
        // Takes the slot, like a check that never ends.
        let slot_permit = Arc::clone(&checker.slot).acquire_owned().await;
        let started = Instant::now();
        let results = checker
            .run(vec![number_check(json!(1)), number_check(json!(2))])
            .await;
        assert_eq!(results, [SchemaCheck::Unchecked, SchemaCheck::Unchecked]);
        assert_eq!(started.elapsed(), CHECK_TIME_MAX);
        drop(slot_permit);
        assert_eq!(
            checker.run(vec![number_check(json!(1))]).await,
            [SchemaCheck::Valid]
        );
    }
}
