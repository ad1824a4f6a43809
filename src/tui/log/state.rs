//! State of the log layer, with two tabs: the latest log lines, and the trace of the last
//! answer.

use crate::domain::{Notice, ToolState, TurnEvent, reply_trace};
use crate::protocol::{Command, Event};
use crate::tui::keymap::layers::{LayerKey, Place};
use crate::tui::keymap::{Action, layers};
use crate::tui::layer::{Cx, Handled, Layer, LayerArea, Shared};
use crate::tui::log::view;
use crate::tui::widgets::painter::Painter;
use crossterm::event::KeyEvent;
use ratatui::layout::Position;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum LogTab {
    #[default]
    Log,
    LastAnswer,
}

#[derive(Debug, Default)]
pub struct LogLayer {
    tab: LogTab,
    /// Number of log lines below the view; 0 follows the end.
    back: usize,
    trace: TracePage,
}

/// Scroll position in the trace of the last answer.
#[derive(Debug, Default)]
pub struct TracePage {
    /// The first visible line.
    pub top: usize,
    /// Number of lines visible in the last frame.
    pub shown: usize,
}

/// `/log` opens the log, `/log answer` the last answer.
pub fn open(argument: &str, cx: &mut Cx) {
    let tab = match argument {
        "" => LogTab::Log,
        "answer" => LogTab::LastAnswer,
        _ => return cx.notify(Notice::warning("Usage: /log [answer]")),
    };
    let layer = LogLayer {
        tab,
        ..LogLayer::default()
    };
    layer.ask(cx);
    cx.open(layer);
}

impl LogLayer {
    /// Requests the trace, only while its tab is open.
    fn ask(&self, cx: &mut Cx) {
        if self.tab == LogTab::LastAnswer {
            cx.send(Command::Trace);
        }
    }

    /// Scrolls to the beginning or the end of the tab.
    fn jump(&mut self, to_end: bool) {
        let far = if to_end { usize::MAX } else { 0 };
        match self.tab {
            LogTab::Log => self.back = usize::MAX - far,
            LogTab::LastAnswer => self.trace.top = far,
        }
    }

    /// The text that `y` copies.
    fn text(&self, shared: Shared) -> Option<String> {
        match self.tab {
            LogTab::LastAnswer => shared
                .engine
                .trace
                .as_ref()
                .map(|lines| reply_trace::words(lines)),
            LogTab::Log => {
                let lines = shared.engine.log.iter();
                let lines = lines.map(|line| format!("{:5} {}", line.level, line.text));
                Some(lines.collect::<Vec<_>>().join("\n"))
            }
        }
    }
}

/// Does this event update the trace? Complete replies and results of calls do.
fn is_news(event: &TurnEvent) -> bool {
    match event {
        TurnEvent::Started { .. } | TurnEvent::RoundEnded { .. } | TurnEvent::Ended { .. } => true,
        // A server may report progress at any rate, and the trace does not contain it.
        TurnEvent::Tool(call) => !matches!(call.state, ToolState::Running { progress: Some(_) }),
        _ => false,
    }
}

impl Layer for LogLayer {
    fn action(&self) -> Option<Action> {
        Some(Action::Log)
    }

    fn key(&mut self, key: KeyEvent, cx: &mut Cx) -> Handled {
        match layers::find(key, &[Place::Log, Place::Pages]) {
            Some(LayerKey::Switch) => {
                self.tab = match self.tab {
                    LogTab::Log => LogTab::LastAnswer,
                    LogTab::LastAnswer => LogTab::Log,
                };
                self.ask(cx);
            }
            Some(LayerKey::Start) => self.jump(false),
            Some(LayerKey::End) => self.jump(true),
            Some(LayerKey::Copy) => cx.copy(self.text(cx.shared).unwrap_or_default()),
            _ => return Handled::PassedOn,
        }
        Handled::Consumed
    }

    fn scroll(&mut self, rows: isize, _: Shared) {
        match self.tab {
            LogTab::Log => self.back = self.back.saturating_add_signed(-rows),
            LogTab::LastAnswer => {
                // A page is the number of lines shown, which depends on how they wrapped.
                let page = isize::try_from(self.trace.shown)
                    .unwrap_or(isize::MAX)
                    .max(1);
                self.trace.top = self
                    .trace
                    .top
                    .saturating_add_signed(rows.clamp(-page, page));
            }
        }
    }

    fn event(&mut self, event: &Event, cx: &mut Cx) -> Handled {
        if let Event::Turn(_, event) = event
            && is_news(event)
        {
            self.ask(cx);
        }
        Handled::PassedOn
    }

    fn draw(&mut self, area: LayerArea, shared: Shared, pen: &mut Painter) -> Option<Position> {
        match self.tab {
            LogTab::Log => view::log(&shared.engine.log, area.body, &mut self.back, pen),
            LogTab::LastAnswer => {
                let lines = shared.engine.trace.as_ref().map(|lines| lines.as_slice());
                view::trace(lines, area.body, &mut self.trace, pen);
            }
        }
        None
    }

    fn hints(&self, _: Shared) -> Vec<String> {
        let other = match self.tab {
            LogTab::Log => "last answer",
            LogTab::LastAnswer => "log",
        };
        let keys = ["PgUp/PgDn scroll", "Esc close"].map(str::to_owned);
        let [scroll, close] = keys;
        let switch = layers::hint(Place::Log, LayerKey::Switch, other);
        let copy = layers::hint(Place::Pages, LayerKey::Copy, "copy");
        vec![scroll, switch, copy, close]
    }
}
