//! Secrets given to servers never appear in reports or logs.

use super::{TestHome, run};
use serde_json::json;

/// Prints every secret that it received, in several spellings, and exits.
const LEAKING_SCRIPT: &str = r#"
echo "env DB_PASS=$DB_PASS MYSQL_PWD=$MYSQL_PWD pat $GITLAB_PAT" >&2
echo "cannot connect to $DSN as set in [$*]" >&2
echo "encoded hunter%322%2Fdb, \"hun\u0074er22\\/db\" and later --api-key whatever-else" >&2
printf '%02040d%s tail\n' 0 "$GITLAB_PAT" >&2
printf '%060d%s no message\n' 0 "$GITLAB_PAT"
exit 3
"#;

const SECRETS: [&str; 9] = [
    "hunter22",
    "mysql-99",
    "glpat",
    "user-x",
    "pw-xyz",
    "argument-77",
    "whatever-else",
    "0123456789abcdefXYZW",
    "tok-in-url",
];

fn with_leaking_servers() -> TestHome {
    let home = TestHome::empty();
    home.write("config.json", &json!({ "logLevel": "debug" }));
    let env = json!({
        "DB_PASS": "hunter22/db",
        "MYSQL_PWD": "mysql-99",
        "GITLAB_PAT": "glpat-0a1b2c3d4e",
        "DSN": "postgres://user-x:pw-xyz@localhost/db",
    });
    let talker = json!({
        "command": "sh",
        "args": ["-c", LEAKING_SCRIPT, "talker", "--api-key", "argument-77"],
        "env": env,
    });
    let url = "http://tok-in-url@127.0.0.1:1/s/0123456789abcdefXYZW/mcp";
    let remote = json!({ "url": url, "transport": "http" });
    let servers = json!({ "mcpServers": { "talker": talker, "remote": remote } });
    home.write("mcp-servers.json", &servers);
    home
}

fn log_text(home: &TestHome) -> String {
    let files = home.files().into_iter();
    let logs = files.filter(|path| path.extension().is_some_and(|extension| extension == "log"));
    logs.filter_map(|path| std::fs::read_to_string(path).ok())
        .collect()
}

#[test]
fn no_report_or_log_repeats_server_secrets() {
    let home = with_leaking_servers();
    let list = run(&home, &["mcp", "list"]).expect(1);
    let json_list = run(&home, &["mcp", "list", "--json"]).expect(1);
    let call = run(&home, &["mcp", "call", "talker", "x"]);
    let log = log_text(&home);
    assert!(
        list.out.contains("cannot connect to [hidden]"),
        "{}",
        list.out
    );
    assert!(
        list.out.contains("127.0.0.1:1/s/[hidden]/mcp"),
        "{}",
        list.out
    );
    assert!(log.contains("MCP server `talker` failed"), "{log}");
    let all = format!("{list:?}\n{json_list:?}\n{call:?}\n{log}");
    for secret in SECRETS {
        assert!(!all.contains(secret), "{secret}: {all}");
    }
}
