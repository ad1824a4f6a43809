//! An MCP server that requires sign-in, with its authorization server, on one port. Independent of
//! the crate. Checks PKCE, redirect URIs and resource indicators as a strict server does.
#![allow(dead_code, reason = "each test crate uses only some of these items")]

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use url::Url;

/// Deviations from a well-behaved server.
#[derive(Clone, Default)]
pub struct AuthFaults {
    pub lacks_pkce: bool,
    /// The `iss` of callbacks; `None` for the right one.
    pub issuer_in_callback: Option<String>,
    /// The `resource` in the metadata.
    pub resource: Option<String>,
    /// Where the metadata redirects to.
    pub metadata_redirect: Option<String>,
    /// The authorization server answers requests for its metadata with this status and a web page.
    pub metadata_page: Option<u16>,
    /// The protected resource metadata is a web page.
    pub sends_resource_page: bool,
    /// Size of the padding in the protected resource metadata, in bytes.
    pub metadata_bytes: usize,
    pub lacks_registration: bool,
    /// The user denies access.
    pub denies: bool,
    /// Calls are refused for lack of this scope, even if the token has it.
    pub never_satisfied_scope: Option<String>,
    pub rejects_refresh: bool,
}

#[derive(Default)]
pub struct AuthState {
    pub faults: AuthFaults,
    /// Scope that calls need.
    pub call_scope: Option<String>,
    pub expires_in: Option<i64>,
    /// `METHOD /path` of each request, in order.
    pub requests: Vec<String>,
    /// The forms that the token endpoint received.
    pub token_forms: Vec<HashMap<String, String>>,
    pub registrations: Vec<Value>,
    pub revoked: Vec<String>,
    /// Valid access tokens with their scopes.
    pub access_tokens: HashMap<String, String>,
    refresh_tokens: HashMap<String, String>,
    codes: HashMap<String, HashMap<String, String>>,
    used_codes: HashSet<String>,
    counter: u64,
}

pub struct AuthServer {
    pub origin: String,
    state: Arc<Mutex<AuthState>>,
    task: JoinHandle<()>,
}

impl Drop for AuthServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl AuthServer {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("a bound port");
        let origin = format!("http://{address}");
        let state = Arc::new(Mutex::new(AuthState::default()));
        let (served, base) = (Arc::clone(&state), origin.clone());
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (state, base) = (Arc::clone(&served), base.clone());
                tokio::spawn(async move {
                    let service = service_fn(|request| {
                        let (state, base) = (Arc::clone(&state), base.clone());
                        async move { Ok::<_, Infallible>(answer(request, &state, &base).await) }
                    });
                    let _ = http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service)
                        .await;
                });
            }
        });
        Self {
            origin,
            state,
            task,
        }
    }

    pub fn state(&self) -> MutexGuard<'_, AuthState> {
        self.state.lock().expect("no handler panics")
    }

    pub fn mcp_url(&self) -> String {
        format!("{}/mcp", self.origin)
    }

    /// Number of requests to `path`, which may be preceded by the method: `POST /mcp`.
    pub fn count(&self, path: &str) -> usize {
        let state = self.state();
        let requests = state.requests.iter();
        requests.filter(|request| request.ends_with(path)).count()
    }

    /// Number of token requests with this grant type.
    pub fn token_requests(&self, grant: &str) -> usize {
        let state = self.state();
        let forms = state.token_forms.iter();
        forms.filter(|form| form["grant_type"] == grant).count()
    }

    /// Opens the authorization URL like a browser. Returns the address that it is redirected to.
    pub async fn visit(url: &str) -> String {
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .expect("a client");
        let response = client.get(url).send().await.expect("the server runs");
        let location = response.headers().get("location");
        let location = location.unwrap_or_else(|| panic!("no redirect: {}", response.status()));
        location.to_str().expect("ASCII").to_owned()
    }
}

type Answer = Response<Full<Bytes>>;

fn json_answer(status: u16, value: &Value) -> Answer {
    text_answer(status, "application/json", value.to_string())
}

