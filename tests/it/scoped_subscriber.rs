//! Sets a `tracing` subscriber for one test, while other tests run in other threads.

use std::sync::LazyLock;
use tracing::subscriber::DefaultGuard;
use tracing::{Dispatch, Subscriber};

/// Lives as long as the process. If there is only one dispatcher, `tracing` asks the subscriber of
/// the current thread whether a new call site is of interest. A thread without a subscriber would
/// then switch the call site off for the test, too.
static SECOND_DISPATCH: LazyLock<Dispatch> =
    LazyLock::new(|| Dispatch::new(tracing_subscriber::registry()));

/// Makes `subscriber` the default of this thread until the guard is dropped.
pub fn set_scoped_subscriber(subscriber: impl Subscriber + Send + Sync + 'static) -> DefaultGuard {
    LazyLock::force(&SECOND_DISPATCH);
    tracing::subscriber::set_default(subscriber)
}
