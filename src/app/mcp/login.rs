//! `humble mcp login` and `humble mcp logout`.

use super::configured::{configured_servers, find_server, init_log};
use super::output::{print, print_to_stderr};
use super::server_pool::{ServerPool, StopReason};
use crate::app::watchdog::BackgroundRuntime;
use crate::browser;
use crate::cli::mcp::{LoginArgs, LogoutArgs};
use crate::config::Home;
use crate::domain::{LaunchConfig, ServerConfig, ServerId, ServerStatus, SignInRequest};
use crate::headless::mcp as cli_output;
use crate::headless::{EXIT_FAILED, EXIT_USAGE};
use crate::mcp::{HubEvent, OAuthError, SignInProgress};
use crate::text::Clean;
use anyhow::Result;
use std::io::{self, BufRead, Read};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// How long the server may take to begin connecting after the sign-in.
const RESTART_TIMEOUT: Duration = Duration::from_secs(5);
const LINE_BYTES_MAX: u64 = 16 << 10;

pub async fn run_login(home: &Home, args: LoginArgs, background: &BackgroundRuntime) -> Result<u8> {
    let Some(mut pool) = open_pool(home, &args.server, background)? else {
        return Ok(EXIT_USAGE);
    };
    let code = log_in(&mut pool, &args).await;
    pool.close().await;
    code
}

pub async fn run_logout(
    home: &Home,
    args: LogoutArgs,
    background: &BackgroundRuntime,
) -> Result<u8> {
    let Some(mut pool) = open_pool(home, &args.server, background)? else {
        return Ok(EXIT_USAGE);
    };
    let name = Clean::name(&args.server).to_string();
    let signing_out = pool.hub.sign_out(&ServerId::new(&args.server));
    let outcome = tokio::select! {
        biased;
        code = pool.signals.next() => Err(code),
        outcome = signing_out => Ok(outcome),
    };
    let code = match outcome {
        Err(code) => code,
        Ok(Ok(true)) => {
            print(format!("Signed out of server `{name}`.\n"))?;
            0
        }
        Ok(Ok(false)) => {
            print(format!("You are not signed in to server `{name}`.\n"))?;
            0
        }
        Ok(Err(error)) => {
            print_error(&format!("Signing out of server `{name}` failed."), &error);
            EXIT_FAILED
        }
    };
    pool.close().await;
    Ok(code)
}

/// Connects to the server with this name, even if it is off. `None`, after printing the reason, if
/// there is no such server or it does not use sign-in.
fn open_pool(
    home: &Home,
    name: &str,
    background: &BackgroundRuntime,
) -> Result<Option<ServerPool>> {
    let servers = configured_servers(home);
    let server = match find_server(&servers, name) {
        Ok(server) => ServerConfig {
            enabled: true,
            ..server.clone()
        },
        Err(why) => {
            print_to_stderr(&why);
            return Ok(None);
        }
    };
    if let LaunchConfig::BuiltIn | LaunchConfig::Stdio { .. } = server.launch {
        let name = Clean::name(name);
        let summary = format!("Server `{name}` does not use sign-in.");
        print_error(&summary, &OAuthError::NotRemote);
        return Ok(None);
    }
    init_log(home, &servers);
    ServerPool::open(home, vec![server], None, background).map(Some)
}

async fn log_in(pool: &mut ServerPool, args: &LoginArgs) -> Result<u8> {
    if let Err(StopReason::Signal(code)) = pool.wait_while_starting().await {
        return Ok(code);
    }
    let Some(report) = pool.reports().pop() else {
        return Ok(EXIT_FAILED);
    };
    let name = Clean::name(&args.server).to_string();
    match &report.server.status {
        ServerStatus::NeedsSignIn(_) => {}
        ServerStatus::Connected => {
            print(format!(
                "Server `{name}` is connected; it needs no sign-in now.\n"
            ))?;
            return Ok(0);
        }
        _ => {
            print_to_stderr(&cli_output::clean_line(
                &report.problem().unwrap_or_default(),
            ));
            return Ok(EXIT_FAILED);
        }
    }
    match sign_in(pool, args, &report.server.id).await? {
        Err(code) => Ok(code),
        Ok(()) => report_connection(pool, &name, report.server.id).await,
    }
}

