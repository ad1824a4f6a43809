//! `/set-model`, `/models`, `/think` and `/persona`.

use super::lists::picked;
use super::pending::PendingReply;
use super::state::Linear;
use crate::domain::model_catalog::format_size;
use crate::domain::{CatalogState, ModelCatalog, ModelRef, ModelServer, Notice, Think};
use crate::protocol::Command;
use crate::text::Clean;
use crate::text::suggest::nearest;
use crate::tui::models::select::{think_usage, think_values};
use std::sync::Arc;

impl Linear {
    /// `/set-model [NUMBER|NAME]`: lists the configured models with numbers. Names come first, because
    /// a name may be a number.
    pub fn set_model(&mut self, argument: &str) {
        let models = self.engine.models.clone();
        if argument.is_empty() {
            return self.list_models(models);
        }
        let named = models.iter().find(|model| model.name == argument);
        let number = argument.parse::<usize>();
        match (named.or_else(|| picked(&models, argument)), number) {
            (Some(model), _) => self.select_model(model.clone()),
            (None, Ok(0)) => self.say("Nothing was changed."),
            (None, Ok(_)) => {
                self.say(&format!(
                    "Please enter a number from 0 to {}.",
                    models.len()
                ));
            }
            (None, Err(_)) => {
                if let Some(server) = self.engine.catalog.server_with(argument) {
                    let (server, model) = (server.clone(), argument.to_owned());
                    return self.send(Command::UseModel { server, model });
                }
                let name = Clean::name(argument);
                let names = models.iter().map(|model| model.name.as_str());
                let advice = match nearest(argument, names) {
                    Some(similar) => format!("Did you mean `{}`?", Clean::name(similar)),
                    None => "/models lists the models of all servers.".to_owned(),
                };
                let notice = Notice::warning(format!("No model `{name}` is configured."));
                self.notify(notice.with_advice(advice));
            }
        }
    }

    fn list_models(&mut self, models: Vec<ModelRef>) {
        if models.is_empty() {
            self.say("config.json lists no model. These are the models of the servers that run:");
            return self.models("");
        }
        let selected = self.engine.selected.clone();
        let rows = models.iter().map(|model| {
            let is_selected = selected.as_ref() == Some(model);
            let note = if is_selected { "in use" } else { "" };
            (model.name.clone(), note.to_owned())
        });
        let rows: Vec<(String, String)> = rows.collect();
        self.pick("Models", self.keep_label(), &rows, move |linear, index| {
            linear.select_model(models[index].clone());
        });
    }

