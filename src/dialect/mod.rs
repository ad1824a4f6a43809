//! How models are taught to call tools, and how their calls are read back out of
//! a stream of text. Pure. One family of forms is one file, listed in `family`;
//! `scan` alone decides what of the stream is held back.

mod body;
mod broken;
mod code;
mod family;
mod gemma;
mod harmony;
mod json;
mod named;
pub mod pairs;
mod piece;
mod pythonic;
mod read;
pub mod scan;
mod seam;
mod tags;
pub mod teach;
mod think;
mod tool_code;
mod typed;
mod wrapper;
