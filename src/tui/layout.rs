//! Computes the layout of the screen for a terminal size. Drawing and scrolling both use this
//! layout, so they cannot disagree. From top to bottom: header, chat (with the sidebar beside it),
//! notices, a rule or the open dialog, the find bar, message, hints.

use crate::tui::composer::completion_view;
use crate::tui::dialog::state::{Dialog, DialogMode};
use crate::tui::panes::{Focus, Pane};
use crate::tui::ui_model::UiModel;
use crate::tui::view::notice_area;
use ratatui::layout::Rect;

/// Maximum rows of notices and banners below a layer that covers the chat.
const NOTICE_ROWS_WITH_LAYER: u16 = 3;
/// Minimum screen width for a sidebar beside the chat.
pub const SIDEBAR_SCREEN_COLUMNS_MIN: u16 = 110;
/// Width of the sidebar, including its vertical rule.
pub const SIDEBAR_WIDTH: u16 = 36;
/// On narrower screens, a sidebar over the chat covers the full width instead of the right half.
const HALF_WIDTH_COLUMNS_MIN: u16 = 60;
/// Rows that the focused servers section leaves to the thinking section.
const THINKING_ROWS_MIN: u16 = 5;

/// Below this height, a dialog takes the whole screen.
pub const SMALL_HEIGHT: u16 = 12;
/// On screens of at least this height, a dialog that takes the whole screen leaves room for the
/// hints.
const HINTS_BELOW_DIALOG_ROWS_MIN: u16 = 9;
/// On screens of at least this height, a rule separates the message from the chat.
const RULE_ROWS_MIN: u16 = 8;
/// On screens of at least this height, a dialog or popup leaves part of the chat visible.
const USUAL_ROWS_MIN: u16 = 20;
/// Chat rows that a dialog or popup leaves visible.
const CHAT_ROWS_MIN: u16 = 4;
/// Narrower screens have no margins.
const MARGINS_COLUMNS_MIN: u16 = 30;
/// Maximum height of the message editor before it scrolls.
const MESSAGE_ROWS_MAX: u16 = 8;

/// Whether the sidebar fits beside the chat. If not, it opens over the chat.
pub fn fits_sidebar((width, height): (u16, u16)) -> bool {
    width >= SIDEBAR_SCREEN_COLUMNS_MIN && height >= SMALL_HEIGHT
}

#[derive(Debug, Clone, Default)]
pub struct ScreenLayout {
    pub header: Option<Rect>,
    /// The area between header and message, without the rule and the find bar. While a layer covers
    /// it, also without the tour line and the notices.
    pub body: Rect,
    /// The column of the chat from the header down to the message. Popups open inside this area.
    pub column: Rect,
    /// The chat with its margins. The first column is for marks.
    pub chat: Rect,
    /// The chat without its margins.
    pub chat_inner: Rect,
    /// The sidebar with the vertical rule on its left.
    pub sidebar: Option<Rect>,
    /// The screen is too small for a permanent sidebar, so this one is drawn over the chat.
    pub is_sidebar_temporary: bool,
    pub servers: Option<Pane>,
    pub thinking: Option<Pane>,
    pub notice_area: Rect,
    /// The line of the demo tour.
    pub tour_line: Option<Rect>,
    /// The rule above the message.
    pub rule: Option<Rect>,
    /// The find bar.
    pub find: Option<Rect>,
    pub message: Rect,
    pub message_inner: Rect,
    pub hints: Option<Rect>,
    pub dialog: Option<Rect>,
    /// The open popup or completion list.
    pub popup: Option<Rect>,
}