    /// The label of 0 in a list of models.
    fn keep_label(&self) -> &'static str {
        match self.engine.selected {
            Some(_) => "Keep the present model",
            None => "Change nothing",
        }
    }

    fn select_model(&mut self, model: ModelRef) {
        if self.engine.selected.as_ref() == Some(&model) {
            self.say(&format!("{} is already in use.", model.name));
        }
        self.send(Command::SelectModel(model));
    }

    /// `/models [keep|pull NAME|rm NAME|stop]`. Without an argument, lists the models of all servers.
    pub fn models(&mut self, argument: &str) {
        let (word, name) = argument
            .split_once(char::is_whitespace)
            .unwrap_or((argument, ""));
        let name = name.trim().to_owned();
        match (word, name.is_empty()) {
            ("", _) => {
                self.pending = PendingReply::Models;
                self.send(Command::ListCatalog);
            }
            ("keep", true) => self.send(Command::KeepModel),
            ("pull", false) => self.send(Command::PullModel { server: None, name }),
            ("rm", false) => self.send(Command::RemoveModel { server: None, name }),
            ("stop", true) => self.send(Command::StopPull),
            _ => self.say("Usage: /models [keep | pull NAME | rm NAME | stop]"),
        }
    }

    /// Lists the models once every server has replied.
    pub fn catalog_changed(&mut self, catalog: Arc<ModelCatalog>) {
        self.engine.catalog = catalog;
        let mut servers = self.engine.catalog.servers.iter();
        let is_loading = servers.any(|entry| matches!(entry.state, CatalogState::Loading));
        if matches!(self.pending, PendingReply::Models) && !is_loading {
            self.pending = PendingReply::None;
            self.list_catalog();
        }
    }

    fn list_catalog(&mut self) {
        let mut models: Vec<(ModelServer, String)> = Vec::new();
        let mut rows = Vec::new();
        let catalog = self.engine.catalog.clone();
        for entry in &catalog.servers {
            let host = Clean::single_line(&entry.server.host());
            match &entry.state {
                CatalogState::Loading => self.say(&format!("{host}: asked, no reply yet.")),
                CatalogState::Failed(notice) => self.notify(notice.clone()),
                CatalogState::Listed(list) => {
                    for listed in &list.models {
                        let size = listed.bytes.map(format_size);
                        let note = [Some(host.as_str()), size.as_deref()];
                        let note: Vec<&str> = note.into_iter().flatten().collect();
                        rows.push((listed.name.clone(), note.join(", ")));
                        models.push((entry.server.clone(), listed.name.clone()));
                    }
                }
            }
        }
        if models.is_empty() {
            return self.say("No server lists a model. A model is added in config.json.");
        }
        let title = "Models of all servers (/models pull NAME adds one)";
        self.pick(title, self.keep_label(), &rows, move |linear, index| {
            let (server, model) = models[index].clone();
            linear.send(Command::UseModel { server, model });
        });
    }

    /// `/think [on|off|LEVEL]`.
    pub fn think(&mut self, argument: &str) {
        let values = think_values(self.engine.selected.as_ref());
        let word = argument.to_lowercase();
        if let Some(think) = values.iter().find(|think| think.word() == word) {
            return self.set_think(*think);
        }
        if !argument.is_empty() {
            return self.say(&think_usage(values));
        }
        if self.engine.selected.is_none() {
            return self.say("No model is selected yet. /set-model lists the models.");
        }
        let row = |think: &Think| {
            let is_current = self.engine.think == Some(*think);
            let note = if is_current { "in use" } else { "" };
            (think.word().to_owned(), note.to_owned())
        };
        let rows: Vec<_> = values.iter().map(row).collect();
        self.pick(
            "Thinking",
            "Keep the current setting",
            &rows,
            |linear, index| {
                linear.set_think(values[index]);
            },
        );
    }

    fn set_think(&mut self, think: Think) {
        let name = self.engine.model_name().to_owned();
        self.say(&format!(
            "Thinking for {name}: {}, until humble exits.",
            think.word()
        ));
        self.send(Command::SetThink(think));
    }

    pub fn toggle_thinking(&mut self) {
        self.end_thinking();
        self.turn.hides_thinking = !self.turn.hides_thinking;
        self.say(match self.turn.hides_thinking {
            true => "Thinking is no longer printed. /thinking prints it again.",
            false => "Thinking is printed.",
        });
    }

    /// `/persona [NAME|off]`.
    pub fn set_persona(&mut self, argument: &str) {
        let personas = self.engine.personas.clone();
        let exists = personas.iter().any(|persona| persona.name == argument);
        if !argument.is_empty() && (exists || argument.parse::<usize>().is_err()) {
            let is_off = argument == "off" && !exists;
            let persona = (!is_off).then(|| argument.to_owned());
            return self.send(Command::SelectPersona(persona));
        }
        let mut names: Vec<Option<String>> = vec![None];
        names.extend(personas.iter().map(|persona| Some(persona.name.clone())));
        if let Some(name) = picked(&names, argument) {
            return self.send(Command::SelectPersona(name.clone()));
        }
        let mut rows = vec![("none".to_owned(), "system_prompt.txt".to_owned())];
        let row = |name: &str, description: &str| (name.to_owned(), description.to_owned());
        rows.extend(
            personas
                .iter()
                .map(|persona| row(&persona.name, &persona.description)),
        );
        self.pick(
            "Personas",
            "Keep the current persona",
            &rows,
            move |linear, index| {
                linear.send(Command::SelectPersona(names[index].clone()));
            },
        );
    }
}
