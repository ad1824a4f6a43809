//! Rendered answers: their appearance at three sizes, whether a terminal shows what the program
//! drew, and a stable reading position.

use crate::support::screen_harness;
mod reading_position;
mod rendering;
