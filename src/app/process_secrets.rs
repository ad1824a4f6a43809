//! The one registry of secrets of this process, shared by its log, servers and model servers.

use crate::domain::SecretRegistry;
use crate::provider::Provider;
use std::sync::LazyLock;

/// The secrets that this process holds.
pub(super) fn secrets() -> SecretRegistry {
    static SECRETS: LazyLock<SecretRegistry> = LazyLock::new(SecretRegistry::default);
    SECRETS.clone()
}

/// A provider that uses the network and shares [`secrets`].
pub(super) fn network_provider() -> Provider {
    Provider::with_secrets(secrets())
}
