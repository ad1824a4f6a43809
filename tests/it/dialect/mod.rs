//! How models are taught to call tools, and how their calls are read back, cut
//! into chunks at every place.

use crate::support::scanned;
mod broken;
mod cuts;
mod offered;
mod properties;
mod pythonic;
mod scan;
mod tags;
mod teach;
mod tokens;
mod wrapped;
mod written;
