//! Messages about signing in to servers.

use crate::domain::{ServerId, SignInRequest};
use std::sync::Arc;

/// At most one sign-in is open at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignInCommand {
    /// Starts a sign-in, which replaces the open one. Answered by [`SignInEvent::Opened`], or by a
    /// notice and [`SignInEvent::Ended`].
    Start(ServerId),
    /// The address of the page where the browser ended up, as pasted by the user.
    UseAddress(String),
    Cancel,
    /// Removes the tokens of a server. A notice reports the result.
    SignOut(ServerId),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignInEvent {
    /// The sign-in waits for the user.
    Opened(Arc<SignInRequest>),
    /// Holds the reason. The sign-in continues.
    AddressRejected(String),
    /// The browser or the user returned the right address, and the tokens are being requested.
    ExchangingCode,
    /// The sign-in to this server succeeded or failed.
    Ended(ServerId),
}
