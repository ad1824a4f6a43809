//! The servers of another client as text. Every value comes from outside, so each is on a line of
//! its own, in quotes if it would otherwise be ambiguous.

use crate::domain::{ImportPlan, ImportSource, ServerCandidate, SkippedServer, variables_of};
use crate::text::Clean;
use crate::text::labeled::labeled_value;

const ENTER_THEN: &str = "Or enter the values then.";
const COPY_NOW: &str = "c copies the client's values for the marked server.";
pub const STORED_SECRETS: &str =
    "The values behind `stores` go into mcp-servers.json, which only you can read.";
/// Columns of both margins of the window around a text.
pub const MARGIN_COLUMNS: u16 = 2;

/// For example `3 servers, 1 skipped`.
pub fn plan_summary(plan: &ImportPlan) -> String {
    let count = plan.candidates.len();
    let plural = if count == 1 { "" } else { "s" };
    let servers = format!("{count} server{plural}");
    match plan.skipped.len() {
        0 => servers,
        skipped => format!("{servers}, {skipped} skipped"),
    }
}

/// The files of the client, on one line.
pub fn files_line(source: &ImportSource) -> String {
    let files = source.files.iter();
    let files = files.map(|file| {
        Clean::single_line(&file.to_string_lossy())
            .as_str()
            .to_owned()
    });
    files.collect::<Vec<_>>().join(", ")
}

/// Which servers will be added.
#[derive(Debug, Clone, Default)]
pub struct ImportChoice {
    /// In the order of the plan.
    pub chosen: Vec<bool>,
    /// Index of the server that Space includes or leaves out.
    pub marked: usize,
}

impl ImportChoice {
    /// All servers of the plan.
    pub fn all(plan: &ImportPlan) -> Self {
        Self {
            chosen: vec![true; plan.candidates.len()],
            marked: 0,
        }
    }

    /// Whether there is anything to choose between.
    pub fn is_offered(&self) -> bool {
        self.chosen.len() > 1
    }

    pub fn count(&self) -> usize {
        self.chosen.iter().filter(|chosen| **chosen).count()
    }

    pub fn is_marked_chosen(&self) -> bool {
        self.chosen.get(self.marked) == Some(&true)
    }

    pub fn toggle(&mut self) {
        if let Some(chosen) = self.chosen.get_mut(self.marked) {
            *chosen = !*chosen;
        }
    }

    /// Marks another server.
    pub fn step(&mut self, is_forward: bool) {
        let count = self.chosen.len().max(1);
        let by = if is_forward { 1 } else { count - 1 };
        self.marked = (self.marked + by) % count;
    }

    /// Its length never changes, so that the rows do not move.
    fn prefix(&self, index: usize) -> &'static str {
        match (self.is_offered(), index == self.marked, self.chosen[index]) {
            (false, ..) => "",
            (true, true, true) => "> [x] ",
            (true, true, false) => "> [ ] ",
            (true, false, true) => "  [x] ",
            (true, false, false) => "  [ ] ",
        }
    }
}

/// The servers with everything that they run or reach, and those that are skipped, for a screen of
/// this width. Also returns where the marked server begins.
pub fn plan_text(
    files: &str,
    plan: &ImportPlan,
    choice: &ImportChoice,
    columns: u16,
) -> (String, usize) {
    let columns = columns.saturating_sub(MARGIN_COLUMNS);
    let mut text = format!("From {files}\n");
    let mut marked_at = 0;
    for (index, candidate) in plan.candidates.iter().enumerate() {
        if index == choice.marked {
            marked_at = text.len();
        }
        text += &candidate_text(candidate, choice.prefix(index), columns);
    }
    if !plan.skipped.is_empty() {
        text.push('\n');
    }
    for SkippedServer { name, reason, .. } in &plan.skipped {
        let (name, reason) = (Clean::name(name), Clean::unambiguous_line(reason));
        text += &format!("Skipped {}: {}.\n", name.as_str(), reason.as_str());
    }
    if plan.candidates.is_empty() {
        text += "\nThere is nothing to add.\n";
    }
    let chosen = plan.candidates.iter().zip(&choice.chosen);
    let chosen = chosen.filter(|(_, chosen)| **chosen);
    let chosen: Vec<ServerCandidate> = chosen.map(|(candidate, _)| candidate.clone()).collect();
    let variables = variables_of(&chosen);
    if !variables.is_empty() {
        let these = match variables.len() {
            1 => "this variable",
            _ => "these variables",
        };
        let servers = match chosen.len() {
            1 => "server",
            _ => "servers",
        };
        let names = variables.join(", ");
        text +=
            &format!("\nSet {these} before you switch the {servers} on: {names}. {ENTER_THEN}\n");
    }
    let can_store = |candidate: &ServerCandidate| {
        !candidate.replaced_secrets.is_empty() && !candidate.stores_secrets()
    };
    if chosen.iter().any(can_store) {
        text += &format!("{COPY_NOW}\n");
    }
    if chosen.iter().any(ServerCandidate::stores_secrets) {
        text += &format!("\n{STORED_SECRETS}\n");
    }
    (text, marked_at)
}

pub fn candidate_text(candidate: &ServerCandidate, prefix: &str, columns: u16) -> String {
    let name = Clean::name(&candidate.server.name);
    let mut text = format!("\n{prefix}{}\n", name.as_str());
    for (label, value) in candidate.fields() {
        text += &labeled_value(label, &value, Some(columns));
    }
    text
}
