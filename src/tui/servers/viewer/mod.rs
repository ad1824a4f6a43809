//! `/mcp`: all servers and tools in a full-screen list, failed servers first with the full reason and
//! their last lines on stderr. `/tools`: the tools of running servers, and whether requests offer
//! them. Only items near the view are laid out.

mod items;
mod scroll;
mod view;

use crate::commands::servers;
use crate::domain::{Server, ServerId, ServerStatus};
use crate::protocol::Event;
use crate::text::Clean;
use crate::tui::keymap::layers::{KeyContext, LayerKey, hint_list};
use crate::tui::keymap::{Action, Keymap};
use crate::tui::layer::{Handled, Layer, LayerArea, SharedUiState, UiContext, UiRequest};
use crate::tui::servers::viewer::items::{
    ViewerItem, ViewerScope, full_text, item_rows, matching_items,
};
use crate::tui::servers::viewer::scroll::{ItemHeights, ItemScroll};
use crate::tui::servers::{commands, sign_in, stderr_log};
use crate::tui::widgets::list::{ListCount, ListKey, SearchList};
use crate::tui::widgets::painter::Painter;
use crate::tui::widgets::text_viewer::TextViewer;
use crossterm::event::KeyEvent;
use ratatui::layout::Position;

/// Text is at most this wide, even on a wide screen.
const COLUMNS_MAX: u16 = 100;

/// Identifies an item, to find it again after the servers changed.
#[derive(Debug)]
struct ItemIdentity {
    server: ServerId,
    tool: Option<String>,
    /// Rows from the top of the view to the item.
    offset: isize,
}

#[derive(Debug)]
pub struct ServersViewer {
    scope: ViewerScope,
    /// Only its filter and focus are used. Items span several rows, so `scroll` has the selection.
    list: SearchList,
    items: Vec<ViewerItem>,
    scroll: ItemScroll,
    /// The servers changed since `items` was built.
    is_stale: bool,
    /// The item to select once `items` is rebuilt.
    kept: Option<ItemIdentity>,
    /// The full text of an item, while it is open.
    opened_text: Option<TextViewer>,
    separator: &'static str,
    /// Size of the list at the last draw.
    columns: u16,
    height: usize,
}

/// Opens the viewer, at `server` if one is given.
pub fn open(server: Option<&ServerId>, cx: &mut UiContext) {
    let viewer = ServersViewer::new(ViewerScope::Servers, server, cx.shared);
    cx.open(viewer);
}

/// Opens the list of tools, with these words in its filter.
pub fn open_tools(words: &str, cx: &mut UiContext) {
    let mut viewer = ServersViewer::new(ViewerScope::Tools, None, cx.shared);
    viewer.list.paste(words);
    viewer.is_stale = false;
    viewer.apply_filter(cx.shared.servers);
    cx.open(viewer);
}

impl ServersViewer {
    fn new(scope: ViewerScope, server: Option<&ServerId>, shared: SharedUiState) -> Self {
        let kept = server.map(|server| ItemIdentity {
            server: server.clone(),
            tool: None,
            offset: 0,
        });
        let (columns, rows) = shared.size;
        Self {
            scope,
            list: SearchList::default(),
            items: Vec::new(),
            scroll: ItemScroll::default(),
            is_stale: true,
            kept,
            opened_text: None,
            separator: shared.glyphs.dot,
            columns: columns.clamp(1, COLUMNS_MAX),
            height: usize::from(rows).max(1),
        }
    }

    fn with_scroll<T>(
        &mut self,
        servers: &[Server],
        act: impl FnOnce(&mut ItemScroll, &ItemHeights) -> T,
    ) -> T {
        let (items, scope) = (&self.items, self.scope);
        let format = (self.columns, self.separator);
        let height_of = |index: usize| {
            let item = items.get(index);
            item.map_or(1, |item| item_rows(servers, *item, scope, format).len())
        };
        let heights = ItemHeights {
            count: items.len(),
            view: self.height,
            height_of: &height_of,
        };
        act(&mut self.scroll, &heights)
    }

    /// Lists the servers again if they changed. The selection stays on its item, and the item
    /// stays in its row.
    fn refresh(&mut self, servers: &[Server]) {
        if !self.is_stale {
            return;
        }
        self.is_stale = false;
        (self.items, _) = matching_items(servers, self.scope, &self.list.filter());
        let kept = self.kept.take();
        let found = kept.and_then(|kept| Some((self.find(&kept, servers)?, kept.offset)));
        self.with_scroll(servers, |scroll, heights| match found {
            Some((item, offset)) => scroll.restore(item, offset, heights),
            None => scroll.clamp(heights),
        });
    }

