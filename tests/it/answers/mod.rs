//! Rendered answers: their appearance at three sizes, their output in a terminal emulator, and a
//! stable reading position.

use crate::support::screen_harness;
mod reading_position;
mod rendering;
