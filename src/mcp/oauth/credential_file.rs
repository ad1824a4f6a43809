//! `auth.json`: the tokens of each server, and the clients registered with each authorization
//! server. Readable only by the user, replaced atomically, shared by all running instances.

use super::client_auth::{ClientIdentity, TokenAuthMethod};
use super::error::OAuthError;
use super::token_request::now_seconds;
use crate::domain::ServerId;
use crate::domain::model::Secret;
use crate::files::{self, FileLock, UpdateError};
use crate::sync::lock_ignoring_poison;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, sleep};
use url::Url;

const FILE_BYTES_MAX: u64 = 4 << 20;
/// Longest wait for another running instance that is refreshing a token.
const REFRESH_LOCK_TIMEOUT: Duration = Duration::from_secs(30);
const REFRESH_LOCK_POLL: Duration = Duration::from_millis(50);

/// A client that an authorization server registered for this program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RegisteredClient {
    pub client_id: String,
    #[serde(
        default,
        with = "optional_secret",
        skip_serializing_if = "Option::is_none"
    )]
    pub client_secret: Option<Secret>,
    #[serde(rename = "tokenEndpointAuthMethod")]
    pub method: TokenAuthMethod,
    pub redirect_uris: Vec<String>,
    /// In seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_expires_at: Option<i64>,
}

impl RegisteredClient {
    pub fn is_valid_for(&self, redirect_uris: &[Url]) -> bool {
        let knows = |uri: &Url| self.redirect_uris.iter().any(|known| known == uri.as_str());
        let is_expired = self
            .secret_expires_at
            .is_some_and(|time| time <= now_seconds());
        !is_expired && redirect_uris.iter().all(knows)
    }

    pub fn identity(&self) -> ClientIdentity {
        ClientIdentity {
            id: self.client_id.clone(),
            secret: self.client_secret.clone(),
            method: self.method,
        }
    }
}

/// The tokens of one server, and everything needed to refresh and revoke them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerCredentials {
    /// The server's URL at the time of the sign-in. The tokens are never sent to another one.
    pub url: String,
    pub issuer: String,
    pub client_id: String,
    #[serde(rename = "tokenEndpointAuthMethod", default)]
    pub auth_method: TokenAuthMethod,
    pub token_endpoint: Url,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revocation_endpoint: Option<Url>,
    pub resource: String,
    #[serde(default)]
    pub scopes: Vec<String>,
    #[serde(with = "secret")]
    pub access_token: Secret,
    #[serde(
        default,
        with = "optional_secret",
        skip_serializing_if = "Option::is_none"
    )]
    pub refresh_token: Option<Secret>,
    /// In seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<i64>,
}

/// The credential file. Without a path, the credentials are kept until the program exits.
#[derive(Debug, Clone, Default)]
pub struct CredentialFile(Arc<CredentialFileInner>);

#[derive(Debug, Default)]
struct CredentialFileInner {
    path: Option<PathBuf>,
    /// The contents, if there is no path.
    memory: Mutex<Map<String, Value>>,
}

/// Held while a token is refreshed: a refresh token may work only once.
pub struct RefreshGuard {
    _lock: Option<FileLock>,
}

impl CredentialFile {
    pub fn at(path: PathBuf) -> Self {
        Self(Arc::new(CredentialFileInner {
            path: Some(path),
            memory: Mutex::default(),
        }))
    }

    /// All tokens and secrets in the file; none if it cannot be read. Blocks.
    pub fn read_secrets(&self) -> Vec<Secret> {
        let bytes = self
            .0
            .path
            .as_deref()
            .map(|path| files::read(path, FILE_BYTES_MAX));
        let document = bytes
            .and_then(|bytes| parse(bytes.ok()?).ok())
            .unwrap_or_default();
        let sections = document.values().filter_map(Value::as_object);
        let entries = sections.flat_map(Map::values);
        let secrets = entries.flat_map(|entry| {
            let secrets = ["accessToken", "refreshToken", "clientSecret"].map(|key| entry.get(key));
            secrets.into_iter().flatten().filter_map(Value::as_str)
        });
        secrets.map(Secret::new).collect()
    }

    /// The client registered with `issuer`.
    ///
    /// # Errors
    /// The file cannot be read.
    pub async fn registration(&self, issuer: &str) -> Result<Option<RegisteredClient>, OAuthError> {
        self.read_entry("clients", issuer).await
    }

