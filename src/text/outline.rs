//! x
pub struct Outline;
pub struct Event;
