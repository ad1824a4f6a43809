//! The one registry of the secrets that the program holds. Whoever reads or receives a secret adds
//! it, before it is used; whoever lets text in from a server, or out to a log or an export, passes
//! the text through the registry.

use super::{HIDDEN, Redactor};
use crate::domain::model::Secret;
use crate::domain::secrets::{ConfigSecrets, is_credential, is_random_token};
use serde_json::Value;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, TryLockError};

/// Longer tokens are not recognized.
const TOKEN_BYTES_MAX: usize = 8 << 10;

/// Clones share their secrets. A secret stays known until the program ends, because text that
/// contains it may arrive long after its last use.
#[derive(Debug, Clone, Default)]
pub struct SecretRegistry(Arc<RwLock<KnownSecrets>>);

#[derive(Debug, Default)]
struct KnownSecrets {
    /// All secrets. For text about a server: its log, errors, notices and reports.
    all: Arc<Redactor>,
    /// Secrets that cannot be mistaken for ordinary words. For messages, whose text must otherwise
    /// stay as it is.
    credentials: Arc<Redactor>,
}

impl SecretRegistry {
    /// Adds the secrets of a part of the settings.
    pub fn add(&self, secrets: ConfigSecrets) {
        self.add_values(secrets.values);
        self.add_credentials(secrets.credentials);
    }

    fn add_values(&self, secrets: Vec<Secret>) {
        if !self.redactor().knows_all(&secrets) {
            let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
            Arc::make_mut(&mut known.all).add_secrets(secrets);
        }
    }

    /// Adds keys, tokens and passwords. Those that could be ordinary words, such as the key
    /// `ollama`, are not removed from messages.
    pub fn add_credentials(&self, secrets: impl IntoIterator<Item = Secret>) {
        let secrets: Vec<Secret> = secrets.into_iter().collect();
        let mut clear = secrets.clone();
        clear.retain(|secret| is_credential(secret.expose()));
        self.add_values(secrets);
        if !self.credentials().knows_all(&clear) {
            let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
            Arc::make_mut(&mut known.credentials).add_secrets(clear);
        }
    }

    /// Adds tokens and codes of a sign-in. A server chose them, so only those that can be no text of
    /// somebody else are removed from messages.
    pub fn add_tokens(&self, tokens: impl IntoIterator<Item = Secret>) {
        let mut tokens: Vec<Secret> = tokens.into_iter().collect();
        tokens.retain(|token| token.expose().len() <= TOKEN_BYTES_MAX);
        let mut random = tokens.clone();
        random.retain(|token| is_random_token(token.expose()));
        if !self.redactor().knows_all(&tokens) || !self.credentials().knows_all(&random) {
            let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
            Arc::make_mut(&mut known.all).add_tokens(tokens);
            Arc::make_mut(&mut known.credentials).add_tokens(random);
        }
    }

    /// Hides all secrets, and text that is secret by its context.
    pub fn redact(&self, text: &str) -> String {
        self.redactor().redact(text)
    }

    /// Like [`Self::redact`], for at most `bytes_max` bytes of `text`; see
    /// [`Redactor::redact_prefix`].
    pub fn redact_prefix(&self, text: &str, bytes_max: usize) -> (String, usize) {
        self.redactor().redact_prefix(text, bytes_max)
    }

    /// Like [`Self::redact`], but never waits for another thread: hides everything if secrets are
    /// being added at this moment. For the panic hook.
    pub fn redact_at_once(&self, text: &str) -> String {
        match self.0.try_read() {
            Ok(known) => known.all.redact(text),
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner().all.redact(text),
            Err(TryLockError::WouldBlock) => HIDDEN.to_owned(),
        }
    }

    /// Hides all known values, but nothing that only looks like a secret.
    pub fn redact_known_values(&self, text: &str) -> String {
        self.redactor().redact_known_values(text)
    }

    /// Hides the credentials in every string and every key of a message. Returns whether there were
    /// any.
    pub fn redact_message(&self, message: &mut Value) -> bool {
        self.credentials().redact_value(message)
    }

    /// Hides the credentials in a text that must otherwise stay as it is.
    pub fn redact_credentials(&self, text: &str) -> String {
        self.credentials().redact_known_values(text)
    }

    pub(super) fn credentials(&self) -> Arc<Redactor> {
        Arc::clone(&self.read().credentials)
    }

    fn redactor(&self) -> Arc<Redactor> {
        Arc::clone(&self.read().all)
    }

    fn read(&self) -> RwLockReadGuard<'_, KnownSecrets> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
}