    /// Stores the client registered with `issuer`.
    ///
    /// # Errors
    /// The file cannot be written.
    pub async fn save_registration(
        &self,
        issuer: &str,
        client: RegisteredClient,
    ) -> Result<(), OAuthError> {
        self.put("clients", issuer, Some(json!(client))).await
    }

    /// Removes a client that the authorization server no longer recognizes.
    ///
    /// # Errors
    /// The file cannot be written.
    pub async fn remove_registration(&self, issuer: &str) -> Result<(), OAuthError> {
        self.put("clients", issuer, None).await
    }

    /// The tokens of `server`, unless they belong to another URL.
    ///
    /// # Errors
    /// The file cannot be read.
    pub async fn credentials(
        &self,
        server: &ServerId,
        url: &Url,
    ) -> Result<Option<ServerCredentials>, OAuthError> {
        let entry: Option<ServerCredentials> = self.read_entry("servers", server.as_str()).await?;
        Ok(entry.filter(|entry| entry.url == url.as_str()))
    }

    /// Stores the tokens of `server`.
    ///
    /// # Errors
    /// The file cannot be written.
    pub async fn save_credentials(
        &self,
        server: &ServerId,
        credentials: &ServerCredentials,
    ) -> Result<(), OAuthError> {
        self.put("servers", server.as_str(), Some(json!(credentials)))
            .await
    }

    /// Removes the tokens of `server`.
    ///
    /// # Errors
    /// The file cannot be written.
    pub async fn remove_credentials(&self, server: &ServerId) -> Result<(), OAuthError> {
        self.put("servers", server.as_str(), None).await
    }

    /// Waits until no other running instance is refreshing a token. After a timeout, or if the file
    /// cannot be locked, continues without a lock.
    pub async fn lock_refresh(&self) -> RefreshGuard {
        let Some(path) = &self.0.path else {
            return RefreshGuard { _lock: None };
        };
        let mut lock_path = path.clone().into_os_string();
        lock_path.push(".refresh.lock");
        let deadline = Instant::now() + REFRESH_LOCK_TIMEOUT;
        loop {
            match FileLock::try_acquire(lock_path.as_ref()) {
                Ok(None) if Instant::now() < deadline => sleep(REFRESH_LOCK_POLL).await,
                Ok(lock) => return RefreshGuard { _lock: lock },
                Err(_) => return RefreshGuard { _lock: None },
            }
        }
    }

    /// An entry that cannot be parsed counts as missing.
    async fn read_entry<T: for<'de> Deserialize<'de>>(
        &self,
        section: &'static str,
        key: &str,
    ) -> Result<Option<T>, OAuthError> {
        let document = match &self.0.path {
            None => lock_ignoring_poison(&self.0.memory).clone(),
            Some(path) => {
                let path = path.clone();
                let reading = move || files::read(&path, FILE_BYTES_MAX);
                let bytes = run_blocking(reading).await?;
                let why = |error| format!("cannot be read: {}", files::describe_io_error(&error));
                parse(bytes.map_err(|error| OAuthError::CredentialFile(why(error)))?)?
            }
        };
        let entry = document.get(section).and_then(|section| section.get(key));
        Ok(entry.and_then(|entry| serde_json::from_value(entry.clone()).ok()))
    }

    async fn put(
        &self,
        section: &'static str,
        key: &str,
        entry: Option<Value>,
    ) -> Result<(), OAuthError> {
        let Some(path) = self.0.path.clone() else {
            put_entry(
                &mut lock_ignoring_poison(&self.0.memory),
                section,
                key,
                entry,
            );
            return Ok(());
        };
        let key = key.to_owned();
        let writing = move || {
            if entry.is_none() && !path.exists() {
                return Ok(());
            }
            files::update(&path, files::PRIVATE_MODE, FILE_BYTES_MAX, |bytes| {
                let mut document = parse(bytes)?;
                put_entry(&mut document, section, &key, entry);
                let mut text = serde_json::to_vec_pretty(&document).unwrap_or_default();
                text.push(b'\n');
                Ok(text)
            })
        };
        run_blocking(writing).await?.map_err(|error| match error {
            UpdateError::Refused(error) => error,
            other => OAuthError::CredentialFile(other.to_string()),
        })
    }
}