impl ScreenLayout {
    pub fn compute(model: &mut UiModel) -> Self {
        let (width, height) = model.screen.size;
        let mut layout = Self::default();
        let mut rest = Rect::new(0, 0, width, height);
        if height >= 5 {
            layout.header = Some(take_top(&mut rest, 1));
        }
        if height >= 4 {
            layout.hints = Some(take_bottom(&mut rest, 1));
        }
        layout.place_message(model, &mut rest);
        if model.chat.find.is_some() && rest.height >= 2 && model.visible_dialog().is_none() {
            layout.find = Some(take_bottom(&mut rest, 1));
        }
        let has_dialog = model.visible_dialog().is_some();
        if height >= RULE_ROWS_MIN && !has_dialog {
            layout.rule = Some(take_bottom(&mut rest, 1));
        }
        layout.body = rest;
        model.servers_pane.set_width(servers_columns(width, height));
        let mut column = rest;
        // A sidebar must not hide the dialog that receives the keys. A layer below a dialog takes
        // the whole width, so a narrower dialog would cut its words.
        let needs_width = has_dialog && (model.layer.is_some() || width < HALF_WIDTH_COLUMNS_MIN);
        if fits_sidebar(model.screen.size) {
            if has_sidebar_content(model) && !needs_width {
                layout.sidebar = Some(take_right(&mut column, SIDEBAR_WIDTH));
            }
        } else if model.panes.over_chat.is_some() && !needs_width {
            let columns = if width < HALF_WIDTH_COLUMNS_MIN {
                width
            } else {
                width / 2
            };
            layout.sidebar = Some(take_right(&mut column, columns));
            layout.is_sidebar_temporary = true;
        }
        layout.column = column;
        if has_dialog {
            layout.place_dialog(model, &mut column);
        } else if let Some(rows) = popup_rows(model, column.width) {
            let chat_rows = if height < USUAL_ROWS_MIN {
                0
            } else {
                CHAT_ROWS_MIN
            };
            let rows_max = column.height.saturating_sub(chat_rows);
            // One extra row for the title.
            layout.popup = Some(take_bottom(
                &mut column,
                rows.saturating_add(1).min(rows_max),
            ));
        }
        layout.place_notices(model, &mut column);
        layout.chat = column;
        layout.chat_inner = with_margins(column);
        layout.place_sections(model);
        layout
    }

    /// Places the line of the tour and the notices at the bottom of the column. A layer that
    /// takes the whole body also covers the sidebar, but never the tour line or the notices.
    fn place_notices(&mut self, model: &UiModel, column: &mut Rect) {
        let is_covered = model.layer.is_some() && self.popup.is_none();
        let mut rest = match is_covered && self.dialog.is_none() {
            true => Rect {
                width: self.body.width,
                ..*column
            },
            false => *column,
        };
        if model.tour.is_some() && rest.height >= 2 {
            self.tour_line = Some(take_bottom(&mut rest, 1));
        }
        let wanted = notice_area::notice_rows(model, rest.width).len() as u16;
        let rows_max = match is_covered {
            true => NOTICE_ROWS_WITH_LAYER.min(rest.height / 2),
            false => rest.height / 2,
        };
        let wanted = wanted.min(rows_max);
        self.notice_area = take_bottom(&mut rest, wanted);
        if is_covered && rest.height < column.height {
            self.body.height = rest.bottom() - self.body.y;
        }
        column.height = rest.height;
    }

    /// Whether thinking is shown in the sidebar instead of the chat.
    pub fn has_thinking_aside(&self, model: &UiModel) -> bool {
        self.sidebar.is_some() && !self.is_sidebar_temporary && model.panes.shows_thinking
    }

    fn place_message(&mut self, model: &mut UiModel, rest: &mut Rect) {
        let prompt_glyph_columns = if rest.width >= MARGINS_COLUMNS_MIN {
            3
        } else {
            2
        };
        let margins = prompt_glyph_columns + u16::from(rest.width >= MARGINS_COLUMNS_MIN);
        let columns = rest.width.saturating_sub(margins).max(1);
        let rows_max = MESSAGE_ROWS_MAX.min(rest.height / 3).max(1);
        // A field of a dialog takes the keys; a second field below it would only confuse.
        let has_field = |dialog: &Dialog| !matches!(dialog.mode, DialogMode::Choosing);
        let rows = match model.visible_dialog().is_some_and(has_field) {
            true => 0,
            false => model.composer.editor.height(columns, rows_max.into()) as u16,
        };
        self.message = take_bottom(rest, rows);
        self.message_inner = Rect {
            x: self.message.x + prompt_glyph_columns.min(self.message.width),
            width: self.message.width.saturating_sub(margins),
            ..self.message
        };
    }

