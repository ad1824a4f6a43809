//! Signing in to a remote server, on the screen and on the command line. The address is pasted, as
//! over SSH. No secret reaches the log or any file but `auth.json`, and no token reaches the screen.

use super::auth_server::AuthServer;
use super::home::wait_until;
use super::pty::{PtyTerminal, TerminalOptions};
use super::{ModelServer, TestHome, clean_exit};
use serde_json::json;
use std::fs;
use tokio::runtime::Runtime;

fn home_with(server: &AuthServer, model_url: &str) -> TestHome {
    let home = TestHome::with_ollama(model_url);
    home.edit_json("config.json", |config| config["logLevel"] = json!("debug"));
    let port = std::net::TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr());
    let entry = json!({ "url": server.mcp_url(), "transport": "http",
        "callbackPort": port.expect("a free port").port() });
    home.write(
        "mcp-servers.json",
        &json!({ "mcpServers": { "guarded": entry } }),
    );
    home
}

/// The address on the screen, joined from its wrapped rows. The next row explains where to paste.
fn shown_address(terminal: &PtyTerminal) -> String {
    terminal.wait_for_text("Open this address in a browser:");
    let screen = terminal.wait_for_text("paste").contents();
    let rows = screen
        .lines()
        .skip_while(|line| !line.contains("Open this address"));
    let rows = rows.skip(1).map(str::trim);
    rows.take_while(|row| !row.is_empty() && !row.contains(' '))
        .collect()
}

fn assert_secrets_only_in_auth_file(home: &TestHome, terminal: &PtyTerminal) {
    let secrets = ["access-secret", "refresh-secret", "code-1"];
    for file in home.files() {
        let text = String::from_utf8_lossy(&fs::read(&file).expect("a file")).into_owned();
        let is_auth_file = file.ends_with("auth.json");
        assert_eq!(
            text.contains("access-secret"),
            is_auth_file,
            "{}",
            file.display()
        );
        assert!(
            is_auth_file || !secrets.iter().any(|secret| text.contains(secret)),
            "{}",
            file.display()
        );
    }
    // The pasted address may be on the screen, but tokens never are.
    let raw = String::from_utf8_lossy(&terminal.raw()).into_owned();
    assert!(!raw.contains("access-secret") && !raw.contains("refresh-secret"));
}

#[test]
fn the_dialog_signs_in_with_a_pasted_address() {
    let runtime = Runtime::new().expect("a runtime");
    let server = runtime.block_on(AuthServer::start());
    let model = ModelServer::start();
    let home = home_with(&server, &model.url());
    let mut terminal = TerminalOptions::in_home(&home).size(120, 40).start();
    terminal.wait_for_text("needs sign-in");
    terminal.send_prompt("/mcp guarded login");
    let address = shown_address(&terminal);
    let callback = runtime.block_on(AuthServer::visit(&address));

    terminal.paste("http://127.0.0.1:1/callback?code=x");
    terminal.wait_for_text("callback?code=x");
    terminal.press("\r");
    terminal.wait_for_text("This is not the address");
    terminal.paste(&callback);
    terminal.wait_for_text("state=");
    terminal.press("\r");
    terminal.wait_for_text("Signed in to server `guarded`.");
    wait_until("the server lists its tools", || {
        server.count("POST /mcp") >= 4
    });
    terminal.wait_until_gone("needs sign-in");
    assert_eq!(terminal.quit(), clean_exit());
    assert_secrets_only_in_auth_file(&home, &terminal);
    assert_eq!(server.token_requests("authorization_code"), 1);
}

#[test]
fn the_command_signs_in_with_a_pasted_address_and_out_again() {
    let runtime = Runtime::new().expect("a runtime");
    let server = runtime.block_on(AuthServer::start());
    let home = home_with(&server, "http://127.0.0.1:1");
    let run = |command: &str| {
        let options = TerminalOptions::in_home(&home).size(120, 40);
        options.arg("mcp").arg(command).arg("guarded").start()
    };
    let mut terminal = run("login");
    let address = shown_address(&terminal);
    let callback = runtime.block_on(AuthServer::visit(&address));
    terminal.press(&format!("{callback}\r"));
    assert_eq!(terminal.exit(), clean_exit());
    terminal.wait_for_text("Signed in to server `guarded`.");
    assert_secrets_only_in_auth_file(&home, &terminal);

    let mut terminal = run("login");
    assert_eq!(terminal.exit(), clean_exit());
    terminal.wait_for_text("it needs no sign-in now");

    let mut terminal = run("logout");
    assert_eq!(terminal.exit(), clean_exit());
    terminal.wait_for_text("Signed out of server `guarded`.");
    assert_eq!(server.state().revoked.len(), 2);
    let text = fs::read_to_string(home.path().join("auth.json")).expect("the file");
    assert!(!text.contains("secret"), "{text}");
}
