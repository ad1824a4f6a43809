//! OAuth 2.1 sign-in for remote servers: discovery (RFC 9728, RFC 8414), client registration
//! (RFC 7591), the authorization code flow with PKCE, and refresh. Every URL named by a server is
//! checked before it is requested, and no token, code, verifier or secret is logged or shown.
//!
//! (`rmcp` and the crate `oauth2` have clients too. `rmcp` logs authorization codes, does not keep
//! the secret of a registered client, and accepts servers that do not announce PKCE.)

mod addresses;
mod authorizer;
mod callback;
mod challenge;
mod client_assertion;
mod client_auth;
mod credential_file;
mod discovery;
mod error;
mod http;
mod listener;
mod metadata;
mod random;
mod registration;
mod renewal;
mod scopes;
mod sign_in;
mod token_request;

pub use authorizer::{Authorizer, TokenRejection};
pub use credential_file::CredentialFile;
pub use error::OAuthError;
pub use sign_in::{SignIn, SignInProgress};
