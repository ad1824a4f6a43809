//! The environment variables of a child process. An allow-list, so that an API key in this
//! program's environment does not reach every server.

use crate::domain::server::InheritedEnv;
use crate::text::{WordList, word_list};
use std::ffi::{OsStr, OsString};

static ALLOWED_NAMES: WordList = word_list!("environment", "server");

/// Inherited in upper and lower case.
static PROXY_NAMES: WordList = word_list!("environment", "proxies");

/// Inherited with any suffix.
static ALLOWED_PREFIXES: WordList = word_list!("environment", "server prefixes");

/// Selects the variables of this program that a child may inherit. The caller adds the variables of
/// its `env` entry.
pub fn inherited_variables(
    variables: impl Iterator<Item = (OsString, OsString)>,
    inherit: &InheritedEnv,
) -> Vec<(OsString, OsString)> {
    variables
        .filter(|(name, _)| is_inherited(name, inherit))
        .collect()
}

fn is_inherited(name: &OsStr, inherit: &InheritedEnv) -> bool {
    let is_allowed = name.to_str().is_some_and(|name| {
        ALLOWED_NAMES.contains(&name)
            || PROXY_NAMES
                .iter()
                .any(|proxy| name == *proxy || name == proxy.to_ascii_lowercase())
            || ALLOWED_PREFIXES
                .iter()
                .any(|prefix| name.starts_with(prefix))
    });
    match inherit {
        InheritedEnv::AllowList => is_allowed,
        InheritedEnv::AllowListAnd(names) => {
            is_allowed || names.iter().any(|extra| name == extra.as_str())
        }
        InheritedEnv::All => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inherited(names: &[&str], inherit: &InheritedEnv) -> Vec<String> {
        let variables = names.iter().map(|name| (name.into(), "value".into()));
        inherited_variables(variables, inherit)
            .into_iter()
            .map(|(name, _)| name.into_string().expect("the names are UTF-8"))
            .collect()
    }

    const NAMES: &[&str] = &[
        "PATH",
        "LC_ALL",
        "XDG_DATA_HOME",
        "https_proxy",
        "NO_PROXY",
        "No_Proxy",
        "SSL_CERT_FILE",
        "UV_CACHE_DIR",
        "OPENAI_API_KEY",
        "PATHOLOGY",
        "MY_LC_ALL",
        "AWS_SECRET",
    ];

    #[test]
    fn only_variables_of_the_allow_list_are_inherited() {
        assert_eq!(
            inherited(NAMES, &InheritedEnv::AllowList),
            [
                "PATH",
                "LC_ALL",
                "XDG_DATA_HOME",
                "https_proxy",
                "NO_PROXY",
                "SSL_CERT_FILE",
                "UV_CACHE_DIR"
            ]
        );
    }

    #[test]
    fn inherit_env_adds_names_or_passes_everything() {
        let with_aws = InheritedEnv::AllowListAnd(vec!["AWS_SECRET".into()]);
        assert_eq!(
            inherited(&["PATH", "AWS_SECRET", "X"], &with_aws),
            ["PATH", "AWS_SECRET"]
        );
        assert_eq!(inherited(NAMES, &InheritedEnv::All).len(), NAMES.len());
    }
}
