//! The server that the conformance suite tests: the HTTP server of `humble serve` with the tools,
//! prompts and resources that the suite requires instead of our own. The shipped program has no
//! such mode. The only argument is the port; 0 means any.

mod fixture;

use fixture::FixtureHandler;
use humble::app::built_in_tools;
use humble::config::Home;
use humble::domain::BuiltInSettings;
use humble::provider::Provider;
use humble::serve::http::{AccessPolicy, HttpHandlers, HttpOptions, Listener, resolve, serve};
use humble::serve::{CallLimits, CallLog, CallRunner};
use std::error::Error;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let port = std::env::args().nth(1).ok_or("the port is missing")?;
    let listener = Listener::bind(&resolve("127.0.0.1", port.parse()?).await?).await?;
    let address = listener.addresses()[0];
    println!("listening on http://{address}");
    let access = AccessPolicy::default().listening_on(address.ip());
    let options = HttpOptions {
        access,
        ..HttpOptions::default()
    };
    let tools = built_in_tools(
        &Home::at("/nonexistent"),
        BuiltInSettings::default(),
        Provider::new(),
    );
    let calls = CallRunner::new(tools, CallLimits::default(), CallLog::Quiet);
    let handler = FixtureHandler::new();
    let handlers = HttpHandlers {
        streamable: handler.clone(),
        sse: handler,
    };
    let stop = CancellationToken::new();
    let serving = serve(listener, handlers, calls, options, stop.clone());
    let mut terminated = signal(SignalKind::terminate())?;
    tokio::pin!(serving);
    tokio::select! {
        () = &mut serving => {}
        _ = terminated.recv() => {
            stop.cancel();
            serving.await;
        }
    }
    Ok(())
}
