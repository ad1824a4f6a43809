//! How models are taught to call tools, and how their calls are read back, cut
//! into chunks at every place.

#[path = "dialect/broken.rs"]
mod broken;
#[path = "dialect/cuts.rs"]
mod cuts;
#[path = "dialect/offered.rs"]
mod offered;
#[path = "dialect/properties.rs"]
mod properties;
#[path = "dialect/pythonic.rs"]
mod pythonic;
#[path = "dialect/scan.rs"]
mod scan;
#[path = "support/scanned.rs"]
mod scanned;
#[path = "dialect/tags/mod.rs"]
mod tags;
#[path = "dialect/teach.rs"]
mod teach;
#[path = "dialect/tokens.rs"]
mod tokens;
#[path = "dialect/wrapped.rs"]
mod wrapped;
#[path = "dialect/written.rs"]
mod written;
