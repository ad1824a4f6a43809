//! Tests of redaction: hidden secrets, text that stays readable, and running time.

use super::super::secrets;
use super::super::server::{RemoteTransport, ServerConfig};
use super::*;
use crate::fixtures::{self, server_config};
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;
use std::time::{Duration, Instant};

fn redactor_for(values: &[&str]) -> Redactor {
    let mut redactor = Redactor::default();
    redactor.add_secrets(values.iter().map(|value| Secret::new(*value)));
    redactor
}

fn registry_of(servers: &[ServerConfig]) -> SecretRegistry {
    let secrets = SecretRegistry::default();
    for server in servers {
        secrets.add(server.config_secrets());
    }
    secrets
}

fn child(args: &[&str], env: &[(&str, &str)]) -> ServerConfig {
    server_config("s", fixtures::stdio("run", args, env))
}

fn remote(url: &str, headers: &[(&str, &str)]) -> ServerConfig {
    server_config("s", fixtures::remote(url, RemoteTransport::Http, headers))
}

#[test]
fn known_and_named_values_are_hidden_in_any_context() {
    let redactor = redactor_for(&["sk-1234", "sk-1234-long", "qu\"ote\\d", "", "abc"]);
    let cases = [
        ("key sk-1234-long, sk-1234.", "key [hidden], [hidden]."),
        (
            r#"{"k":"qu\"ote\\d"} qu"ote\d"#,
            r#"{"k":"[hidden]"} [hidden]"#,
        ),
        ("abc of nothing", "abc of nothing"),
        ("Authorization: Basic dTpw", "Authorization: [hidden]"),
        ("AUTHORIZATION=x, n=1", "AUTHORIZATION=[hidden], n=1"),
        (
            r#"{"authorization": "Bearer ab.c-d", "host": "h"}"#,
            r#"{"authorization": "[hidden]", "host": "h"}"#,
        ),
        (
            r#"\"X-Api-Key\":\"zzz\",\"a\":1"#,
            r#"\"X-Api-Key\":\"[hidden]\",\"a\":1"#,
        ),
        (r#"("x-api-key", "zzz")"#, r#"("x-api-key", "[hidden]")"#),
        (r#""x-api-key": ["zzz"]"#, r#""x-api-key": ["[hidden]"]"#),
        ("sent bearer a/b+c== on", "sent bearer [hidden] on"),
        ("authorization failed", "authorization failed"),
        ("bearer ", "bearer "),
        (
            "한글 Bearer 토큰 Bearer t",
            "한글 Bearer 토큰 Bearer [hidden]",
        ),
    ];
    for (line, expected) in cases {
        assert_eq!(redactor.redact(line), expected);
        assert_eq!(
            redactor.redact(expected),
            expected,
            "redacting twice changes nothing"
        );
    }
}

#[test]
fn known_values_are_hidden_in_every_escaping() {
    let redactor = redactor_for(&["p@ss/w\"ö\\d", "first\nsecond line"]);
    for line in [
        "p@ss/w\"ö\\d",
        "P@SS/w\"ö\\D",
        "p%40ss%2Fw%22%C3%B6%5Cd",
        "p%40ss%2fw\"ö%5cd",
        r#"p@ss/w\"ö\\d"#,
        r#"p@ss\/w\"\u00f6\\d"#,
        r#"p@ss/w\\\"ö\\\\d"#,
        r#"p@ss\\/w\\\"\\u00f6\\\\d"#,
        r#"p@ss/w\"\u{f6}\\d"#,
        r#"\u0070@ss/w\"ö\\d"#,
        "second line",
    ] {
        let redacted = redactor.redact(&format!("<{line}>"));
        assert_eq!(redacted, "<[hidden]>", "{line}");
    }
    let redacted = redactor.redact(r"first\nsecond line");
    assert!(!redacted.contains("second"), "{redacted}");
}

#[test]
fn overlapping_values_are_both_hidden() {
    let redactor = redactor_for(&["secretone", "onetwothree"]);
    assert_eq!(redactor.redact("a secretonetwothree b"), "a [hidden] b");
    assert_eq!(
        redactor.redact("secretonesecretone"),
        "[hidden]",
        "adjacent masks are merged"
    );
}

#[test]
fn the_values_of_secret_flags_are_hidden_in_any_text() {
    let redactor = Redactor::default();
    let cases = [
        ("run --api-key s3cr3t-x now", "run --api-key [hidden] now"),
        ("--api-key=s3cr3t,x now", "--api-key=[hidden] now"),
        (
            r#"["--db-pass", "a b c", "x"]"#,
            r#"["--db-pass", "[hidden]", "x"]"#,
        ),
        (
            r#"[\"--token\",\"a b\",\"x\"]"#,
            r#"[\"--token\",\"[hidden]\",\"x\"]"#,
        ),
        (
            "['--Client-Secret', 'v1']",
            "['--Client-Secret', '[hidden]']",
        ),
        ("--password=\"a b\" x", "--password=\"[hidden]\" x"),
        ("-token abcdef x", "-token [hidden] x"),
        ("--no-password --verbose", "--no-password --verbose"),
        ("give --token or a file", "give --token or a file"),
        ("a monkey-pass abc", "a monkey-pass abc"),
    ];
    for (line, expected) in cases {
        assert_eq!(redactor.redact(line), expected);
        assert_eq!(
            redactor.redact(expected),
            expected,
            "redacting twice changes nothing"
        );
    }
}

#[test]
fn the_user_info_of_any_url_is_hidden() {
    let redactor = Redactor::default();
    let long = format!("https://{}@h/x", "t".repeat(3_000));
    let cases = [
        ("at postgres://u:pw@h:1/d.", "at postgres://[hidden]@h:1/d."),
        ("https://tok@h", "https://[hidden]@h"),
        ("redis://:p@w@h/0", "redis://[hidden]@h/0"),
        ("amqp://u:p/w#x@h/v", "amqp://[hidden]@h/v"),
        (r"postgres:\/\/u:pw@h\/d", r"postgres:\/\/[hidden]@h\/d"),
        (
            "?next=postgres%3A%2F%2Fu%3Apw%40h%2Fd",
            "?next=postgres%3A%2F%2F[hidden]%40h%2Fd",
        ),
        ("http://h:8080/@scope/x", "http://h:8080/@scope/x"),
        ("http://[::1]:80/ a@b", "http://[::1]:80/ a@b"),
        ("http://h/x a@b", "http://h/x a@b"),
        (&long, "https://[hidden]@h/x"),
    ];
    for (line, expected) in cases {
        assert_eq!(redactor.redact(line), expected);
        assert_eq!(
            redactor.redact(expected),
            expected,
            "redacting twice changes nothing"
        );
    }
}

#[test]
fn all_secrets_in_a_server_config_are_hidden() {
    let child = child(
        &[
            "--api-key",
            "argument-1",
            "--token=argument-2",
            "--header",
            "Authorization: Bearer argument-3",
            "-e",
            "DB_PASS=arg4",
            "https://u:arg5@h/x",
            "curl --secret argument-6",
        ],
        &[
            ("GITLAB_PAT", "glpat-xyz"),
            ("MODE", "production"),
            ("SHORT", "abcde"),
            ("DSN", "postgres://user:pw%2Fx1@db/x"),
            ("CONNECTION", "Server=h;Password=pwd4;x=y"),
            ("ACCOUNT", r#"{"type":"service","private_key":"MIIE"}"#),
        ],
    );
    let remote = remote(
        "https://h/s/0123456789abcdefABCDEF/mcp?x=value-1",
        &[
            ("X-Trace", "header-1"),
            ("Authorization", "Basic dXNlcjpoZWFkZXIy"),
        ],
    );
    let secrets = registry_of(&[child, remote]);
    for secret in [
        "argument-1",
        "argument-2",
        "argument-3",
        "arg4",
        "arg5",
        "argument-6",
        "glpat-xyz",
        "production",
        "postgres://user:pw%2Fx1@db/x",
        "pw/x1",
        "pwd4",
        "MIIE",
        "0123456789abcdefABCDEF",
        "value-1",
        "header-1",
        "dXNlcjpoZWFkZXIy",
        "header2",
    ] {
        assert_eq!(secrets.redact(&format!("<{secret}>")), "<[hidden]>");
    }
    for plain in ["abcde", "--api-key", "service", "Server=h", "mcp", "user"] {
        assert_eq!(secrets.redact(plain), plain);
    }
}

#[test]
fn only_credentials_are_removed_from_messages() {
    let child = child(
        &["--api-key", "argument-1"],
        &[
            ("API_KEY", "sk-12345678"),
            ("ROOT", "/home/u/docs"),
            ("AUTH_MODE", "required"),
            ("TOKEN_LIMIT", "100000000"),
        ],
    );
    let secrets = registry_of(&[child]);
    let text = "sk-12345678 argument-1 /home/u/docs required 100000000 --token abcdef";
    assert_eq!(
        secrets.redact_credentials(text),
        "[hidden] [hidden] /home/u/docs required 100000000 --token abcdef"
    );
}

#[test]
fn secret_names_are_distinguished_from_ordinary_names() {
    for name in [
        "API_KEY",
        "DB_PASS",
        "PGPASS",
        "MYSQL_PWD",
        "GITLAB_PAT",
        "SENTRY_DSN",
        "DB_PASSWORD_PROD",
        "SECRET_VALUE_2",
        "x-auth",
        "Cookie",
    ] {
        assert!(secrets::is_secret_name(name), "{name}");
    }
    for name in [
        "PATH",
        "PWD",
        "OLDPWD",
        "PATTERN",
        "PASSAGE",
        "HOST",
        "SPAT_X",
        "AUTHOR",
        "TOKEN_URL",
    ] {
        assert!(!secrets::is_secret_name(name), "{name}");
    }
}

#[test]
fn a_secret_across_the_truncation_point_is_hidden_completely() {
    let redactor = redactor_for(&["0123456789abcdef", &"L".repeat(5_000)]);
    let (head, used) = redactor.redact_prefix("say 0123456789abcdef again", 10);
    assert_eq!((head.as_str(), used), ("say [hidden]", 20));
    let long = format!("say {} again", "L".repeat(5_000));
    assert_eq!(redactor.redact_prefix(&long, 10).0, "say [hidden]");
    assert_eq!(redactor.redact_prefix("한글한글", 4), ("한".to_owned(), 3));
}

#[test]
fn the_cost_of_redaction_stays_linear_on_hostile_lines() {
    let values: Vec<String> = (0..2_000).map(|n| format!("value-{n:06}-x")).collect();
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    let redactor = redactor_for(&values);
    for part in [
        "bearer ",
        "--key",
        "-key",
        "://",
        "a://b:c/",
        "%3a%2f%2f",
        "\\",
        "%41",
        "authorization",
        "--token ",
        "value-",
        "\\u005c",
    ] {
        let line = part.repeat(64 * 1024 / part.len());
        let started = Instant::now();
        redactor.redact(&line);
        let elapsed = started.elapsed();
        assert!(elapsed < Duration::from_secs(5), "{part}: {elapsed:?}");
    }
}

#[test]
fn a_very_long_flag_name_is_redacted_in_linear_time() {
    let line = "---key".repeat(256 * 1024 / 6);
    let started = Instant::now();
    assert_eq!(Redactor::default().redact(&line), line);
    let elapsed = started.elapsed();
    assert!(elapsed < Duration::from_secs(5), "{elapsed:?}");
}

#[test]
fn tokens_in_the_path_and_secret_parameters_of_any_url_are_hidden() {
    let redactor = Redactor::default();
    for (text, expected) in [
        (
            "connecting to https://h/s/abcdefghijklmnop1234567890qrstuv/mcp?token=tk_zz99&page=2 now",
            "connecting to https://h/s/[hidden]/mcp?token=[hidden]&page=2 now",
        ),
        (
            "see https://example.com/docs/getting-started.html.",
            "see https://example.com/docs/getting-started.html.",
        ),
    ] {
        assert_eq!(redactor.redact(text), expected);
        assert_eq!(
            redactor.redact(expected),
            expected,
            "redacting twice changes nothing"
        );
    }
}

#[test]
fn text_after_a_credential_is_kept() {
    let redactor = Redactor::default();
    for (text, expected) in [
        (
            "Authorization: Bearer abc.def Environment variables were withheld.",
            "Authorization: [hidden] Environment variables were withheld.",
        ),
        ("api_key=abc123 and more", "api_key=[hidden] and more"),
    ] {
        assert_eq!(redactor.redact(text), expected);
    }
}

#[test]
fn a_secret_in_base64_is_hidden_wherever_it_begins() {
    let redactor = redactor_for(&["s3cret?>pass~word"]);
    for before in ["", "u", "us", "user:", "a longer client:"] {
        for after in ["", ":", "!!", "\n"] {
            let plain = format!("{before}s3cret?>pass~word{after}");
            for encoded in [STANDARD.encode(&plain), URL_SAFE.encode(&plain)] {
                let redacted = redactor.redact_known_values(&format!("Basic {encoded} end"));
                assert!(redacted.contains(HIDDEN), "{redacted}");
                assert!(redacted.ends_with(" end"), "{redacted}");
                // Only the letters that also depend on other bytes are left.
                let left = redacted.len() - "Basic [hidden] end".len();
                assert!(left <= STANDARD.encode(before).len() + 8, "{redacted}");
            }
        }
    }
    let text = STANDARD.encode("another text of the same length");
    assert_eq!(redactor.redact_known_values(&text), text);
}

#[test]
fn secrets_at_the_borders_of_search_windows_are_hidden() {
    let redactor = redactor_for(&["s3cret-token"]);
    for form in ["s3cret-token", "s3cret%2Dtoken", r"\\u0073\u0033cret-token"] {
        for distance in 0..form.len() + 2 {
            let text = format!(
                "{}{form}{}",
                "x".repeat(WINDOW_BYTES - distance),
                "y".repeat(9)
            );
            let redacted = redactor.redact_known_values(&text);
            assert!(redacted.ends_with("[hidden]yyyyyyyyy"), "{form} {distance}");
        }
    }
}

#[test]
fn a_value_that_matches_everywhere_needs_little_memory() {
    let redactor = redactor_for(&["aaaaaaaaaaaa"]);
    let text = "a".repeat(3 * WINDOW_BYTES);
    assert_eq!(redactor.ranges_of_values(&text).len(), 1);
    assert_eq!(redactor.redact_known_values(&text), HIDDEN);
}

#[test]
fn credentials_are_removed_from_values_and_keys_at_any_depth() {
    let secrets = SecretRegistry::default();
    secrets.add_credentials([Secret::new("s3cret-token"), Secret::new("lm-studio")]);
    let mut message = json!({
        "a": [{ "key s3cret-token": "x" }, "s3cret%2Dtoken"],
        "b": "from lm-studio: s3cret-token",
        "c": 1,
    });
    assert!(secrets.redact_message(&mut message));
    let expected = json!({
        "a": [{ "key [hidden]": "x" }, "[hidden]"],
        "b": "from lm-studio: [hidden]",
        "c": 1,
    });
    assert_eq!(message, expected);
    assert!(!secrets.redact_message(&mut message));
}

/// The text that comes out if `text` is pushed in pieces that end at the given bytes.
fn redact_pieces(secrets: &SecretRegistry, text: &str, ends: &[usize]) -> String {
    let mut pieces = PieceRedactor::new(secrets);
    let mut redacted = String::new();
    let mut start = 0;
    for end in ends.iter().copied().chain([text.len()]) {
        let end = text.floor_char_boundary(end).max(start);
        redacted += &pieces.push(text[start..end].to_owned());
        start = end;
    }
    redacted + &pieces.finish()
}

proptest! {
    #[test]
    fn pieces_of_any_size_leave_nothing_that_the_whole_text_hides(
        parts in vec(
            select(
                &[
                    "sk-1234abcd", "sk-1234abcd-long", "sk-", "1234", "한글", "dlong9876", " ",
                    "sk%2D1234abcd", "\\u0073k-1234abcd", "%", "\\u00",
                ][..],
            ),
            0..12,
        ),
        mut ends in vec(0_usize..160, 0..40),
    ) {
        let secrets = SecretRegistry::default();
        let values = ["sk-1234abcd", "sk-1234abcd-long", "dlong9876"];
        secrets.add_credentials(values.map(Secret::new));
        let text = parts.concat();
        ends.sort_unstable();
        let redacted = redact_pieces(&secrets, &text, &ends);
        prop_assert_eq!(secrets.redact_credentials(&redacted), redacted, "{}", text);
    }
}

#[test]
fn an_escape_across_pieces_is_hidden_and_ordinary_text_is_unchanged() {
    let secrets = SecretRegistry::default();
    secrets.add_credentials([Secret::new("sk-live-1234")]);
    for text in ["sk%2Dlive%2d1234", r"sk\u002dlive-1234", "sk-live-1234"] {
        let ends: Vec<usize> = (0..text.len()).collect();
        assert_eq!(redact_pieces(&secrets, text, &ends), HIDDEN, "{text}");
    }
    for text in ["100% of 50%", r"C:\u", "ask sk", r"\", "sk-lime"] {
        let ends: Vec<usize> = (0..text.len()).collect();
        assert_eq!(redact_pieces(&secrets, text, &ends), text);
    }
}

#[test]
fn names_paths_and_addresses_are_not_removed_from_messages() {
    let env = [
        ("GIT_AUTHOR_NAME", "Jane Smith"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "/home/u/proj/creds.json"),
        ("KEYCLOAK_URL", "http://localhost:8080"),
        ("AUTH_TYPE", "oauth2-client"),
        ("PRIMARY_KEY_COLUMN", "customer_id2"),
        ("DEPLOY_KEY", "Hx7-key-of-deploy"),
    ];
    let secrets = registry_of(&[child(&[], &env)]);
    secrets.add_tokens(["/home/u/project/a12", "Password", "inputSchema"].map(Secret::new));
    secrets.add_tokens([Secret::new("ya29.a0AfB_byC12345")]);
    let text =
        "Jane Smith /home/u/proj/creds.json http://localhost:8080 oauth2-client customer_id2";
    assert_eq!(secrets.redact_credentials(text), text);
    let text = "/home/u/project/a12 Password inputSchema Hx7-key-of-deploy ya29.a0AfB_byC12345";
    let expected = "/home/u/project/a12 Password inputSchema [hidden] [hidden]";
    assert_eq!(secrets.redact_credentials(text), expected);
}

#[test]
fn tokens_displace_no_secret_of_the_settings() {
    let secrets = SecretRegistry::default();
    secrets.add_credentials([Secret::new("Hx7-key-of-deploy")]);
    let token = |n: usize| Secret::new(format!("token-{n:06}-of-sign-in"));
    // Each makes seven values.
    for start in [0, 2_500] {
        secrets.add_tokens((start..start + 2_500).map(token));
    }
    let newest = token(4_999);
    let text = format!("Hx7-key-of-deploy {}", newest.expose());
    assert_eq!(secrets.redact_credentials(&text), "[hidden] [hidden]");
}