    /// Index of the item, or of its server if the tool is gone.
    fn find(&self, kept: &ItemIdentity, servers: &[Server]) -> Option<usize> {
        let server = servers.iter().position(|server| server.id == kept.server)?;
        let tools = &servers[server].tools;
        let tool = kept.tool.as_ref();
        let tool = tool.and_then(|name| tools.iter().position(|tool| tool.name == *name));
        let position = |tool| {
            let wanted = ViewerItem { server, tool };
            self.items.iter().position(|item| *item == wanted)
        };
        position(tool).or_else(|| position(None))
    }

    /// Remembers the selected item before the servers change. A selection on the first item is not
    /// remembered: it stays at the top, where a newly failed server is listed.
    fn keep_selection(&mut self, servers: &[Server]) {
        if self.is_stale || self.scroll.selected == 0 {
            self.is_stale = true;
            return;
        }
        let offset = self.with_scroll(servers, |scroll, heights| scroll.selected_offset(heights));
        self.kept = self.selected(servers).map(|(server, item)| ItemIdentity {
            server: server.id.clone(),
            tool: item.tool(server).map(|tool| tool.name.clone()),
            offset,
        });
        self.is_stale = true;
    }

    fn selected<'a>(&self, servers: &'a [Server]) -> Option<(&'a Server, ViewerItem)> {
        let item = *self.items.get(self.scroll.selected)?;
        Some((servers.get(item.server)?, item))
    }

    fn apply_filter(&mut self, servers: &[Server]) {
        let (items, first_match) = matching_items(servers, self.scope, &self.list.filter());
        self.items = items;
        self.scroll = ItemScroll::default();
        self.with_scroll(servers, |scroll, heights| {
            scroll.select(first_match, heights)
        });
    }

    fn set_size(&mut self, columns: u16, height: usize, servers: &[Server]) {
        (self.columns, self.height) = (columns.clamp(1, COLUMNS_MAX), height.max(1));
        self.refresh(servers);
        self.with_scroll(servers, |scroll, heights| scroll.clamp(heights));
    }

    fn count(&mut self, servers: &[Server]) -> ListCount {
        let (above, below) =
            self.with_scroll(servers, |scroll, heights| scroll.hidden_items(heights));
        ListCount {
            listed: self.items.len(),
            total: servers
                .iter()
                .filter(|server| self.scope.includes(server))
                .map(|server| 1 + server.tools.len())
                .sum(),
            above,
            below,
        }
    }

    /// Returns false for a key that does not move the selection.
    fn move_key(&mut self, key: KeyEvent, servers: &[Server], keymap: &Keymap) -> bool {
        let found = self.list.layer_key(key, Some(KeyContext::Servers), keymap);
        self.with_scroll(servers, |scroll, heights| {
            match found {
                Some(LayerKey::Up) => scroll.step(-1, heights),
                Some(LayerKey::Down) => scroll.step(1, heights),
                Some(LayerKey::PageUp) => scroll.page(-1, heights),
                Some(LayerKey::PageDown) => scroll.page(1, heights),
                Some(LayerKey::Start) => scroll.select(0, heights),
                Some(LayerKey::End) => scroll.select_end(heights),
                _ => return false,
            }
            true
        })
    }

    fn opened_text_key(&mut self, key: KeyEvent, cx: &mut UiContext) -> Handled {
        let Some(text) = &mut self.opened_text else {
            return Handled::PassedOn;
        };
        let handled = text.handle_key(key, cx);
        let is_back =
            cx.shared.keymap.layer_key(key, &[KeyContext::SearchList]) == Some(LayerKey::Back);
        if handled == Handled::PassedOn && is_back {
            self.opened_text = None;
            return Handled::Consumed;
        }
        handled
    }

    fn open_full_text(&mut self, servers: &[Server]) {
        if let Some((name, text)) = self.selected_text(servers) {
            self.opened_text = Some(TextViewer::new(name, text));
        }
    }

    fn selected_text(&self, servers: &[Server]) -> Option<(Clean, String)> {
        let (server, item) = self.selected(servers)?;
        let name = match item.tool(server) {
            Some(tool) => Clean::name(&tool.name),
            None => Clean::name(server.id.as_str()),
        };
        Some((name, full_text(server, item, self.separator)))
    }
}

