//! What the system message says about tools (S4.1 to S4.3).

use crate::domain::{Dialect, Offered};

/// The system message: `prompt` (the text of system_prompt.txt or a persona), the
/// tool block and the call block. None where there is nothing to say.
pub fn system_message(prompt: &str, dialect: Dialect, offered: &Offered) -> Option<String> {
    let _ = (dialect, offered);
    Some(prompt.to_owned())
}
