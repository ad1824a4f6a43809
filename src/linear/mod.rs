//! `humble --linear`: the chat as text that is only ever appended, for screen readers and for
//! terminals without cursor control. The terminal edits the lines (cooked mode), except for answers to
//! questions. Nothing that was printed is changed, and the input prompt is printed only while a line is
//! wanted.
//!
//! Questions are asked and answered as in `humble ask` ([`crate::headless`]). The commands are those
//! of the screen ([`crate::commands`]).

mod ask;
mod attachments;
mod choice;
mod commands;
mod conversation;
mod events;
mod exit;
mod help;
mod lists;
mod message;
mod models;
mod new_servers;
mod output;
mod pending;
mod prompts;
mod sentences;
mod servers;
mod sessions;
mod state;
mod trust;
mod turn;
mod turn_text;

pub use exit::LinearOptions;

use crate::front_end::shutdown::shut_down;
use crate::headless::signals::ExitSignals;
use crate::headless::tty_reader::TtyReader;
use crate::protocol::{Command, Event};
use exit::LinearExit;
use state::Linear;
use std::io;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

/// The result of a chat, with the text that remains to be printed.
pub struct LinearEnd {
    pub code: u8,
    /// The title of the open conversation; `None` if `--continue` cannot open it again.
    pub saved_title: Option<String>,
    pub columns: u16,
}

/// Runs the chat until the user leaves, a signal arrives or the terminal is lost.
///
/// # Errors
/// The terminal cannot be opened, or the signal handlers cannot be installed.
pub async fn run(
    commands: mpsc::Sender<Command>,
    mut events: mpsc::Receiver<Event>,
    options: LinearOptions,
) -> io::Result<LinearEnd> {
    let mut signals = ExitSignals::install()?;
    let tty = Arc::new(TtyReader::open()?);
    let mut linear = Linear::new(tty, options);
    linear.greet();
    let exit = run_loop(&mut linear, &commands, &mut events, &mut signals).await;
    linear.output.end();
    // Only leaving on purpose cancels the running turn.
    let shutdown = match exit {
        LinearExit::Quit => Command::Shutdown,
        _ => Command::ShutdownKeepingTurn,
    };
    if exit != LinearExit::EngineGone {
        shut_down(shutdown, &commands, &mut events).await;
    }
    let columns = linear.tty.columns();
    Ok(LinearEnd {
        code: exit.code(),
        saved_title: linear.conversation.saved_title(),
        columns,
    })
}

async fn run_loop(
    linear: &mut Linear,
    commands: &mpsc::Sender<Command>,
    events: &mut mpsc::Receiver<Event>,
    signals: &mut ExitSignals,
) -> LinearExit {
    loop {
        for command in linear.effects.drain(..) {
            // If the engine has stopped, its event channel is closed, which ends the loop.
            let _ = commands.send(command).await;
        }
        if let Some(exit) = linear.exit {
            return exit;
        }
        let prompt_due = linear.prompt_due();
        let takes_lines = linear.takes_lines();
        tokio::select! {
            code = signals.next() => match code {
                crate::headless::EXIT_INTERRUPTED => linear.interrupt(),
                code => return LinearExit::Signal(code),
            },
            event = events.recv() => match event {
                None | Some(Event::ShutDown) => return LinearExit::EngineGone,
                Some(event) => linear.handle_event(event),
            },
            (ask, answer, report) = linear.questions.next_answer() => {
                linear.send_answer(ask, answer, report);
            }
            line = linear.confirmation.answer() => linear.confirmation_answered(line),
            lines = linear.input.next(&linear.tty), if takes_lines => match lines {
                Some(typed) => linear.handle_typed(typed),
                None => return LinearExit::InputLost,
            },
            () = wait_until(prompt_due) => linear.show_prompt(),
            () = wait_until(linear.interrupt_deadline) => {
                linear.output.line("humble: the engine is not responding. Quitting without it.");
                return LinearExit::Signal(crate::headless::EXIT_INTERRUPTED);
            }
        }
    }
}

async fn wait_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
