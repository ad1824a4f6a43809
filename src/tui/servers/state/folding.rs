//! Folding and unfolding in the servers pane. Unfolded rows scroll into view, and one key
//! folds a server from any of its thousands of tools.

use crate::domain::ServerId;
use crate::tui::servers::state::{SideRow, Sidebar, Stand};

impl Sidebar {
    /// Folds or unfolds the selected server or tool, and selects its first row.
    pub fn toggle_chosen(&mut self) {
        let Some(server) = self.chosen_server().map(|server| server.id.clone()) else {
            return;
        };
        let tool = self.chosen_tool().map(|(_, tool)| tool.name.clone());
        match &tool {
            Some(tool) => {
                let key = (server.clone(), tool.clone());
                if !self.tools_unfolded.remove(&key) {
                    self.tools_unfolded.insert(key);
                }
            }
            None => {
                if !self.unfolded.remove(&server) {
                    self.unfolded.insert(server.clone());
                }
            }
        }
        self.stand_on(server, tool);
        self.show_unfolded();
    }

    /// Folds the server that the selected row belongs to, and selects it.
    pub fn fold_chosen(&mut self) {
        let Some(server) = self.chosen_server().map(|server| server.id.clone()) else {
            return;
        };
        self.unfolded.remove(&server);
        self.stand_on(server, None);
    }

    /// Unfolds the server or tool on the selected row.
    pub fn unfold_chosen(&mut self) {
        let is_folded = match self.chosen_row() {
            Some(SideRow::Server(_)) => self
                .chosen_server()
                .is_some_and(|server| !self.is_unfolded(&server.id)),
            Some(SideRow::Tool(..)) => self
                .chosen_tool()
                .is_some_and(|(server, tool)| !self.is_tool_unfolded(&server.id, &tool.name)),
            _ => false,
        };
        if is_folded {
            self.toggle_chosen();
        }
    }

    /// Selects a server and unfolds it.
    pub fn go_to(&mut self, server: &ServerId) {
        self.unfolded.insert(server.clone());
        self.stand_on(server.clone(), None);
        self.show_unfolded();
    }

    fn stand_on(&mut self, server: ServerId, tool: Option<String>) {
        self.lay_out(Some(Stand {
            server,
            tool,
            below: 0,
        }));
    }

    fn show_unfolded(&mut self) {
        let Some(row) = self.chosen_row() else { return };
        let (server, tool) = (row.server(), row.tool());
        let below = self.rows[self.chosen..]
            .iter()
            .take_while(|row| row.server() == server && (tool.is_none() || row.tool() == tool));
        self.unfolded_to = Some(self.chosen + below.count() - 1);
    }
}
