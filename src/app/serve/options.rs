//! Reads the HTTP server's options from the command line and the environment.

use crate::cli::serve::ServeArgs;
use crate::config;
use crate::domain::HostScope;
use crate::domain::model::Secret;
use crate::serve::http::{ANY_HOST, AccessPolicy, HttpLimits, HttpOptions, ListenError, resolve};
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

const DEFAULT_PORT: u16 = 8080;
const PORT_VARIABLE: &str = "MCP_PORT";
const TOKEN_VARIABLE: &str = "HUMBLE_SERVE_TOKEN";
/// Shorter tokens cause a warning.
const TOKEN_CHARS_MIN: usize = 16;

/// Validated options. A token is always set if other machines can reach an address.
pub(super) struct HttpSetup {
    addresses: Vec<SocketAddr>,
    access: AccessPolicy,
    token: Option<Secret>,
    rate_limit: u32,
    warnings: Vec<String>,
}

impl HttpSetup {
    /// The error is a message for the user.
    pub(super) async fn read(args: &ServeArgs) -> Result<Self, String> {
        let port = match args.port {
            Some(port) => port,
            None => parse_port(std::env::var(PORT_VARIABLE).ok().as_deref())?,
        };
        let addresses = resolve(&args.host, port).await;
        let addresses = addresses.map_err(|error| error.to_string())?;
        let mut warnings = Vec::new();
        let token = match &args.token_file {
            Some(path) => Some(read_token_file(path, &mut warnings)?),
            None => std::env::var(TOKEN_VARIABLE)
                .ok()
                .filter(|token| !token.trim().is_empty())
                .map(|token| check_token(&token, TOKEN_VARIABLE))
                .transpose()?,
        };
        require_token(&addresses, token.is_some())?;
        let mut access = AccessPolicy::default();
        if args.host.parse::<IpAddr>().is_err() {
            // It resolved, so it is a host name or an IPv6 address in brackets.
            access = access.clone().with_host(&args.host).unwrap_or(access);
        }
        if args.allow_host.iter().any(|name| name == ANY_HOST) {
            warnings.push(ANY_HOST_WARNING.to_owned());
        }
        for name in &args.allow_host {
            access = access.with_host(name).ok_or_else(|| {
                format!("--allow-host needs a host name without a port, such as mcp.example.com, not `{name}`.")
            })?;
        }
        if let Some(token) = &token {
            if token.chars().count() < TOKEN_CHARS_MIN {
                warnings.push(format!(
                    "The access token has fewer than {TOKEN_CHARS_MIN} characters and may be guessed. {TOKEN_HINT}"
                ));
            }
            access = access.with_token(token);
        }
        Ok(Self {
            addresses,
            access,
            token: token.map(Secret::new),
            rate_limit: args.rate_limit,
            warnings,
        })
    }

    pub(super) fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    pub(super) fn has_token(&self) -> bool {
        self.token.is_some()
    }

    pub(super) fn secrets(&self) -> Vec<Secret> {
        self.token.clone().into_iter().collect()
    }

    pub(super) fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// `addresses` are the ones that the listener is bound to.
    pub(super) fn into_options(self, addresses: &[SocketAddr]) -> HttpOptions {
        let access = addresses.iter().fold(self.access, |access, address| {
            access.listening_on(address.ip())
        });
        HttpOptions {
            access,
            limits: HttpLimits {
                requests_per_second: self.rate_limit,
                ..HttpLimits::default()
            },
        }
    }
}

const ANY_HOST_WARNING: &str = "--allow-host '*' switches off the check of the Host header, which keeps web pages from \
    reaching this server under their own host names (DNS rebinding). Name the hosts instead, or use an access token.";
const TOKEN_HINT: &str = "For a good one, run: openssl rand -hex 32";

