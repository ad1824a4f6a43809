//! Flags of the chat that were given to another command.

use crate::cli::{Cli, CliCommand};

/// Reports a flag of the chat that was given together with another command. Returns whether there was
/// one.
pub(super) fn report(cli: &Cli) -> bool {
    let Some(command) = &cli.command else {
        return false;
    };
    if cli.continue_latest || cli.session.is_some() {
        eprintln!(
            "--continue and --session open the chat: `humble --continue`, without a command."
        );
        eprintln!("To ask one question in the latest conversation: humble ask --continue \"…\"");
        return true;
    }
    let is_misplaced = cli.linear && !matches!(command, CliCommand::Demo(_));
    if is_misplaced {
        eprintln!("--linear is for the chat and for `humble demo`.");
    }
    is_misplaced
}
