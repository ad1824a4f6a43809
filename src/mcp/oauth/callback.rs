//! Reads the address that the browser is sent to after a sign-in. The same checks apply to an
//! address that the listener received and to one that the user pasted.

use super::addresses::display_text;
use super::error::OAuthError;
use crate::domain::SecretRegistry;
use crate::domain::model::Secret;
use subtle::ConstantTimeEq as _;
use url::Url;

/// Longer addresses are rejected.
const CALLBACK_BYTES_MAX: usize = 16 << 10;

/// The values that a callback must match.
pub struct ExpectedCallback {
    /// Where the browser is sent after the sign-in.
    pub redirect_uri: Url,
    pub state: String,
    pub issuer: String,
    /// Whether the callback must name the issuer.
    pub needs_issuer: bool,
    /// Receives `state` and the code, which the authorization server may repeat.
    pub secrets: SecretRegistry,
}

impl ExpectedCallback {
    /// Returns the authorization code of a callback.
    ///
    /// # Errors
    /// The text is a different address, it belongs to a different sign-in or server, or the
    /// authorization server refused.
    pub fn authorization_code(&self, text: &str) -> Result<Secret, OAuthError> {
        let url = self.parse(text)?;
        let value = |name: &str| -> Result<Option<String>, OAuthError> {
            let mut values = url.query_pairs().filter(|(key, _)| key == name);
            let value = values.next().map(|(_, value)| value.into_owned());
            match values.next() {
                // OAuth forbids repeated parameters, because two parsers may disagree on which one counts.
                Some(_) => Err(OAuthError::RepeatedParameter(name.to_owned())),
                None => Ok(value),
            }
        };
        let state = value("state")?.unwrap_or_default();
        if !bool::from(state.as_bytes().ct_eq(self.state.as_bytes())) {
            return Err(OAuthError::WrongState);
        }
        match value("iss")? {
            Some(issuer) if issuer != self.issuer => return Err(OAuthError::WrongIssuer),
            None if self.needs_issuer => return Err(OAuthError::WrongIssuer),
            _ => {}
        }
        if let Some(error) = value("error")? {
            let description = value("error_description")?.unwrap_or_default();
            // A code has no place in a refusal, but a server may send one anyway.
            let code = value("code")?.unwrap_or_default();
            let repeatable = [Secret::new(self.state.as_str()), Secret::new(code)];
            self.secrets.add_tokens(repeatable);
            let why = refusal_text(&self.secrets, &error, &description);
            return Err(OAuthError::Refused(why));
        }
        match value("code")? {
            Some(code) if !code.is_empty() => Ok(Secret::new(code)),
            _ => Err(OAuthError::NoCode),
        }
    }

    fn parse(&self, text: &str) -> Result<Url, OAuthError> {
        let not_ours = || OAuthError::NotTheCallback(self.redirect_uri.to_string());
        // Terminals break long lines, and browsers leave out `http://` when copying.
        let text: String = text.split_whitespace().collect();
        if text.len() > CALLBACK_BYTES_MAX {
            return Err(not_ours());
        }
        let text = match text.contains("://") {
            true => text,
            false => format!("http://{text}"),
        };
        let url = Url::parse(&text).map_err(|_| not_ours())?;
        let is_ours = url.scheme() == self.redirect_uri.scheme()
            && url.host() == self.redirect_uri.host()
            && url.port() == self.redirect_uri.port()
            && url.path() == self.redirect_uri.path();
        is_ours.then_some(url).ok_or_else(not_ours)
    }
}

/// Combines an error code and its description (RFC 6749, section 5.2). All refusals of an
/// authorization server pass through here. The server may repeat the secrets that we sent.
pub fn refusal_text(secrets: &SecretRegistry, error: &str, description: &str) -> String {
    match (error, description.trim().trim_end_matches('.')) {
        ("access_denied", "") => "access was denied".to_owned(),
        (error, "") => display_text(&secrets.redact(error)),
        (error, description) => display_text(&secrets.redact(&format!("{description} ({error})"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected(needs_issuer: bool) -> ExpectedCallback {
        ExpectedCallback {
            redirect_uri: Url::parse("http://127.0.0.1:7777/callback").expect("a URL"),
            state: "st8".to_owned(),
            issuer: "https://as.example".to_owned(),
            needs_issuer,
            secrets: SecretRegistry::default(),
        }
    }

    fn read(query: &str) -> Result<String, OAuthError> {
        let text = format!("http://127.0.0.1:7777/callback?{query}");
        let code = expected(false).authorization_code(&text)?;
        Ok(code.expose().to_owned())
    }

    #[test]
    fn a_code_is_accepted_only_with_the_right_state() {
        assert_eq!(read("code=c%2F1&state=st8"), Ok("c/1".to_owned()));
        for query in ["code=c", "code=c&state=st9", "code=c&state="] {
            assert_eq!(read(query), Err(OAuthError::WrongState), "{query}");
        }
        assert_eq!(read("state=st8"), Err(OAuthError::NoCode));
        let repeated = |name: &str| Err(OAuthError::RepeatedParameter(name.to_owned()));
        assert_eq!(read("code=c&state=st8&state=st8"), repeated("state"));
        assert_eq!(read("code=c&code=d&state=st8"), repeated("code"));
    }

    #[test]
    fn the_issuer_is_compared_byte_for_byte() {
        let with = |issuer: &str| read(&format!("code=c&state=st8&iss={issuer}"));
        assert!(with("https://as.example").is_ok());
        for issuer in [
            "https://as.example/",
            "https://AS.example",
            "https://evil.example",
            "",
        ] {
            assert_eq!(with(issuer), Err(OAuthError::WrongIssuer), "{issuer}");
        }
        let without =
            expected(true).authorization_code("http://127.0.0.1:7777/callback?code=c&state=st8");
        assert_eq!(without.err(), Some(OAuthError::WrongIssuer));
    }

    #[test]
    fn an_error_counts_only_with_the_right_state_and_issuer() {
        let denied = OAuthError::Refused("access was denied".to_owned());
        assert_eq!(read("error=access_denied&state=st8"), Err(denied));
        assert_eq!(
            read("error=access_denied&state=other"),
            Err(OAuthError::WrongState)
        );
        let forged = read("error=access_denied&state=st8&iss=https://evil.example");
        assert_eq!(forged, Err(OAuthError::WrongIssuer));
    }

    #[test]
    fn pasted_text_may_be_wrapped_or_lack_the_scheme_but_must_be_the_callback() {
        let read = |text: &str| {
            let code = expected(false).authorization_code(text);
            code.map(|code| code.expose().to_owned())
        };
        let code = Ok("c".to_owned());
        assert_eq!(read("  127.0.0.1:7777/callback?code=c&state=st8\n"), code);
        assert_eq!(
            read("http://127.0.0.1:7777/call\n  back?code=c&sta\nte=st8"),
            code
        );
        for other in [
            "",
            "c",
            "https://as.example/authorize?state=st8&code=c",
            "http://127.0.0.1:7778/callback?code=c&state=st8",
            "https://127.0.0.1:7777/callback?code=c&state=st8",
            "http://127.0.0.1:7777/other?code=c&state=st8",
        ] {
            assert!(
                matches!(read(other), Err(OAuthError::NotTheCallback(_))),
                "{other}"
            );
        }
    }
}