pub(super) fn explain(error: &ListenError) -> String {
    match error {
        ListenError::PortTaken(address) => {
            let next = address.port().checked_add(1).unwrap_or(DEFAULT_PORT);
            format!("{error} For example: humble serve --http --port {next}")
        }
        ListenError::PortForbidden(_) => format!("{error} Use --port."),
        ListenError::NotOurAddress(_) => format!(
            "{error} Use --host 127.0.0.1 for this machine only, or --host 0.0.0.0 for all its networks."
        ),
        ListenError::UnknownHost { .. } | ListenError::Other { .. } => error.to_string(),
    }
}

fn parse_port(variable: Option<&str>) -> Result<u16, String> {
    match variable.map(str::trim) {
        None | Some("") => Ok(DEFAULT_PORT),
        Some(text) => text
            .parse()
            .map_err(|_| format!("{PORT_VARIABLE} must be a port number, not `{text}`.")),
    }
}

fn require_token(addresses: &[SocketAddr], has_token: bool) -> Result<(), String> {
    let exposed = addresses
        .iter()
        .find(|address| HostScope::of_address(address.ip()) != HostScope::Loopback);
    match exposed {
        Some(address) if !has_token => Err(format!(
            "Other machines could use the tools on {}, so an access token is required. Set {TOKEN_VARIABLE} or use \
             --token-file PATH. {TOKEN_HINT}",
            address.ip()
        )),
        _ => Ok(()),
    }
}

fn read_token_file(path: &Path, warnings: &mut Vec<String>) -> Result<String, String> {
    let name = path.display();
    let text = config::read_token_file(path)
        .map_err(|why| format!("Could not read the token file {name}: {why}."))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(path).map_or(0, |metadata| metadata.permissions().mode());
        if mode & 0o077 != 0 {
            let mode = mode & 0o777;
            warnings.push(format!(
                "The token file has the permissions {mode:03o}, which are not limited to you. To change that: chmod 600 {name}"
            ));
        }
    }
    check_token(&text, &name.to_string())
}

/// Trims a token and checks that it can be sent in a header. `source` is the file or variable
/// that it was read from.
fn check_token(text: &str, source: &str) -> Result<String, String> {
    let token = text.trim();
    if token.is_empty() {
        return Err(format!("The token in {source} is empty. {TOKEN_HINT}"));
    }
    if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(format!(
            "The token in {source} cannot be sent in a header: use only ASCII letters, digits and punctuation, \
             without spaces. {TOKEN_HINT}"
        ));
    }
    Ok(token.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_addresses_need_no_token() {
        let check = |text: &str, has_token| {
            let address: SocketAddr = text.parse().expect("an address");
            require_token(&[address], has_token)
        };
        for local in [
            "127.0.0.1:80",
            "127.9.9.9:80",
            "[::1]:80",
            "[::ffff:127.0.0.1]:80",
        ] {
            assert_eq!(check(local, false), Ok(()), "{local}");
        }
        for open in ["0.0.0.0:80", "[::]:80", "192.168.1.5:80", "[fe80::1]:80"] {
            let why = check(open, false).expect_err(open);
            assert!(
                why.contains(TOKEN_VARIABLE) && why.contains("--token-file"),
                "{why}"
            );
            assert_eq!(check(open, true), Ok(()), "{open}");
        }
    }

    #[test]
    fn port_variable_must_be_a_port_number() {
        assert_eq!(parse_port(None), Ok(8080));
        assert_eq!(parse_port(Some(" ")), Ok(8080));
        assert_eq!(parse_port(Some("9000")), Ok(9000));
        for text in ["x", "-1", "70000", "80 81"] {
            let why = parse_port(Some(text)).expect_err(text);
            assert!(why.contains("MCP_PORT"), "{why}");
        }
    }

    #[test]
    fn token_must_fit_into_a_header() {
        assert_eq!(check_token("abc-123\n", "it"), Ok("abc-123".to_owned()));
        for text in ["", " \n", "two words", "토큰", "a\nb"] {
            assert!(check_token(text, "it").is_err(), "{text:?}");
        }
    }
}
