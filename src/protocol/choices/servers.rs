//! The choices between servers that have a tool of the same name.

use super::{C, ChoiceRow, row};

const TELL_MODEL: ChoiceRow = row(
    C::TellModel,
    'm',
    "tell the model",
    "Tell the model to name the server",
);
const STOP_TURN: ChoiceRow = row(C::Stop, 'n', "stop", "Stop this turn");
const SERVER_1: ChoiceRow = row(C::FirstServer, '1', "server 1", "Use server 1");
const SERVER_2: ChoiceRow = row(C::SecondServer, '2', "server 2", "Use server 2");
const SERVER_3: ChoiceRow = row(C::ThirdServer, '3', "server 3", "Use server 3");
const SERVER_4: ChoiceRow = row(C::FourthServer, '4', "server 4", "Use server 4");
/// Servers that can be chosen. If more have the tool, the model must name the server.
pub const SERVER_CHOICES_MAX: usize = 4;
const TWO_SERVERS: &[ChoiceRow] = &[SERVER_1, SERVER_2, TELL_MODEL, STOP_TURN];
const THREE_SERVERS: &[ChoiceRow] = &[SERVER_1, SERVER_2, SERVER_3, TELL_MODEL, STOP_TURN];
const FOUR_SERVERS: &[ChoiceRow] = &[
    SERVER_1, SERVER_2, SERVER_3, SERVER_4, TELL_MODEL, STOP_TURN,
];

pub(super) fn choices(server_count: usize) -> &'static [ChoiceRow] {
    match server_count {
        0..=2 => TWO_SERVERS,
        3 => THREE_SERVERS,
        _ => FOUR_SERVERS,
    }
}
