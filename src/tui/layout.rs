//! Computes the layout of all panes for a terminal size. Drawing and scrolling both use it,
//! so they cannot disagree.

use crate::tui::panes::{Focus, Pane};
use crate::tui::ui_model::UiModel;
use crate::tui::view::notice_area;
use crate::tui::widgets::painter::frame_inner;
use ratatui::layout::Rect;

/// From this width on, the servers and thinking panes are shown beside the chat.
pub const SIDE_PANES_WIDTH_MIN: u16 = 100;
/// From this width on, panes have frames.
const FRAMES_FROM: u16 = 60;
const SIDE_WIDTH: u16 = 34;

/// Minimum height that the servers pane leaves to the thinking pane.
const THINKING_ROWS_KEPT: u16 = 5;

/// Whether the side panes fit beside the chat. If not, they open over it.
pub fn has_side_panes((width, height): (u16, u16)) -> bool {
    width >= SIDE_PANES_WIDTH_MIN && height >= SMALL_HEIGHT
}
/// Below this height a dialog takes the whole screen.
pub const SMALL_HEIGHT: u16 = 12;
/// From this height on, a dialog leaves part of the chat visible.
const USUAL_HEIGHT: u16 = 24;
/// Chat rows that a dialog leaves visible.
const CHAT_ROWS_KEPT: u16 = 3;
/// Maximum height of the message editor before it scrolls.
const MESSAGE_ROWS_MAX: u16 = 8;

#[derive(Debug, Clone, Default)]
pub struct ScreenLayout {
    pub has_frames: bool,
    pub header: Option<Rect>,
    /// Chat and side panes together.
    pub body: Rect,
    pub chat: Rect,
    pub chat_inner: Rect,
    pub servers: Option<Pane>,
    pub thinking: Option<Pane>,
    /// A side pane opened over the chat.
    pub overlay: Option<(Focus, Pane)>,
    pub notice_area: Rect,
    /// The line of the demo tour.
    pub tour_line: Option<Rect>,
    pub message: Rect,
    pub message_inner: Rect,
    pub hints: Option<Rect>,
    pub dialog: Option<Rect>,
}

impl ScreenLayout {
    pub fn compute(model: &mut UiModel) -> Self {
        let (width, height) = model.screen.size;
        let framed = width >= FRAMES_FROM && height >= SMALL_HEIGHT;
        let mut this = Self {
            has_frames: framed,
            ..Self::default()
        };
        let mut rest = Rect::new(0, 0, width, height);
        if height >= 5 {
            this.header = Some(take_top(&mut rest, 1));
        }
        if height >= 4 {
            this.hints = Some(take_bottom(&mut rest, 1));
        }
        this.place_message(model, &mut rest);
        if model.tour.is_some() && rest.height >= 2 {
            this.tour_line = Some(take_bottom(&mut rest, 1));
        }
        let wanted = notice_area::notice_rows(model, width).len() as u16;
        let wanted = wanted.min(rest.height / 2);
        this.notice_area = take_bottom(&mut rest, wanted);
        this.body = rest;
        let side = match (has_side_panes(model.screen.size), framed) {
            (true, _) => SIDE_WIDTH - 4,
            (false, true) => width - 4,
            (false, false) => width,
        };
        model.servers_pane.set_width(side);
        this.place_side(model, &mut rest);
        this.chat = rest;
        this.place_dialog(model);
        this.chat_inner = this.inner(this.chat);
        if let Some(focus) = model
            .panes
            .over_chat
            .filter(|_| !has_side_panes(model.screen.size))
        {
            let mut pane = this.pane(this.body);
            if !this.has_frames {
                // Without a frame, the first row is the title.
                take_top(&mut pane.inner, 1);
            }
            this.overlay = Some((focus, pane));
        }
        this
    }

    pub fn thinking_pane(&self) -> Option<Pane> {
        let over = self.overlay.filter(|(focus, _)| *focus == Focus::Thinking);
        over.map(|(_, pane)| pane).or(self.thinking)
    }

    fn inner(&self, area: Rect) -> Rect {
        if self.has_frames {
            frame_inner(area)
        } else {
            area
        }
    }

    fn pane(&self, outer: Rect) -> Pane {
        Pane {
            outer,
            inner: self.inner(outer),
        }
    }

    fn place_message(&mut self, model: &mut UiModel, rest: &mut Rect) {
        let margins = if self.has_frames { 4 } else { 2 };
        let columns = rest.width.saturating_sub(margins).max(1);
        let max = MESSAGE_ROWS_MAX.min(rest.height / 3).max(1);
        let rows = model.composer.editor.height(columns, max.into()) as u16;
        let frame = if self.has_frames { 2 } else { 0 };
        self.message = take_bottom(rest, rows + frame);
        self.message_inner = if self.has_frames {
            frame_inner(self.message)
        } else {
            // Without a frame, a prompt sign takes the left two columns.
            Rect {
                x: self.message.x + 2.min(self.message.width),
                width: self.message.width.saturating_sub(2),
                ..self.message
            }
        };
    }

    fn place_side(&mut self, model: &UiModel, rest: &mut Rect) {
        let shown = model.panes.show_servers || model.panes.show_thinking;
        if rest.width < SIDE_PANES_WIDTH_MIN || !shown || !self.has_frames {
            return;
        }
        let mut side = take_right(rest, SIDE_WIDTH);
        if !model.panes.show_thinking {
            self.servers = Some(self.pane(side));
            return;
        }
        if model.panes.show_servers {
            let wanted = u16::try_from(model.servers_pane.rows().len().max(1)).unwrap_or(u16::MAX);
            let wanted = wanted.saturating_add(2);
            // The focused pane may grow.
            let most = match model.panes.focus {
                Focus::Servers => side.height.saturating_sub(THINKING_ROWS_KEPT),
                _ => side.height / 2,
            };
            let rows = wanted.clamp(4, most.max(4));
            let servers = take_top(&mut side, rows);
            self.servers = Some(self.pane(servers));
        }
        self.thinking = Some(self.pane(side));
    }

    /// Places the dialog at the bottom of the chat. On screens of usual height, a few chat
    /// rows stay visible so that the prompt behind the dialog can be read.
    fn place_dialog(&mut self, model: &mut UiModel) {
        if model.dialogs.current().is_none() {
            return;
        }
        let (width, height) = model.screen.size;
        if height < SMALL_HEIGHT {
            self.dialog = Some(Rect::new(0, 0, width, height));
            return;
        }
        let all = self.chat.height;
        let kept = CHAT_ROWS_KEPT + if self.has_frames { 2 } else { 0 };
        let room = if height < USUAL_HEIGHT {
            all
        } else {
            all.saturating_sub(kept)
        };
        if model.covers_layer() {
            let mut over = self.body;
            let rows = model.dialog_height(over.width, room, all);
            self.dialog = Some(take_bottom(&mut over, rows));
            return;
        }
        let rows = model.dialog_height(self.chat.width, room, all);
        let mut over = self.chat;
        let chat = if all - rows < 4 {
            &mut over
        } else {
            &mut self.chat
        };
        self.dialog = Some(take_bottom(chat, rows));
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
