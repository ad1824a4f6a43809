//! A notice about `"toolCalls": "native"` of Ollama models. Earlier versions wrote the setting for
//! models that were chosen in the program; the file does not show whether the user wrote it.

use super::Home;
use crate::domain::{Advice, Dialect, ModelConfig, Notice, ProviderKind};
use crate::files;
use std::io::ErrorKind;

/// The notice that names the models with this setting, once for each home: a file in `cache/` records
/// that the home was checked. A home in which such a version never ran is checked at its first start,
/// when it has no models, so a setting made later is not questioned.
pub fn take_native_calls_notice(home: &Home, models: &[ModelConfig]) -> Option<Notice> {
    let checked = home.native_calls_checked();
    if checked.exists() {
        return None;
    }
    let created = files::create_new(&checked, b"", files::PRIVATE_MODE);
    // Another program has just checked it.
    if created.is_err_and(|error| error.kind() == ErrorKind::AlreadyExists) {
        return None;
    }
    let is_affected = |model: &&ModelConfig| {
        model.provider == ProviderKind::Ollama && model.dialect == Dialect::Native
    };
    let affected = models.iter().filter(is_affected);
    let names: Vec<&str> = affected.map(|model| model.name.as_str()).collect();
    if names.is_empty() {
        return None;
    }
    let text = format!(
        "config.json sets `toolCalls` to `native` for {}.",
        names.join(", ")
    );
    let notice = Notice::info(text)
        .with_reason("An earlier version may have written that. It stays as it is.")
        .with_advice("Without it, the system message describes the tools.");
    Some(notice.with_advice(Advice::Probe))
}
