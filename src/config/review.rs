//! Which differences between what is in force and what the files say may come into
//! force by themselves (S1.4). A tool can write these files: whatever could give it
//! power, or lead a conversation elsewhere, waits for the person. Every field is
//! named here, so that a new one does not compile before it has been weighed.

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

/// What came of comparing.
#[derive(Debug, Clone, PartialEq)]
pub struct Weighed {
    pub changes: Vec<Change>,
    /// What is in force once the harmless changes are, and no other.
    pub harmless: Known,
}

impl Weighed {
    /// The changes of one weight, in the order of the files.
    pub fn of(&self, weight: Weight) -> Vec<Change> {
        let changes = self.changes.iter();
        let found = changes.filter(|change| change.weight == weight);
        found.cloned().collect()
    }
}

/// What was in force before in this run. An entry that is taken out of a file and
/// put back as something else is still the same name to the person.
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
            // A broken entry says nothing: the launch before it counts when it is mended.
            if !matches!(server.launch, Launch::Misconfigured { .. }) {
                self.launches
                    .insert(server.id.clone(), server.launch.clone());
            }
        }
    }
}

/// Compares what is in force with what the files say.
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

/// Collects changes; each method returns what is in force after the harmless ones.
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

    /// A value that may change by itself.
    fn free<T: PartialEq + Copy>(
        &mut self,
        before: T,
        after: T,
        said: impl FnOnce() -> String,
    ) -> T {
        if before != after {
            self.say(CONFIG, said());
        }
        after
    }

    /// A bound: a tighter one is harmless, a looser one is not.
    fn bound(&mut self, name: &str, before: u32, after: u32) -> u32 {
        if after <= before {
            return self.free(before, after, || format!("{name} is {after} now"));
        }
        let values = [before, after].map(|value| Some(value.to_string()));
        let [old, new] = values;
        self.ask(CONFIG, format!("`{name}`"), old, new);
        before
    }

    fn settings(&mut self, before: &Settings, after: &Settings, memory: &Memory) -> Settings {
        let Settings {
            models,
            log_level,
            tool_mode,
            limits,
            // It follows from the models.
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
        self.ask(CONFIG, "`toolCallMode`: tools would run unasked", old, new);
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

    /// Every word of it steers the model: none changes unseen.
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
            let find = |list: &[Persona]| list.iter().find(|one| one.name == *name).cloned();
            let (old, new) = (find(before), find(after));
            if old == new {
                continue;
            }
            let file = format!("personas/{name}.md");
            let what = match (&old, &new) {
                (None, _) => "a new persona",
                (_, None) => "the persona is gone",
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

/// A persona as one text: every field of it, since every one of them counts.
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