/// The inner error is the exit status.
async fn sign_in(pool: &mut ServerPool, args: &LoginArgs, id: &ServerId) -> Result<Result<(), u8>> {
    let failure = format!(
        "Signing in to server `{}` failed.",
        Clean::name(id.as_str())
    );
    let preparing = pool.hub.prepare_sign_in(id);
    let prepared = tokio::select! {
        biased;
        code = pool.signals.next() => return Ok(Err(code)),
        prepared = preparing => prepared,
    };
    let sign_in = match prepared {
        Ok(sign_in) => sign_in,
        Err(error) => {
            print_error(&failure, &error);
            return Ok(Err(EXIT_FAILED));
        }
    };
    print_request(sign_in.request());
    if args.open
        && let Err(error) = browser::open(&sign_in.request().url)
    {
        print_to_stderr(&format!("The browser could not be opened: {error}."));
    }
    let finishing = sign_in.finish(read_pasted_lines(), |progress| match progress {
        SignInProgress::AddressRejected(error) => {
            print_error("This is not the right address.", &error);
        }
        SignInProgress::ExchangingCode => print_to_stderr("Exchanging the code…"),
    });
    let outcome = tokio::select! {
        biased;
        code = pool.signals.next() => return Ok(Err(code)),
        outcome = finishing => outcome,
    };
    Ok(outcome.map_err(|error| {
        print_error(&failure, &error);
        EXIT_FAILED
    }))
}

async fn report_connection(pool: &mut ServerPool, name: &str, id: ServerId) -> Result<u8> {
    while pool.events.try_recv().is_ok() {}
    pool.hub.reconnect(&id);
    let restart = async {
        while let Some(event) = pool.events.recv().await {
            if matches!(event, HubEvent::Changed(server) if server.status == ServerStatus::Starting)
            {
                break;
            }
        }
    };
    let _ = timeout(RESTART_TIMEOUT, restart).await;
    if let Err(StopReason::Signal(code)) = pool.wait_while_starting().await {
        return Ok(code);
    }
    let report = pool.reports().pop();
    match report {
        Some(report) if report.server.status != ServerStatus::Connected => {
            print_to_stderr(&cli_output::clean_line(&format!(
                "You are signed in to server `{name}`, but it cannot be used yet. {}",
                report.problem().unwrap_or_default()
            )));
            Ok(EXIT_FAILED)
        }
        _ => {
            print(format!("Signed in to server `{name}`.\n"))?;
            Ok(0)
        }
    }
}

fn print_request(request: &SignInRequest) {
    let line = |text: String| print_to_stderr(&cli_output::clean_line(&text));
    let name = Clean::name(request.server.as_str());
    line(format!(
        "Sign in to server `{name}` ({}).",
        request.server_url
    ));
    line(format!("  Host    {}", request.host));
    if request.has_punycode() {
        let warning =
            "This host name contains international letters, which can imitate another name.";
        line(format!("          {warning}"));
    }
    if !request.scopes.is_empty() {
        line(format!("  Scopes  {}", request.scopes.join(", ")));
    }
    line("Open this address in a browser:".to_owned());
    line(request.url.clone());
    let address_hint = format!(
        "the address of the page where it ends up ({}…)",
        request.callback
    );
    line(match request.is_listening {
        true => format!("If the browser runs on another machine, paste {address_hint} here:"),
        false => format!("All callback ports are taken. Paste {address_hint} here:"),
    });
}

fn print_error(summary: &str, error: &OAuthError) {
    let advice = error.advice().unwrap_or_default();
    print_to_stderr(cli_output::clean_line(&format!("{summary} {error} {advice}")).trim_end());
}

/// The reading thread may outlive the sign-in, because a read from a terminal cannot be cancelled.
fn read_pasted_lines() -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel(4);
    std::thread::spawn(move || {
        let mut input = io::stdin().lock();
        loop {
            let mut line = String::new();
            let count = input.by_ref().take(LINE_BYTES_MAX).read_line(&mut line);
            match count {
                Ok(0) | Err(_) => return,
                Ok(_) if line.trim().is_empty() => {}
                Ok(_) if sender.blocking_send(line).is_err() => return,
                Ok(_) => {}
            }
        }
    });
    lines
}
