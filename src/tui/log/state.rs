//! The latest lines of the log, or what the last answer was made of.

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
    /// Lines of the log below what is in view: it is read from its end.
    back: usize,
    trace: TracePage,
}

/// Where somebody is in the trace of the last answer.
#[derive(Debug, Default)]
pub struct TracePage {
    /// The first line in view.
    pub top: usize,
    /// The lines that were in view.
    pub shown: usize,
}

/// `/log answer` begins with the last answer.
pub fn open(argument: &str, cx: &mut Cx) {
    let tab = match argument {
        "" => LogTab::Log,
        "answer" => LogTab::LastAnswer,
        _ => return cx.notify(Notice::warning("It is `/log` or `/log answer`.")),
    };
    let layer = LogLayer {
        tab,
        ..LogLayer::default()
    };
    layer.ask(cx);
    cx.open(layer);
}

impl LogLayer {
    /// The engine is asked only while somebody looks.
    fn ask(&self, cx: &mut Cx) {
        if self.tab == LogTab::LastAnswer {
            cx.send(Command::Trace);
        }
    }

    /// To the beginning or the end of what is shown.
    fn jump(&mut self, to_end: bool) {
        let far = if to_end { usize::MAX } else { 0 };
        match self.tab {
            LogTab::Log => self.back = usize::MAX - far,
            LogTab::LastAnswer => self.trace.top = far,
        }
    }

    /// What `y` copies.
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

/// Whoever looks sees each reply once it is whole, and what became of its calls.
fn is_news(event: &TurnEvent) -> bool {
    match event {
        TurnEvent::Started { .. } | TurnEvent::RoundEnded { .. } | TurnEvent::Ended { .. } => true,
        // Progress comes as often as a server likes, and is not told.
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
                // A page goes on where the view ended, however its lines were wrapped.
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
