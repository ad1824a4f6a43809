//! Floor 3: the background actor that owns model streams and server sessions.

pub mod approval;
pub mod context;
pub mod turn;
