//! State of the log layer, with two tabs: the latest log lines, and the trace of the last
//! answer.

use crate::domain::{ToolState, TurnEvent, reply_trace};
use crate::protocol::{Command, Event};
use crate::tui::keymap::Action;
use crate::tui::keymap::layers::{KeyContext, LayerKey, hint_list};
use crate::tui::layer::{Handled, Layer, LayerArea, SharedUiState, UiContext};
use crate::tui::log::view;
use crate::tui::widgets::painter::Painter;
use crossterm::event::KeyEvent;
use ratatui::layout::Position;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogTab {
    #[default]
    Log,
    LastAnswer,
}

#[derive(Debug, Default)]
pub struct LogLayer {
    tab: LogTab,
    /// The number of log lines below the view; 0 follows the end.
    lines_from_end: usize,
    trace: TraceScroll,
}

/// Scroll position in the trace of the last answer.
#[derive(Debug, Default)]
pub struct TraceScroll {
    /// The first visible line.
    pub top: usize,
    /// The number of lines that the last frame showed completely.
    pub visible_lines: usize,
}

pub fn open(tab: LogTab, cx: &mut UiContext) {
    let layer = LogLayer {
        tab,
        ..LogLayer::default()
    };
    layer.request_trace(cx);
    cx.open(layer);
}

impl LogLayer {
    fn request_trace(&self, cx: &mut UiContext) {
        if self.tab == LogTab::LastAnswer {
            cx.send(Command::ShowReplyTrace);
        }
    }

    fn jump(&mut self, to_end: bool) {
        let top = if to_end { usize::MAX } else { 0 };
        match self.tab {
            LogTab::Log => self.lines_from_end = usize::MAX - top,
            LogTab::LastAnswer => self.trace.top = top,
        }
    }

    /// `None` until the engine has sent the trace.
    fn copied_text(&self, shared: SharedUiState) -> Option<String> {
        match self.tab {
            LogTab::LastAnswer => shared
                .engine
                .trace
                .as_ref()
                .map(|lines| reply_trace::join_lines(lines)),
            LogTab::Log => {
                let lines = shared.engine.log.iter();
                let lines = lines.map(|line| format!("{:5} {}", line.level, line.text));
                Some(lines.collect::<Vec<_>>().join("\n"))
            }
        }
    }
}

/// Whether this event updates the trace, as complete replies and results of calls do.
fn updates_trace(event: &TurnEvent) -> bool {
    match event {
        TurnEvent::Started { .. } | TurnEvent::RoundEnded { .. } | TurnEvent::Ended { .. } => true,
        // A server may report progress at any rate, and the trace does not contain it.
        TurnEvent::Tool(call) => !matches!(call.state, ToolState::Running { progress: Some(_) }),
        _ => false,
    }
}

impl Layer for LogLayer {
    fn action(&self) -> Option<Action> {
        Some(Action::LOG)
    }

    fn handle_key(&mut self, key: KeyEvent, cx: &mut UiContext) -> Handled {
        match cx
            .shared
            .keymap
            .layer_key(key, &[KeyContext::Log, KeyContext::PagedText])
        {
            Some(LayerKey::Switch) => {
                self.tab = match self.tab {
                    LogTab::Log => LogTab::LastAnswer,
                    LogTab::LastAnswer => LogTab::Log,
                };
                self.request_trace(cx);
            }
            Some(LayerKey::Start) => self.jump(false),
            Some(LayerKey::End) => self.jump(true),
            Some(LayerKey::Copy) => {
                let name = match self.tab {
                    LogTab::Log => "the log",
                    LogTab::LastAnswer => "the trace of the last answer",
                };
                let text = self.copied_text(cx.shared).unwrap_or_default();
                cx.copy(name, text);
            }
            _ => return Handled::PassedOn,
        }
        Handled::Consumed
    }

    fn scroll(&mut self, rows: isize, _: SharedUiState) {
        match self.tab {
            LogTab::Log => self.lines_from_end = self.lines_from_end.saturating_add_signed(-rows),
            LogTab::LastAnswer => {
                // A page is the number of lines shown, which depends on how they wrapped.
                let page = isize::try_from(self.trace.visible_lines)
                    .unwrap_or(isize::MAX)
                    .max(1);
                self.trace.top = self
                    .trace
                    .top
                    .saturating_add_signed(rows.clamp(-page, page));
            }
        }
    }

    fn handle_event(&mut self, event: &Event, cx: &mut UiContext) -> Handled {
        if let Event::Turn(_, event) = event
            && updates_trace(event)
        {
            self.request_trace(cx);
        }
        Handled::PassedOn
    }

    fn draw(
        &mut self,
        area: LayerArea,
        shared: SharedUiState,
        pen: &mut Painter,
    ) -> Option<Position> {
        match self.tab {
            LogTab::Log => {
                view::draw_log(&shared.engine.log, area.body, &mut self.lines_from_end, pen)
            }
            LogTab::LastAnswer => {
                let lines = shared.engine.trace.as_ref().map(|lines| lines.as_slice());
                view::draw_trace(lines, area.body, &mut self.trace, pen);
            }
        }
        None
    }

    fn hints(&self, shared: SharedUiState) -> Vec<String> {
        let other_tab = match self.tab {
            LogTab::Log => "last answer",
            LogTab::LastAnswer => "log",
        };
        let keymap = shared.keymap;
        let switch = keymap.layer_hint(KeyContext::Log, LayerKey::Switch, other_tab);
        let copy = keymap.layer_hint(KeyContext::PagedText, LayerKey::Copy, "copy");
        let close = keymap.hint(Action::Back, "close");
        hint_list([keymap.scroll_hint(), switch, copy, close])
    }
}
