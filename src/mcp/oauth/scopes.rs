//! Selects the scopes that a sign-in requests.

use super::challenge::BearerChallenge;
use super::discovery::Discovered;
use super::error::OAuthError;
use std::collections::HashSet;

/// Maximum number of sign-ins for the same scopes. A server that still asks for them will never be
/// satisfied.
const STEP_UPS_MAX: u32 = 2;
/// Asks for a refresh token (OpenID Connect).
const OFFLINE_ACCESS: &str = "offline_access";

/// Consecutive sign-ins that asked for the same missing scopes.
#[derive(Debug, Default)]
pub struct StepUps {
    scopes: Vec<String>,
    attempts: u32,
}

impl StepUps {
    /// # Errors
    /// The server has asked for these scopes too often and will never be satisfied.
    pub fn count_sign_in(&mut self, scopes: &[String]) -> Result<(), OAuthError> {
        if self.scopes != scopes {
            *self = Self {
                scopes: scopes.to_vec(),
                attempts: 0,
            };
        }
        if self.attempts >= STEP_UPS_MAX {
            return Err(OAuthError::ScopeNotGranted {
                scopes: scopes.join(", "),
                attempts: STEP_UPS_MAX,
            });
        }
        self.attempts += 1;
        Ok(())
    }
}

/// The scopes to request, from the first of these that applies:
/// 1. after a challenge about insufficient scope, the `granted` scopes and those of the challenge;
/// 2. the `configured` scopes, if any;
/// 3. the scopes of the challenge, if any;
/// 4. all scopes of the resource.
///
/// If no scopes are configured, `offline_access` is added to those found, provided that the
/// authorization server offers it.
pub fn select_scopes(
    configured: &[String],
    challenge: Option<&BearerChallenge>,
    granted: Vec<String>,
    discovered: &Discovered,
) -> Vec<String> {
    let mut scopes = match challenge {
        Some(challenge) if challenge.is_insufficient_scope() => {
            let mut scopes = granted;
            scopes.extend(challenge.scopes.iter().cloned());
            scopes
        }
        _ if !configured.is_empty() => configured.to_vec(),
        Some(challenge) if !challenge.scopes.is_empty() => challenge.scopes.clone(),
        _ => discovered.resource_scopes.clone(),
    };
    let offers_refresh = discovered
        .server
        .scopes
        .iter()
        .any(|scope| scope == OFFLINE_ACCESS);
    // Alone, it would replace the scopes that the server grants by default.
    if offers_refresh && configured.is_empty() && !scopes.is_empty() {
        scopes.push(OFFLINE_ACCESS.to_owned());
    }
    let mut seen = HashSet::new();
    scopes.retain(|scope| seen.insert(scope.clone()));
    scopes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_third_sign_in_for_the_same_scopes_is_refused() {
        let scopes =
            |names: &[&str]| -> Vec<String> { names.iter().map(|&name| name.to_owned()).collect() };
        let mut step_ups = StepUps::default();
        let admin = scopes(&["admin"]);
        assert_eq!(step_ups.count_sign_in(&admin), Ok(()));
        assert_eq!(step_ups.count_sign_in(&admin), Ok(()));
        let error = step_ups.count_sign_in(&admin);
        assert!(
            matches!(error, Err(OAuthError::ScopeNotGranted { .. })),
            "{error:?}"
        );
        assert_eq!(step_ups.count_sign_in(&scopes(&["other"])), Ok(()));
    }
}