    fn place_sections(&mut self, model: &UiModel) {
        let Some(sidebar) = self.sidebar else { return };
        let mut rest = Rect {
            x: sidebar.x + 2.min(sidebar.width),
            width: sidebar.width.saturating_sub(3),
            ..sidebar
        };
        let (shows_servers, shows_thinking) = shown_sections(model);
        if shows_servers && !shows_thinking {
            self.servers = Some(section(rest));
        } else if shows_servers {
            let wanted = u16::try_from(model.servers_pane.rows().len().max(1)).unwrap_or(u16::MAX);
            // A heading above the servers and a blank row below.
            let wanted = wanted.saturating_add(2);
            // Focus lets the section grow.
            let rows_max = match model.panes.focus {
                Focus::Servers => rest.height.saturating_sub(THINKING_ROWS_MIN),
                _ => rest.height / 2,
            };
            let rows = wanted.clamp(3, rows_max.max(3));
            let mut servers = take_top(&mut rest, rows);
            servers.height = servers.height.saturating_sub(1);
            self.servers = Some(section(servers));
        }
        if shows_thinking {
            self.thinking = Some(section(rest));
        }
    }

    /// Places the dialog above the message, or over the whole of a small screen. On screens of usual
    /// height, a few chat rows stay visible, unless the user enlarged the dialog.
    fn place_dialog(&mut self, model: &mut UiModel, column: &mut Rect) {
        let (width, height) = model.screen.size;
        if height < SMALL_HEIGHT {
            // Where the rows suffice, the hints below it name the keys that scroll and stop.
            let hint_rows = u16::from(height >= HINTS_BELOW_DIALOG_ROWS_MIN);
            self.dialog = Some(Rect::new(0, 0, width, height - hint_rows));
            return;
        }
        let chat_rows = match height {
            USUAL_ROWS_MIN.. => CHAT_ROWS_MIN,
            _ => 0,
        };
        let usual_max = column.height.saturating_sub(chat_rows);
        let rows = model.dialog_height(column.width, usual_max, column.height);
        self.dialog = Some(take_bottom(column, rows));
    }
}

/// Preferred number of rows of the open popup, or else of the open completion list; `None`
/// without either.
fn popup_rows(model: &UiModel, columns: u16) -> Option<u16> {
    if let Some(layer) = &model.layer {
        return layer.popup_rows(model.shared());
    }
    let completions = model.completions()?;
    Some(completion_view::completion_rows(&completions, columns))
}

fn has_sidebar_content(model: &UiModel) -> bool {
    let (shows_servers, shows_thinking) = shown_sections(model);
    (shows_servers && !model.servers_pane.servers.is_empty()) || shows_thinking
}

/// Whether the sidebar shows the servers, and whether it shows the thinking.
fn shown_sections(model: &UiModel) -> (bool, bool) {
    let panes = &model.panes;
    let has_thinking = model.chat.has_recent_thinking();
    if let Some(opened) = panes.over_chat.filter(|_| !fits_sidebar(model.screen.size)) {
        return (true, has_thinking || opened == Focus::Thinking);
    }
    let wants_thinking = has_thinking || panes.focus == Focus::Thinking;
    let shows_thinking = panes.shows_thinking && wants_thinking;
    // The built-in tools alone are not worth a sidebar, unless it is open for the thinking anyway
    // or on request.
    let wants_servers = panes.wants_servers || shows_thinking || model.servers_pane.has_content();
    (panes.shows_servers && wants_servers, shows_thinking)
}

fn servers_columns(width: u16, height: u16) -> u16 {
    let sidebar = match (fits_sidebar((width, height)), width) {
        (true, _) => SIDEBAR_WIDTH,
        (false, HALF_WIDTH_COLUMNS_MIN..) => width / 2,
        (false, _) => width,
    };
    sidebar.saturating_sub(3)
}

/// A pane whose inner area excludes the heading row.
fn section(outer: Rect) -> Pane {
    let mut inner = outer;
    take_top(&mut inner, 1);
    Pane { outer, inner }
}

fn with_margins(area: Rect) -> Rect {
    if area.width < MARGINS_COLUMNS_MIN {
        return area;
    }
    Rect {
        x: area.x + 1,
        width: area.width - 2,
        ..area
    }
}

fn take_top(rest: &mut Rect, rows: u16) -> Rect {
    let rows = rows.min(rest.height);
    let taken = Rect {
        height: rows,
        ..*rest
    };
    rest.y += rows;
    rest.height -= rows;
    taken
}

fn take_bottom(rest: &mut Rect, rows: u16) -> Rect {
    let rows = rows.min(rest.height);
    rest.height -= rows;
    Rect {
        y: rest.bottom(),
        height: rows,
        ..*rest
    }
}

fn take_right(rest: &mut Rect, columns: u16) -> Rect {
    let columns = columns.min(rest.width);
    rest.width -= columns;
    Rect {
        x: rest.right(),
        width: columns,
        ..*rest
    }
}
