//! How models are taught to call tools, and how their calls are read back, cut
//! into chunks at every place.

#[path = "dialect/teach.rs"]
mod teach;
