//! A request to visit a web page. The address is taken apart, so that the user can see where it
//! really leads. Nothing is fetched.

use super::schema::message;
use crate::domain::HostScope;
use serde_json::Value;
use url::{Host, Url};

const URL_BYTES_MAX: usize = 8_192;
/// Longer ids are truncated.
const ID_CHARS_MAX: usize = 200;

/// A page that a server asks the user to visit, such as a sign-in. All texts are the server's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UrlElicitation {
    pub message: String,
    /// The server's id for this request, which its completion notification repeats.
    pub id: String,
    /// ASCII only: the host is in Punycode, other characters are percent-encoded.
    pub url: String,
    /// The host as part of `url`, with the port if there is one.
    pub host: String,
    pub warnings: Vec<UrlWarning>,
}

/// A reason to distrust an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UrlWarning {
    /// The host has letters outside ASCII, which can look like others. Contains its readable form.
    International(String),
    /// The address has a user name before the host, which can look like a host.
    UserName,
    /// The host is a number instead of a name.
    IpAddress,
    /// The page is on this machine.
    Local,
    Unencrypted,
}

impl UrlElicitation {
    /// Reads the `params` of `elicitation/create` with the mode `url`.
    ///
    /// # Errors
    /// Why the address cannot be offered, as a clause for the server and the user.
    pub fn from_params(params: &Value) -> Result<Self, String> {
        let text = |key: &str| params.get(key).and_then(Value::as_str);
        let raw = text("url").ok_or("it has no `url`")?;
        if raw.len() > URL_BYTES_MAX {
            return Err(format!("its address is longer than {URL_BYTES_MAX} bytes"));
        }
        let url = Url::parse(raw).map_err(|error| format!("its address is invalid: {error}"))?;
        if !matches!(url.scheme(), "https" | "http") {
            return Err(format!(
                "its address begins with `{}:`; only `https:` and `http:` are opened",
                url.scheme()
            ));
        }
        let host = url.host_str().ok_or("its address has no host")?;
        let port = url
            .port()
            .map_or_else(String::new, |port| format!(":{port}"));
        Ok(Self {
            message: message(params)?,
            id: elicitation_id(params).unwrap_or_default(),
            host: format!("{host}{port}"),
            warnings: warnings(&url, host),
            url: url.to_string(),
        })
    }
}

/// The id of a request to visit a page, in the `params` of the request and of the notification of
/// its completion.
pub fn elicitation_id(params: &Value) -> Option<String> {
    let id = params.get("elicitationId")?.as_str()?;
    Some(id.chars().take(ID_CHARS_MAX).collect())
}

fn warnings(url: &Url, host: &str) -> Vec<UrlWarning> {
    let mut warnings = Vec::new();
    if host.split('.').any(|label| label.starts_with("xn--")) {
        let readable = url::quirks::domain_to_unicode(host);
        warnings.push(UrlWarning::International(readable));
    }
    if !url.username().is_empty() || url.password().is_some() {
        warnings.push(UrlWarning::UserName);
    }
    let is_local = HostScope::of_url(url).is_some_and(HostScope::is_probably_loopback);
    match url.host() {
        _ if is_local => warnings.push(UrlWarning::Local),
        Some(Host::Ipv4(_) | Host::Ipv6(_)) => warnings.push(UrlWarning::IpAddress),
        _ => {}
    }
    if url.scheme() == "http" && !is_local {
        warnings.push(UrlWarning::Unencrypted);
    }
    warnings
}

impl UrlWarning {
    /// The warning as a sentence. Contains text of the server, unsanitized.
    pub fn sentence(&self) -> String {
        match self {
            Self::International(readable) => {
                format!("The host has letters that can look like others. It reads as {readable}.")
            }
            Self::UserName => {
                "The part before the @ is a user name, not the site that opens.".to_owned()
            }
            Self::IpAddress => "The host is a number, not the name of a site.".to_owned(),
            Self::Local => "The page is on this machine, not on the web.".to_owned(),
            Self::Unencrypted => "The connection is not encrypted.".to_owned(),
        }
    }
}
