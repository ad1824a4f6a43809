//! Rendered answers: their appearance at three sizes, agreement of the terminal with the buffer,
//! and a stable reading position.

use crate::support::screen_harness;
mod reading_position;
mod rendering;