impl Layer for ServersViewer {
    fn action(&self) -> Option<Action> {
        Some(match self.scope {
            ViewerScope::Servers => Action::MCP,
            ViewerScope::Tools => Action::TOOLS,
        })
    }

    fn handle_key(&mut self, key: KeyEvent, cx: &mut UiContext) -> Handled {
        let servers = cx.shared.servers;
        self.refresh(servers);
        if self.opened_text.is_some() {
            return self.opened_text_key(key, cx);
        }
        if self.move_key(key, servers, cx.shared.keymap) {
            return Handled::Consumed;
        }
        let row_keys = Some(KeyContext::Servers);
        match self
            .list
            .key(key, self.items.len(), row_keys, cx.shared.keymap)
        {
            handled @ (ListKey::Closed | ListKey::Unknown) => return handled.handled(),
            ListKey::Searched => self.apply_filter(servers),
            ListKey::Unhandled(LayerKey::Confirm) => self.open_full_text(servers),
            ListKey::Unhandled(LayerKey::Copy) => {
                if let Some((name, text)) = self.selected_text(servers) {
                    cx.copy(name.as_str(), text);
                }
            }
            ListKey::Unhandled(LayerKey::Toggle) => {
                if let Some((server, item)) = self.selected(servers) {
                    match item.tool(server) {
                        Some(tool) => commands::toggle_tool(server, &tool.name, cx),
                        None => servers::toggle(cx, &server.id),
                    }
                }
            }
            ListKey::Unhandled(LayerKey::Pin) => {
                if let Some((server, item)) = self.selected(servers) {
                    commands::pin_tool(server, item.tool(server), cx);
                }
            }
            ListKey::Unhandled(LayerKey::SignIn) => {
                if let Some((server, _)) = self.selected(servers) {
                    sign_in::open(&server.id, cx);
                }
            }
            ListKey::Unhandled(LayerKey::Import) => {
                cx.request(UiRequest::RunAction(Action::IMPORT));
            }
            ListKey::Unhandled(LayerKey::Stderr) => {
                if let Some((server, _)) = self.selected(servers) {
                    stderr_log::open(&server.id, cx);
                }
            }
            _ => {}
        }
        Handled::Consumed
    }

    fn paste(&mut self, text: &str, cx: &mut UiContext) -> Handled {
        if self.opened_text.is_none() {
            self.list.paste(text);
            self.apply_filter(cx.shared.servers);
        }
        Handled::Consumed
    }

    fn scroll(&mut self, rows: isize, shared: SharedUiState) {
        if let Some(text) = &mut self.opened_text {
            return text.scroll(rows, shared);
        }
        self.refresh(shared.servers);
        self.with_scroll(shared.servers, |scroll, heights| {
            scroll.scroll(rows, heights)
        });
    }

    fn handle_event(&mut self, event: &Event, cx: &mut UiContext) -> Handled {
        if let Event::ServersListed(_) | Event::ServerChanged(_) = event {
            self.keep_selection(cx.shared.servers);
        }
        Handled::PassedOn
    }

    fn draw(
        &mut self,
        area: LayerArea,
        shared: SharedUiState,
        pen: &mut Painter,
    ) -> Option<Position> {
        match &mut self.opened_text {
            Some(text) => text.draw(area, shared, pen),
            None => view::draw(self, area.body, shared, pen),
        }
    }

    fn hints(&self, shared: SharedUiState) -> Vec<String> {
        if let Some(text) = &self.opened_text {
            return text.hints(shared);
        }
        let keymap = shared.keymap;
        let own = |key, word| keymap.layer_hint(KeyContext::Servers, key, word);
        let mut rows = hint_list([own(LayerKey::Toggle, "on/off")]);
        rows.extend(own(LayerKey::Pin, "pin"));
        rows.extend(own(LayerKey::Copy, "copy"));
        if self.scope == ViewerScope::Servers {
            rows.extend(own(LayerKey::Stderr, "stderr"));
            rows.extend(own(LayerKey::Import, "import"));
        }
        let needs_sign_in = |server: &Server| matches!(server.status, ServerStatus::NeedsSignIn(_));
        if self
            .selected(shared.servers)
            .is_some_and(|(server, _)| needs_sign_in(server))
        {
            rows.splice(0..0, own(LayerKey::SignIn, "sign in"));
        }
        // Before the first frame, `items` is still empty.
        let count = match self.items.len() {
            0 => matching_items(shared.servers, self.scope, &self.list.filter())
                .0
                .len(),
            count => count,
        };
        self.list.hints(count, "full text", rows, keymap)
    }
}
