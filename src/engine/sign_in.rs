//! The open sign-in to a server. Its task prepares it, waits for the browser or a pasted address,
//! and saves the tokens. A sign-out takes its place while it runs.

use super::cx::EngineCx;
use crate::domain::{Notice, ServerId, SignInRequest};
use crate::mcp::{Hub, OAuthError, SignInProgress};
use crate::protocol::{Event, SignInEvent};
use crate::text::Clean;
use std::future::pending;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

/// Maximum number of pasted addresses waiting to be checked.
const PASTED_MAX: usize = 4;
const UPDATES_MAX: usize = 8;

#[derive(Default)]
pub(super) struct ServerSignIn {
    open: Option<OpenSignIn>,
}

struct OpenSignIn {
    server: ServerId,
    paste: mpsc::Sender<String>,
    updates: mpsc::Receiver<SignInUpdate>,
    /// Dropping it closes the callback port.
    _task: AbortOnDropHandle<()>,
}

pub(super) enum SignInUpdate {
    Prepared(SignInRequest),
    Progressed(SignInProgress),
    Finished(Result<(), OAuthError>),
    SignedOut(ServerId, Result<bool, OAuthError>),
}

impl ServerSignIn {
    /// Starts a sign-in, in place of the open one.
    pub(super) fn start(&mut self, server: ServerId, hub: &Hub) {
        let preparing = hub.prepare_sign_in(&server);
        let (paste, pasted) = mpsc::channel(PASTED_MAX);
        let (sender, updates) = mpsc::channel(UPDATES_MAX);
        let task = tokio::spawn(async move {
            let outcome = match preparing.await {
                Ok(sign_in) => {
                    let prepared = SignInUpdate::Prepared(sign_in.request().clone());
                    let _ = sender.send(prepared).await;
                    let updates = sender.clone();
                    let report = move |progress| {
                        // A lost update does no harm: the user can paste again, or just waits.
                        let _ = updates.try_send(SignInUpdate::Progressed(progress));
                    };
                    sign_in.finish(pasted, report).await
                }
                Err(error) => Err(error),
            };
            let _ = sender.send(SignInUpdate::Finished(outcome)).await;
        });
        self.open = Some(OpenSignIn {
            server,
            paste,
            updates,
            _task: AbortOnDropHandle::new(task),
        });
    }

    pub(super) fn use_address(&self, address: String) {
        if let Some(open) = &self.open {
            let _ = open.paste.try_send(address);
        }
    }

    pub(super) fn cancel(&mut self) {
        self.open = None;
    }

    /// Also ends an open sign-in.
    pub(super) fn sign_out(&mut self, server: ServerId, hub: &Hub) {
        let signing_out = hub.sign_out(&server);
        let (paste, _) = mpsc::channel(1);
        let (sender, updates) = mpsc::channel(1);
        let id = server.clone();
        let task = tokio::spawn(async move {
            let update = SignInUpdate::SignedOut(id, signing_out.await);
            let _ = sender.send(update).await;
        });
        self.open = Some(OpenSignIn {
            server,
            paste,
            updates,
            _task: AbortOnDropHandle::new(task),
        });
    }

    /// Cancel-safe.
    pub(super) async fn next_update(&mut self) -> SignInUpdate {
        match &mut self.open {
            Some(open) => match open.updates.recv().await {
                Some(update) => update,
                None => pending().await,
            },
            None => pending().await,
        }
    }

    pub(super) fn handle_update(&mut self, update: SignInUpdate, hub: &mut Hub, cx: &mut EngineCx) {
        match update {
            SignInUpdate::Prepared(request) => {
                let opened = SignInEvent::Opened(Arc::new(request));
                cx.outbox.push(Event::SignIn(opened));
            }
            SignInUpdate::Progressed(SignInProgress::ExchangingCode) => {
                cx.outbox.push(Event::SignIn(SignInEvent::ExchangingCode));
            }
            SignInUpdate::Progressed(SignInProgress::AddressRejected(error)) => {
                let why = format!("{error} {}", error.advice().unwrap_or_default());
                let rejected = SignInEvent::AddressRejected(why.trim_end().to_owned());
                cx.outbox.push(Event::SignIn(rejected));
            }
            SignInUpdate::Finished(outcome) => {
                let Some(open) = self.open.take() else { return };
                let name = Clean::name(open.server.as_str());
                match outcome {
                    Ok(()) => {
                        cx.notice(Notice::info(format!("Signed in to server `{name}`.")));
                        hub.reconnect(&open.server);
                    }
                    Err(error) => cx.notice(error.notice(name.as_str())),
                }
                cx.outbox
                    .push(Event::SignIn(SignInEvent::Ended(open.server)));
            }
            SignInUpdate::SignedOut(server, outcome) => {
                self.open = None;
                let name = Clean::name(server.as_str());
                cx.notice(match outcome {
                    Ok(true) => {
                        hub.reconnect(&server);
                        Notice::info(format!("Signed out of server `{name}`."))
                    }
                    Ok(false) => Notice::info(format!("You are not signed in to server `{name}`.")),
                    Err(error) => {
                        let notice =
                            Notice::failure(format!("Signing out of server `{name}` failed."));
                        notice.with_reason(error.to_string())
                    }
                });
            }
        }
    }
}
