//! Rendered answers on the screen: how they look at three sizes, that a terminal
//! shows what the buffer holds, and that the reading position stays.

use crate::support::screen_harness;
mod looks;
mod reading_position;
