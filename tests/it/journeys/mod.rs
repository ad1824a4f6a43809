//! What a person does and sees, as the manual would tell it: real screen, real
//! engine, a scripted model, the built-in tools.

use crate::support::bench;
use crate::support::chat;
use crate::support::workshop;
mod approving;
mod branching;
mod calling;
mod faults;
mod guided;
mod managing;
mod models;
mod probing;
mod replacing;
mod servers;
mod talking;
mod tracing;
mod trusting;

use bench::{GET_TIME, GET_TIME_NOWHERE, sessions};
use chat::{Chat, chat, chat_in, chat_with, demo_in, demo_with, first_run};
use crossterm::event::{KeyCode, KeyModifiers};
use humble::provider::scripted::{Script, ScriptStep};
use std::time::Duration;

fn script() -> Script {
    Script::default()
}
