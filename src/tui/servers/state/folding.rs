//! Folding and unfolding in the servers pane. Unfolded rows scroll into view, and one key
//! folds a server from any of its thousands of tools.

use crate::domain::ServerId;
use crate::tui::servers::state::{RowIdentity, ServersPane, ServersPaneRow};

impl ServersPane {
    /// Folds or unfolds the selected server or tool, and selects its first row.
    pub fn toggle_selected_fold(&mut self) {
        let Some(server) = self.selected_server().map(|server| server.id.clone()) else {
            return;
        };
        let tool = self.selected_tool().map(|(_, tool)| tool.name.clone());
        match &tool {
            Some(tool) => {
                let key = (server.clone(), tool.clone());
                if !self.unfolded_tools.remove(&key) {
                    self.unfolded_tools.insert(key);
                }
            }
            None => {
                if !self.unfolded_servers.remove(&server) {
                    self.unfolded_servers.insert(server.clone());
                }
            }
        }
        self.select(server, tool);
        self.reveal_unfolded();
    }

    /// Folds the server that the selected row belongs to, and selects it.
    pub fn fold_selected_server(&mut self) {
        let Some(server) = self.selected_server().map(|server| server.id.clone()) else {
            return;
        };
        self.unfolded_servers.remove(&server);
        self.select(server, None);
    }

    /// Unfolds the server or tool on the selected row.
    pub fn unfold_selected(&mut self) {
        let is_folded = match self.selected_row() {
            Some(ServersPaneRow::Server(_)) => self
                .selected_server()
                .is_some_and(|server| !self.is_unfolded(&server.id)),
            Some(ServersPaneRow::Tool(..)) => self
                .selected_tool()
                .is_some_and(|(server, tool)| !self.is_tool_unfolded(&server.id, &tool.name)),
            _ => false,
        };
        if is_folded {
            self.toggle_selected_fold();
        }
    }

    fn select(&mut self, server: ServerId, tool: Option<String>) {
        self.lay_out(Some(RowIdentity {
            server,
            tool,
            rows_below: 0,
        }));
    }

    /// Makes the next frame show all rows of the selected server or tool, if they fit.
    fn reveal_unfolded(&mut self) {
        let Some(row) = self.selected_row() else {
            return;
        };
        let (server, tool) = (row.server(), row.tool());
        let item_rows = self.rows[self.selected..]
            .iter()
            .take_while(|row| row.server() == server && (tool.is_none() || row.tool() == tool));
        self.reveal_row = Some(self.selected + item_rows.count() - 1);
    }
}
