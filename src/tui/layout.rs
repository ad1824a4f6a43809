//! Where everything stands for a size of the terminal. The view draws by it and
//! the scrolling keys measure by it, so that the two cannot differ.

use crate::tui::panes::{Focus, Pane};
use crate::tui::ui_model::UiModel;
use crate::tui::view::notice_area;
use crate::tui::widgets::painter::frame_inner;
use ratatui::layout::Rect;

/// From this width on servers and thinking stand beside the chat.
pub const SIDE_PANES_WIDTH_MIN: u16 = 100;
/// From this width on panes have frames.
const FRAMES_FROM: u16 = 60;
const SIDE_WIDTH: u16 = 34;

/// Rows of the thinking pane that the servers leave it.
const THINKING_ROWS_KEPT: u16 = 5;

/// Is there room for servers and thinking beside the chat? Else they are brought over
/// it.
pub fn has_side_panes((width, height): (u16, u16)) -> bool {
    width >= SIDE_PANES_WIDTH_MIN && height >= SMALL_HEIGHT
}
/// Under this height a dialog takes the whole screen.
pub const SMALL_HEIGHT: u16 = 12;
/// From this height on a dialog leaves some of the chat in view.
const USUAL_HEIGHT: u16 = 24;
/// Rows of the chat that it leaves.
const CHAT_ROWS_KEPT: u16 = 3;
/// Rows of the message before it scrolls.
const MESSAGE_ROWS_MAX: u16 = 8;

#[derive(Debug, Clone, Default)]
pub struct ScreenLayout {
    pub has_frames: bool,
    pub header: Option<Rect>,
    /// Chat and side together.
    pub body: Rect,
    pub chat: Rect,
    pub chat_inner: Rect,
    pub servers: Option<Pane>,
    pub thinking: Option<Pane>,
    /// A folded pane that was brought over the chat.
    pub overlay: Option<(Focus, Pane)>,
    /// Queue, banners and long notices.
    pub notice_area: Rect,
    /// The guide's line.
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
                // The first row holds the title.
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
            // A prompt sign takes the place of the frame.
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
            // Whoever works in the pane sees more of it.
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

    /// The dialog takes its room from the lower end of the chat. On a screen of the
    /// usual height a few rows of the chat stay, whatever the dialog would like, so
    /// that the prompt that led to it is in view.
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
