//! Files attached to the message: their rows above it, completion of paths after `@` and
//! `/attach`, and files that are dropped on the terminal.

pub mod choice;
mod cleared;
pub mod describe;
pub mod dropped;
mod earlier_run;
pub mod file;
mod followed;
pub mod mention;
pub mod mention_check;
mod removed;
pub mod rows;
pub mod search;
pub mod state;
