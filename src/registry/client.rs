//! Requests to a registry: `GET v0.1/servers` with `search`, `version`, `limit` and `cursor`.

use super::error::RegistryError;
use super::server::{ListPage, RegistryServer};
use crate::http_util::{CONNECT_TIMEOUT_SECONDS, is_loopback, read_body_prefix, root_cause};
use reqwest::{Client, redirect};
use std::collections::HashSet;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};
use url::Url;

/// For all pages of one command.
const TIMEOUT_SECONDS: u64 = 15;
const BODY_BYTES_MAX: usize = 4 << 20;
const REDIRECTS_MAX: usize = 5;
const PAGES_MAX: usize = 10;
/// Maximum number of servers on a page of the public registry.
const PAGE_SERVERS_MAX: usize = 100;
const CURSOR_BYTES_MAX: usize = 1_024;

#[derive(Debug)]
pub struct Registry {
    url: Url,
}

impl Registry {
    pub fn new(url: Url) -> Self {
        Self { url }
    }

    /// At most `limit` servers that match `word`, in the order of the registry, and whether there
    /// may be more. Of several versions of a server, only the latest is returned.
    ///
    /// # Errors
    /// The registry cannot be reached, or its answer cannot be used.
    pub async fn search(
        &self,
        word: &str,
        limit: usize,
    ) -> Result<(Vec<RegistryServer>, bool), RegistryError> {
        self.collect(word, limit, limit, |_| true).await
    }

    /// The latest version of the server `NAMESPACE/NAME`.
    ///
    /// # Errors
    /// The registry cannot be reached, its answer cannot be used, or it lists no such server.
    pub async fn find(&self, name: &str) -> Result<RegistryServer, RegistryError> {
        // Names that contain this one match too.
        let is_wanted = |server: &RegistryServer| server.name == name;
        let (found, _) = self.collect(name, 1, PAGE_SERVERS_MAX, is_wanted).await?;
        found
            .into_iter()
            .next()
            .ok_or_else(|| RegistryError::UnknownServer {
                url: self.url.clone(),
                name: name.to_owned(),
            })
    }

    /// Reads pages until `limit` servers are accepted. Also returns whether there may be more.
    async fn collect(
        &self,
        word: &str,
        limit: usize,
        page_size: usize,
        accepts: impl Fn(&RegistryServer) -> bool,
    ) -> Result<(Vec<RegistryServer>, bool), RegistryError> {
        let client = self.build_client()?;
        let deadline = Instant::now() + Duration::from_secs(TIMEOUT_SECONDS);
        let mut found: Vec<RegistryServer> = Vec::new();
        let mut cursors = HashSet::new();
        let mut cursor: Option<String> = None;
        let mut has_more = false;
        for _ in 0..PAGES_MAX {
            let request = self.get_page(&client, word, page_size, cursor.as_deref());
            let page =
                timeout_at(deadline, request)
                    .await
                    .map_err(|_| RegistryError::TimedOut {
                        url: self.url.clone(),
                        seconds: TIMEOUT_SECONDS,
                    })??;
            for server in page.servers.into_iter().filter(&accepts) {
                add_latest(&mut found, server);
            }
            let next = page.next_cursor.filter(|next| {
                !next.is_empty() && next.len() <= CURSOR_BYTES_MAX && cursors.insert(next.clone())
            });
            has_more = next.is_some() || found.len() > limit;
            if next.is_none() || found.len() >= limit {
                break;
            }
            cursor = next;
        }
        found.truncate(limit);
        Ok((found, has_more))
    }

    async fn get_page(
        &self,
        client: &Client,
        word: &str,
        page_size: usize,
        cursor: Option<&str>,
    ) -> Result<ListPage, RegistryError> {
        let url = self.page_url(word, page_size, cursor);
        let base = || self.url.clone();
        let response = client.get(url).send().await;
        let response = response.map_err(|error| RegistryError::Unreachable {
            url: base(),
            why: root_cause(&error),
        })?;
        let status = response.status();
        if status.is_redirection() {
            return Err(RegistryError::Redirected { url: base() });
        }
        if !status.is_success() {
            return Err(RegistryError::Status {
                url: base(),
                status: status.as_u16(),
            });
        }
        let body = read_body_prefix(response, BODY_BYTES_MAX + 1).await;
        if body.len() > BODY_BYTES_MAX {
            return Err(RegistryError::TooLarge {
                url: base(),
                bytes_max: BODY_BYTES_MAX,
            });
        }
        ListPage::parse(&body).map_err(|why| RegistryError::Malformed { url: base(), why })
    }

    fn page_url(&self, word: &str, page_size: usize, cursor: Option<&str>) -> Url {
        let mut url = self.url.clone();
        let path = url.path().trim_end_matches('/');
        let path = path.strip_suffix("/v0.1").unwrap_or(path);
        url.set_path(&format!("{path}/v0.1/servers"));
        let limit = page_size.clamp(1, PAGE_SERVERS_MAX).to_string();
        let mut query = url.query_pairs_mut();
        query.append_pair("search", word);
        query.append_pair("version", "latest");
        query.append_pair("limit", &limit);
        if let Some(cursor) = cursor {
            query.append_pair("cursor", cursor);
        }
        drop(query);
        url
    }

    fn build_client(&self) -> Result<Client, RegistryError> {
        let mut builder = Client::builder()
            .user_agent(concat!("humble/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(Duration::from_secs(CONNECT_TIMEOUT_SECONDS))
            .redirect(redirect::Policy::custom(follow_within_origin));
        if is_loopback(&self.url) {
            builder = builder.no_proxy();
        }
        if self.url.scheme() == "http" {
            // Loading the system's certificates takes time, and fails on a system without any.
            builder = builder.tls_certs_only([]);
        }
        builder.build().map_err(|error| RegistryError::Unreachable {
            url: self.url.clone(),
            why: root_cause(&error),
        })
    }
}

/// Of several versions, keeps the one marked as the latest or, without a mark, the first.
fn add_latest(found: &mut Vec<RegistryServer>, server: RegistryServer) {
    match found.iter_mut().find(|other| other.name == server.name) {
        Some(other) if server.is_latest && !other.is_latest => *other = server,
        Some(_) => {}
        None => found.push(server),
    }
}

/// A redirect to a different origin could send the user to a registry that they did not choose.
fn follow_within_origin(attempt: redirect::Attempt<'_>) -> redirect::Action {
    let previous = attempt.previous();
    let keeps_origin = previous
        .first()
        .is_some_and(|first| first.origin() == attempt.url().origin());
    match keeps_origin && previous.len() <= REDIRECTS_MAX {
        true => attempt.follow(),
        false => attempt.stop(),
    }
}
