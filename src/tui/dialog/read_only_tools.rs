//! The choice to always run those tools that their server marks as read-only. Nobody checks these
//! marks, so the choice names every tool, and is made only where the names are shown.

use crate::domain::tool::ToolCall;
use crate::domain::{Decision, Pin, Server, Tool};
use crate::protocol::{CallToApprove, UserAnswer};
use crate::text::Clean;
use crate::tui::dialog::state::{Dialog, DialogAction, DialogChoice, DialogPage};
use crate::tui::keymap::Keymap;
use crate::tui::keymap::layers::LayerKey;
use crate::tui::layer::SharedUiState;
use std::collections::BTreeMap;

/// The tools that their server marks as read-only.
pub struct ReadOnlyTools {
    pub tools: BTreeMap<String, Pin>,
    /// Number of all tools that the server offers.
    total: usize,
}

impl ReadOnlyTools {
    /// `None` if the called tool is not marked as read-only, or if all tools are: then the choice for
    /// the whole server has the same effect.
    pub fn of_call(offered: &CallToApprove, call: &ToolCall, servers: &[Server]) -> Option<Self> {
        let server = servers.iter().find(|server| server.id == call.server)?;
        let is_read_only = |tool: &Tool| tool.annotations.read_only == Some(true);
        if !is_read_only(&offered.tool) {
            return None;
        }
        let read_only = server.available_tools().filter(|tool| is_read_only(tool));
        let identity = |tool: &Tool| (tool.name.clone(), tool.pin.clone());
        let mut tools: BTreeMap<String, Pin> = read_only.map(identity).collect();
        // The user consents to the definition that the dialog shows.
        tools.extend([identity(&offered.tool)]);
        let total = server.available_tools().count();
        (tools.len() < total).then_some(Self { tools, total })
    }

    pub fn choice(&self, keymap: &Keymap) -> DialogChoice {
        let (count, total) = (self.tools.len(), self.total);
        DialogChoice {
            action: DialogAction::RunReadOnly,
            digit: None,
            answer: Some(LayerKey::RunReadOnly),
            keys: keymap.answer_letters(LayerKey::RunReadOnly).collect(),
            alias: None,
            short: "read-only".to_owned(),
            label: format!(
                "Always run only the tools that it marks as read-only ({count} of {total})"
            ),
        }
    }

    /// The names of these tools, and the limits of the choice.
    pub fn scope(&self) -> String {
        let names = self.tools.keys().map(|name| Clean::quoted_if_needed(name));
        let names: Vec<String> = names.map(|name| name.to_string()).collect();
        format!(
            "{}, with any arguments. Only the server says that they are read-only. Tools added or \
             changed later are not included.",
            names.join(", ")
        )
    }
}

/// One step per key press: opens the page that names the tools, then scrolls down by pages, and
/// grants the tools once the last name is visible.
pub fn list_or_grant(shared: SharedUiState, dialog: &mut Dialog) -> Option<UserAnswer> {
    if dialog.page() != DialogPage::Lasting {
        dialog.show_page(DialogPage::Lasting);
        return None;
    }
    let rows = dialog.choices(shared);
    let is_choice = |row: &DialogChoice| row.action == DialogAction::RunReadOnly;
    if !dialog.shows_end_of(rows.iter().position(is_choice)?) {
        dialog.scroll_by(dialog.page_rows());
        return None;
    }
    let offered = dialog.call()?;
    let call = shared.transcript.call(offered.call)?;
    let tools = ReadOnlyTools::of_call(offered, call, shared.servers)?.tools;
    dialog.decide(Decision::RunReadOnly { tools })
}