fn text_answer(status: u16, content_type: &str, body: String) -> Answer {
    Response::builder()
        .status(status)
        .header("content-type", content_type)
        .body(Full::new(Bytes::from(body)))
        .expect("valid headers")
}

fn web_page(status: u16) -> Answer {
    let body = "<!doctype html><title>Not found</title>";
    text_answer(status, "text/html; charset=utf-8", body.to_owned())
}

fn redirect(to: &str) -> Answer {
    Response::builder()
        .status(302)
        .header("location", to)
        .body(Full::new(Bytes::new()))
        .expect("valid headers")
}

async fn answer(request: Request<Incoming>, state: &Mutex<AuthState>, base: &str) -> Answer {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map(|body| body.to_bytes());
    let body = body.unwrap_or_default();
    let path = head.uri.path().to_owned();
    let mut state = state.lock().expect("no handler panics");
    state.requests.push(format!("{} {path}", head.method));
    let form: HashMap<String, String> = url::form_urlencoded::parse(&body).into_owned().collect();
    match path.as_str() {
        "/.well-known/oauth-protected-resource/mcp" => resource_metadata(&state.faults, base),
        "/.well-known/oauth-authorization-server" => issuer_metadata(&state.faults, base),
        "/register" => register(&mut state, &body),
        "/authorize" => authorize(&mut state, head.uri.query().unwrap_or_default(), base),
        "/token" => token(&mut state, form, base),
        "/revoke" => {
            state.revoked.push(form["token"].clone());
            json_answer(200, &json!({}))
        }
        "/mcp" if head.method == "POST" => {
            let authorization = head.headers.get("authorization");
            let token = authorization.and_then(|value| value.to_str().ok());
            let token = token.and_then(|value| value.strip_prefix("Bearer "));
            mcp(&state, token, &body, base)
        }
        "/mcp" => text_answer(405, "text/plain", String::new()),
        _ => text_answer(404, "text/plain", String::new()),
    }
}

fn resource_metadata(faults: &AuthFaults, base: &str) -> Answer {
    if let Some(target) = &faults.metadata_redirect {
        return redirect(target);
    }
    if faults.sends_resource_page {
        return web_page(200);
    }
    let resource = faults.resource.clone().unwrap_or(format!("{base}/mcp"));
    json_answer(
        200,
        &json!({ "resource": resource, "authorization_servers": [base],
            "scopes_supported": ["read"], "padding": "x".repeat(faults.metadata_bytes) }),
    )
}

fn issuer_metadata(faults: &AuthFaults, base: &str) -> Answer {
    if let Some(status) = faults.metadata_page {
        return web_page(status);
    }
    let endpoint = |path: &str| format!("{base}/{path}");
    let mut document = json!({
        "issuer": base,
        "authorization_endpoint": endpoint("authorize"),
        "token_endpoint": endpoint("token"),
        "revocation_endpoint": endpoint("revoke"),
        "response_types_supported": ["code"],
        "token_endpoint_auth_methods_supported": ["none"],
        "authorization_response_iss_parameter_supported": true,
    });
    if !faults.lacks_pkce {
        document["code_challenge_methods_supported"] = json!(["S256"]);
    }
    if !faults.lacks_registration {
        document["registration_endpoint"] = json!(endpoint("register"));
    }
    json_answer(200, &document)
}

fn register(state: &mut AuthState, body: &[u8]) -> Answer {
    let request: Value = serde_json::from_slice(body).unwrap_or_default();
    state.registrations.push(request);
    let id = format!("client-{}", state.registrations.len());
    json_answer(
        201,
        &json!({ "client_id": id, "token_endpoint_auth_method": "none" }),
    )
}

