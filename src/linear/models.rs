//! The lists of models, and `/thinking`.

use super::pending::PendingReply;
use super::state::Linear;
use crate::commands::models::select_model;
use crate::domain::model_catalog::format_size;
use crate::domain::{CatalogState, ModelCatalog, ModelServer};
use crate::protocol::Command;
use crate::text::Clean;
use std::sync::Arc;

impl Linear {
    /// The configured models, with numbers.
    pub fn list_models(&mut self) {
        let models = self.engine.models.clone();
        if models.is_empty() {
            self.say("config.json lists no model. These are the models of the servers that run:");
            return self.list_catalog();
        }
        let selected = self.engine.selected.clone();
        let rows = models.iter().map(|model| {
            let is_selected = selected.as_ref() == Some(model);
            let note = if is_selected { "in use" } else { "" };
            (model.name.clone(), note.to_owned())
        });
        let rows: Vec<(String, String)> = rows.collect();
        self.pick("Models", self.keep_label(), &rows, move |linear, index| {
            select_model(linear, models[index].clone());
        });
    }

    /// The label of 0 in a list of models.
    fn keep_label(&self) -> &'static str {
        match self.engine.selected {
            Some(_) => "Keep the present model",
            None => "Change nothing",
        }
    }

    /// Requests the models of all servers, which are listed once every server has replied.
    pub fn list_catalog(&mut self) {
        self.pending = PendingReply::Models;
        self.send(Command::ListCatalog);
    }

    /// Lists the models once every server has replied.
    pub fn catalog_changed(&mut self, catalog: Arc<ModelCatalog>) {
        self.engine.catalog = catalog;
        let mut servers = self.engine.catalog.servers.iter();
        let is_loading = servers.any(|entry| matches!(entry.state, CatalogState::Loading));
        if matches!(self.pending, PendingReply::Models) && !is_loading {
            self.pending = PendingReply::None;
            self.show_catalog();
        }
    }

    fn show_catalog(&mut self) {
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

    pub fn toggle_thinking(&mut self) {
        self.end_thinking();
        self.turn.hides_thinking = !self.turn.hides_thinking;
        self.say(match self.turn.hides_thinking {
            true => "Thinking is no longer printed. /thinking prints it again.",
            false => "Thinking is printed.",
        });
    }
}
