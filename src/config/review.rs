//! Decides which differences between the running configuration and the files apply at once.
//! A tool can write these files, so changes that could give it power or redirect a
//! conversation need the user's consent. Every field is destructured here, so a new field
//! does not compile until it is reviewed.

mod describe;
mod models;
mod servers;
mod taken;
#[cfg(test)]
mod tests;
mod trust;

use super::{Known, Settings};
use crate::domain::model::Limits;
use crate::domain::{Change, Launch, ModelConfig, Persona, ServerId, ToolMode, Weight};
use describe::{differing, named};
pub use models::use_of;
use std::collections::BTreeMap;
use std::sync::Arc;
pub use taken::{is_same_leave, taken};

const CONFIG: &str = "config.json";
const SERVERS: &str = "mcp-servers.json";
const PROMPT: &str = "system_prompt.txt";

/// The result of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Weighed {
    pub changes: Vec<Change>,
    /// The configuration with only the harmless changes applied.
    pub harmless: Known,
}

impl Weighed {
    /// The changes of one weight, in file order.
    pub fn of(&self, weight: Weight) -> Vec<Change> {
        let changes = self.changes.iter();
        let found = changes.filter(|change| change.weight == weight);
        found.cloned().collect()
    }
}

/// Entries that were in use earlier in this run. To the user, an entry that is removed and
/// added back with other contents is still the same name.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    models: Vec<ModelConfig>,
    launches: BTreeMap<ServerId, Launch>,
}

impl Memory {
    pub fn remember(&mut self, known: &Known) {
        for model in &known.settings.models {
            self.models.retain(|old| old.name != model.name);
            self.models.push(model.clone());
        }
        for server in &known.servers {
            // A broken entry does not replace the earlier launch, which a repair is compared to.
            if !matches!(server.launch, Launch::Misconfigured { .. }) {
                self.launches
                    .insert(server.id.clone(), server.launch.clone());
            }
        }
    }
}

/// Compares the running configuration with the files.
pub fn weigh(before: &Known, after: &Known, memory: &Memory) -> Weighed {
    let mut scale = Scale::default();
    let Known {
        settings,
        servers,
        system_prompt,
        personas,
        trust,
    } = after;
    let harmless = Known {
        settings: scale.settings(&before.settings, settings, memory),
        servers: servers::weigh(&mut scale, &before.servers, servers, memory),
        system_prompt: scale.system_prompt(&before.system_prompt, system_prompt),
        personas: scale.personas(&before.personas, personas),
        trust: match Arc::ptr_eq(&before.trust, trust) {
            true => Arc::clone(trust),
            false => Arc::new(trust::weigh(&mut scale, &before.trust, trust)),
        },
    };
    Weighed {
        changes: scale.changes,
        harmless,
    }
}

/// Collects changes. Each method returns its value with the harmless changes applied.
#[derive(Default)]
struct Scale {
    changes: Vec<Change>,
}

impl Scale {
    fn say(&mut self, file: &str, what: impl Into<String>) {
        self.changes.push(Change::harmless(file, what));
    }

    fn ask(
        &mut self,
        file: &str,
        what: impl Into<String>,
        before: Option<String>,
        after: Option<String>,
    ) {
        let change = Change::needs_consent(file, what, before, after);
        self.changes.push(change);
    }

    /// A value that may change without consent.
    fn free<T: PartialEq + Copy>(
        &mut self,
        before: T,
        after: T,
        describe: impl FnOnce() -> String,
    ) -> T {
        if before != after {
            self.say(CONFIG, describe());
        }
        after
    }

    /// A limit: lowering it is harmless, raising it needs consent.
    fn bound(&mut self, name: &str, before: u32, after: u32) -> u32 {
        if after <= before {
            return self.free(before, after, || format!("{name} is {after} now"));
        }
        let [old, new] = [before, after].map(|value| Some(value.to_string()));
        self.ask(CONFIG, format!("`{name}`"), old, new);
        before
    }

    fn settings(&mut self, before: &Settings, after: &Settings, memory: &Memory) -> Settings {
        let Settings {
            models,
            log_level,
            tool_mode,
            limits,
            // Follows from the models.
            lists_models,
        } = after;
        Settings {
            models: models::weigh(self, &before.models, models, memory),
            log_level: self.free(before.log_level, *log_level, || {
                let level = log_level.as_str().to_lowercase();
                format!("logLevel is {level} now")
            }),
            tool_mode: self.tool_mode(before.tool_mode, *tool_mode),
            limits: self.limits(&before.limits, limits),
            lists_models: *lists_models,
        }
    }

    fn tool_mode(&mut self, before: ToolMode, after: ToolMode) -> ToolMode {
        if before == after || after == ToolMode::Manual {
            return self.free(before, after, || {
                format!("toolCallMode is {} now", after.name())
            });
        }
        let [old, new] = [before, after].map(|mode| Some(mode.name().to_owned()));
        self.ask(
            CONFIG,
            "`toolCallMode`: tools would run without asking",
            old,
            new,
        );
        before
    }

    fn limits(&mut self, before: &Limits, after: &Limits) -> Limits {
        let Limits {
            tool_rounds,
            errors_per_turn,
            idle_seconds,
        } = after;
        let (rounds, errors) = ("limits.toolRounds", "limits.errorsPerTurn");
        Limits {
            tool_rounds: self.bound(rounds, before.tool_rounds, *tool_rounds),
            errors_per_turn: self.bound(errors, before.errors_per_turn, *errors_per_turn),
            idle_seconds: self.free(before.idle_seconds, *idle_seconds, || {
                format!("limits.idleSeconds is {idle_seconds} now")
            }),
        }
    }

    /// All of the prompt steers the model, so every change needs consent.
    fn system_prompt(&mut self, before: &str, after: &str) -> String {
        if before != after {
            let (old, new) = differing(before, after);
            self.ask(PROMPT, "the system prompt", old, new);
        }
        before.to_owned()
    }

    fn personas(&mut self, before: &[Persona], after: &[Persona]) -> Vec<Persona> {
        let names = before.iter().chain(after).map(|persona| &persona.name);
        let names: std::collections::BTreeSet<&String> = names.collect();
        for name in names {
            let find =
                |list: &[Persona]| list.iter().find(|persona| persona.name == *name).cloned();
            let (old, new) = (find(before), find(after));
            if old == new {
                continue;
            }
            let file = format!("personas/{name}.md");
            let what = match (&old, &new) {
                (None, _) => "a new persona",
                (_, None) => "the persona was removed",
                _ => "the persona",
            };
            let (old, new) = (old.as_ref().map(whole), new.as_ref().map(whole));
            let (old, new) = match (&old, &new) {
                (Some(old), Some(new)) => differing(old, new),
                _ => (old, new),
            };
            self.ask(&file, what, old, new);
        }
        before.to_vec()
    }
}

/// All fields of a persona as one text, since each of them matters.
fn whole(persona: &Persona) -> String {
    let Persona {
        name: _,
        about,
        text,
        tools,
    } = persona;
    let tools = match tools {
        None => "all".to_owned(),
        Some(tools) => named(tools.iter().map(|tool| tool.written())),
    };
    let text = match text {
        Ok(text) => text.clone(),
        Err(why) => format!("(cannot be used: {why})"),
    };
    format!("description: {about}\ntools: {tools}\n{text}")
}