async fn run_blocking<T: Send + 'static>(
    operation: impl FnOnce() -> T + Send + 'static,
) -> Result<T, OAuthError> {
    let finished = tokio::task::spawn_blocking(operation).await;
    finished.map_err(|_| OAuthError::CredentialFile("could not be accessed".to_owned()))
}

fn parse(bytes: Option<Vec<u8>>) -> Result<Map<String, Value>, OAuthError> {
    let bytes = bytes.unwrap_or_default();
    if bytes.trim_ascii().is_empty() {
        return Ok(Map::new());
    }
    // A damaged file is never replaced.
    serde_json::from_slice(&bytes).map_err(|_| {
        OAuthError::CredentialFile("is not a JSON object; repair or remove it".to_owned())
    })
}

fn put_entry(document: &mut Map<String, Value>, section: &str, key: &str, entry: Option<Value>) {
    let section = document.entry(section).or_insert_with(|| json!({}));
    if !section.is_object() {
        *section = json!({});
    }
    let Some(entries) = section.as_object_mut() else {
        return;
    };
    match entry {
        Some(entry) => drop(entries.insert(key.to_owned(), entry)),
        None => drop(entries.shift_remove(key)),
    }
}

mod secret {
    use super::{Deserialize, Deserializer, Secret, Serializer};

    pub fn serialize<S: Serializer>(secret: &Secret, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(secret.expose())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Secret, D::Error> {
        String::deserialize(deserializer).map(Secret::new)
    }
}

mod optional_secret {
    use super::{Deserialize, Deserializer, Secret, Serializer};

    pub fn serialize<S: Serializer>(
        secret: &Option<Secret>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match secret {
            Some(secret) => serializer.serialize_str(secret.expose()),
            None => serializer.serialize_none(),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Secret>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        Ok(text.map(Secret::new))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn credentials(url: &str) -> ServerCredentials {
        ServerCredentials {
            url: url.to_owned(),
            issuer: "https://as.example".to_owned(),
            client_id: "me".to_owned(),
            auth_method: TokenAuthMethod::PublicClient,
            token_endpoint: Url::parse("https://as.example/token").expect("a URL"),
            revocation_endpoint: None,
            resource: url.to_owned(),
            scopes: vec!["read".to_owned()],
            access_token: Secret::new("access"),
            refresh_token: Some(Secret::new("refresh")),
            expires_at: Some(5),
        }
    }

    #[tokio::test]
    async fn tokens_are_returned_only_for_the_url_they_were_issued_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("auth.json");
        let server = ServerId::new("docs");
        let saved = credentials("https://docs.example/mcp");
        let file = CredentialFile::at(path.clone());
        file.save_credentials(&server, &saved)
            .await
            .expect("writable");

        let reopened = CredentialFile::at(path.clone());
        let url = |text: &str| Url::parse(text).expect("a URL");
        let found = reopened.credentials(&server, &url(&saved.url)).await;
        assert_eq!(found, Ok(Some(saved)));
        let elsewhere = url("https://evil.example/mcp");
        assert_eq!(reopened.credentials(&server, &elsewhere).await, Ok(None));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = std::fs::metadata(&path)
                .expect("a file")
                .permissions()
                .mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[tokio::test]
    async fn a_damaged_credential_file_is_reported_and_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("auth.json");
        std::fs::write(&path, "{ oops").expect("writable");
        let file = CredentialFile::at(path.clone());
        let server = ServerId::new("docs");
        let saved = file
            .save_credentials(&server, &credentials("https://docs.example/mcp"))
            .await;
        assert!(
            matches!(saved, Err(OAuthError::CredentialFile(_))),
            "{saved:?}"
        );
        assert_eq!(std::fs::read_to_string(&path).expect("a file"), "{ oops");
    }

    #[tokio::test]
    async fn unknown_parts_of_the_credential_file_survive_a_change() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("auth.json");
        std::fs::write(&path, r#"{"later": 1, "servers": {"other": {"x": 2}}}"#).expect("writable");
        let file = CredentialFile::at(path.clone());
        let server = ServerId::new("docs");
        file.save_credentials(&server, &credentials("https://docs.example/mcp"))
            .await
            .expect("writable");
        file.remove_credentials(&server).await.expect("writable");
        let text = std::fs::read_to_string(&path).expect("a file");
        let value: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(
            value,
            json!({ "later": 1, "servers": { "other": { "x": 2 } } })
        );
    }
}
