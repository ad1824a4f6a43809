//! Rendered answers on the screen: how they look at three sizes, that a terminal
//! shows what the buffer holds, and that the reading position stays.

#[allow(dead_code, reason = "other tests tell more of the story")]
#[path = "../support/story.rs"]
mod story;

mod looks;
mod position;
