//! Servers as an MCP registry lists them.

pub const PUBLIC_REGISTRY: &str = "https://registry.modelcontextprotocol.io/";

/// A search result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistryListing {
    /// `NAMESPACE/NAME`
    pub name: String,
    pub version: String,
    pub description: String,
    /// Such as `npm` or `http`, each once.
    pub transports: Vec<String>,
    pub is_deprecated: bool,
}

/// The owner of the namespace of `NAMESPACE/NAME`, as the registry has verified it: an account on
/// GitHub, or the owner of a domain. `None` if the name has no namespace.
pub fn namespace_owner(name: &str) -> Option<String> {
    let (namespace, _) = name.split_once('/')?;
    if let Some(account) = namespace.strip_prefix("io.github.") {
        return Some(format!("{account} on github.com"));
    }
    let labels: Vec<&str> = namespace.rsplit('.').collect();
    Some(format!("the owner of {}", labels.join(".")))
}

#[cfg(test)]
mod tests {
    use super::namespace_owner;

    #[test]
    fn the_owner_of_a_registry_name_is_an_account_or_a_domain() {
        for (name, owner) in [
            ("io.github.ann/weather", Some("ann on github.com")),
            ("com.example.api/x", Some("the owner of api.example.com")),
            ("weather", None),
        ] {
            assert_eq!(namespace_owner(name).as_deref(), owner, "{name}");
        }
    }
}