fn authorize(state: &mut AuthState, query: &str, base: &str) -> Answer {
    let query: HashMap<String, String> = url::form_urlencoded::parse(query.as_bytes())
        .into_owned()
        .collect();
    let has = |key: &str, expected: &str| query.get(key).is_some_and(|value| value == expected);
    let is_valid = has("response_type", "code")
        && has("code_challenge_method", "S256")
        && has("resource", &format!("{base}/mcp"));
    if !is_valid {
        return text_answer(400, "text/plain", format!("{query:?}"));
    }
    state.counter += 1;
    let code = format!("code-{}", state.counter);
    let issuer = state.faults.issuer_in_callback.clone();
    let mut target = Url::parse(&query["redirect_uri"]).expect("a redirect URI");
    match state.faults.denies {
        true => drop(
            target
                .query_pairs_mut()
                .append_pair("error", "access_denied"),
        ),
        false => drop(target.query_pairs_mut().append_pair("code", &code)),
    }
    target
        .query_pairs_mut()
        .append_pair("state", &query["state"])
        .append_pair("iss", issuer.as_deref().unwrap_or(base));
    state.codes.insert(code, query);
    redirect(target.as_str())
}

fn token(state: &mut AuthState, form: HashMap<String, String>, base: &str) -> Answer {
    let refuse = |error: &str| json_answer(400, &json!({ "error": error }));
    state.token_forms.push(form.clone());
    if form.get("resource") != Some(&format!("{base}/mcp")) {
        return refuse("invalid_target");
    }
    let scope = match form["grant_type"].as_str() {
        "authorization_code" => {
            let Some(query) = state.codes.get(&form["code"]).cloned() else {
                return refuse("invalid_grant");
            };
            let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(&form["code_verifier"]));
            let matches = query["code_challenge"] == challenge
                && query["redirect_uri"] == form["redirect_uri"]
                && query["client_id"] == form["client_id"];
            if !matches || !state.used_codes.insert(form["code"].clone()) {
                return refuse("invalid_grant");
            }
            query.get("scope").cloned().unwrap_or_default()
        }
        "refresh_token" if !state.faults.rejects_refresh => {
            // A refresh token works once.
            match state.refresh_tokens.remove(&form["refresh_token"]) {
                Some(scope) => scope,
                None => return refuse("invalid_grant"),
            }
        }
        _ => return refuse("invalid_grant"),
    };
    state.counter += 1;
    let access = format!("access-secret-{}-k20f83", state.counter);
    let refresh = format!("refresh-secret-{}-k20f83", state.counter);
    state.access_tokens.insert(access.clone(), scope.clone());
    state.refresh_tokens.insert(refresh.clone(), scope);
    let mut answer =
        json!({ "access_token": access, "token_type": "Bearer", "refresh_token": refresh });
    if let Some(seconds) = state.expires_in {
        answer["expires_in"] = json!(seconds);
    }
    json_answer(200, &answer)
}

fn mcp(state: &AuthState, token: Option<&str>, body: &[u8], base: &str) -> Answer {
    let challenge = |status: u16, parameters: &str| {
        let metadata = format!("{base}/.well-known/oauth-protected-resource/mcp");
        Response::builder()
            .status(status)
            .header(
                "www-authenticate",
                format!("Bearer resource_metadata=\"{metadata}\"{parameters}"),
            )
            .body(Full::new(Bytes::new()))
            .expect("valid headers")
    };
    let Some(scopes) = token.and_then(|token| state.access_tokens.get(token)) else {
        return challenge(401, "");
    };
    let message: Value = serde_json::from_slice(body).unwrap_or_default();
    let id = message["id"].clone();
    if id.is_null() {
        return text_answer(202, "text/plain", String::new());
    }
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => json!({ "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": { "tools": {} }, "serverInfo": { "name": "guarded", "version": "1" } }),
        "tools/list" => {
            json!({ "tools": [{ "name": "echo", "inputSchema": { "type": "object" } }] })
        }
        "tools/call" => {
            let never_satisfied = state.faults.never_satisfied_scope.clone();
            let missing = state
                .call_scope
                .clone()
                .filter(|needed| !scopes.split(' ').any(|scope| scope == needed));
            if let Some(scope) = never_satisfied.or(missing) {
                let parameters = format!(", error=\"insufficient_scope\", scope=\"{scope}\"");
                return challenge(403, &parameters);
            }
            // Repeat the credentials, as a careless server would.
            let text = format!("you sent {}", token.unwrap_or_default());
            json!({ "content": [{ "type": "text", "text": text }] })
        }
        _ => json!({}),
    };
    json_answer(
        200,
        &json!({ "jsonrpc": "2.0", "id": id, "result": result }),
    )
}
