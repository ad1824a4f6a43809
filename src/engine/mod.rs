//! Floor 3: one background actor owns model streams, server sessions and the
//! conversation. Front ends speak to it over two channels, and share nothing else.
//!
//! `actor` is the select loop, `commands` what a front end asks, `perform` runs the
//! turn's effects; `turn`, `approval` and `context` are pure.

pub mod approval;
pub mod context;
pub mod turn;
