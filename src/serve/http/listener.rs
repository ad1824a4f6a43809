//! Opens the port and accepts connections.

use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::task::Poll;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream, lookup_host};
use tokio::time::sleep;

/// Pause after a failure to accept, for example when the process has too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The listening sockets: one for each address of the host name.
#[derive(Debug)]
pub struct Listener {
    sockets: Vec<TcpListener>,
    addresses: Vec<SocketAddr>,
}

/// Why the server cannot listen. The texts are for the user.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    #[error("The host `{host}` has no address: {why}")]
    UnknownHost { host: String, why: io::Error },
    #[error(
        "Port {} on {} is already in use. Stop the program that uses it, or choose another port.",
        .0.port(), .0.ip()
    )]
    PortTaken(SocketAddr),
    #[error("This machine has no address {}.", .0.ip())]
    NotOurAddress(SocketAddr),
    #[error(
        "Port {} may only be used by the system administrator. Choose a port above 1023.",
        .0.port()
    )]
    PortForbidden(SocketAddr),
    #[error("Could not listen on {address}: {why}")]
    Other { address: SocketAddr, why: io::Error },
}

/// The socket addresses of a host name or IP address.
///
/// # Errors
/// The name has no address.
pub async fn resolve(host: &str, port: u16) -> Result<Vec<SocketAddr>, ListenError> {
    let unknown = |why| ListenError::UnknownHost {
        host: host.to_owned(),
        why,
    };
    let bare = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
        .unwrap_or(host);
    let addresses: Vec<_> = lookup_host((bare, port)).await.map_err(unknown)?.collect();
    match addresses.is_empty() {
        true => Err(unknown(ErrorKind::NotFound.into())),
        false => Ok(addresses),
    }
}

impl Listener {
    /// Listens on all `addresses` that this machine has. Port 0 means any free port.
    ///
    /// # Errors
    /// A port is taken or forbidden, or none of the addresses belongs to this machine.
    pub async fn bind(addresses: &[SocketAddr]) -> Result<Self, ListenError> {
        let (mut sockets, mut missing) = (Vec::new(), None);
        for address in addresses {
            match TcpListener::bind(address).await {
                Ok(socket) => sockets.push(socket),
                // `localhost` often has an IPv6 address that does not work.
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::AddrNotAvailable | ErrorKind::Unsupported
                    ) =>
                {
                    missing = Some(ListenError::NotOurAddress(*address));
                }
                Err(error) => return Err(bind_error(*address, error)),
            }
        }
        let local = sockets.iter().map(TcpListener::local_addr);
        let addresses = local
            .collect::<io::Result<Vec<_>>>()
            .map_err(|why| bind_error(addresses[0], why))?;
        match missing {
            Some(error) if sockets.is_empty() => Err(error),
            _ => Ok(Self { sockets, addresses }),
        }
    }

    /// The addresses in use; the first is the one to show.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Waits for the next connection.
    pub async fn accept(&self) -> (TcpStream, SocketAddr) {
        loop {
            let accepted = poll_fn(|context| {
                let mut polls = self
                    .sockets
                    .iter()
                    .map(|socket| socket.poll_accept(context));
                polls.find(Poll::is_ready).unwrap_or(Poll::Pending)
            });
            match accepted.await {
                Ok(connection) => return connection,
                Err(error) => {
                    tracing::warn!("could not accept a connection: {error}");
                    sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }
}

fn bind_error(address: SocketAddr, why: io::Error) -> ListenError {
    match why.kind() {
        ErrorKind::AddrInUse => ListenError::PortTaken(address),
        ErrorKind::PermissionDenied => ListenError::PortForbidden(address),
        _ => ListenError::Other { address, why },
    }
}
