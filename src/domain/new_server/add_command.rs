//! The argument of `/mcp add`: a name and a command or a URL, with the words of a shell. Pure.

use super::{NewServer, NewServerLaunch, ServerCandidate, replace_secrets, variable_name_from};
use crate::domain::server::RemoteTransport;

const USAGE: &str = "Write a name and then a command, or a name and a URL.";

/// The server of `NAME [--env NAME=VALUE …] [--] COMMAND [ARGUMENT …]` or
/// `NAME [--header NAME=VALUE …] [--transport sse|http] URL`. A secret among the values is stored apart
/// from its variable or header, so that it is never shown.
///
/// # Errors
/// The reason, as a sentence.
pub fn parse_add_command(text: &str) -> Result<ServerCandidate, String> {
    let mut words = split_words(text)?.into_iter().peekable();
    let name = words.next().ok_or(USAGE)?;
    if name.starts_with('-') {
        return Err("The name comes first, then the options.".to_owned());
    }
    let mut options = AddCommandOptions::default();
    while let Some(word) = words.next_if(|word| word.starts_with('-') || is_url(word)) {
        if word == "--" {
            break;
        }
        if is_url(&word) {
            options.url = Some(word);
            continue;
        }
        let (option, value) = match word.split_once('=') {
            Some((option, value)) => (option.to_owned(), Some(value.to_owned())),
            None => (word, words.next()),
        };
        let value = value.ok_or_else(|| format!("`{option}` needs a value."))?;
        options.add(&option, value)?;
    }
    let AddCommandOptions {
        env,
        headers,
        url,
        transport,
    } = options;
    let command: Vec<String> = words.collect();
    let is_http = |url: &String| url.starts_with("http://") || url.starts_with("https://");
    if !url.iter().all(is_http) {
        return Err("A URL begins with http:// or https://.".to_owned());
    }
    let launch = match (url, command.split_first()) {
        (Some(_), Some(_)) => return Err("Give a command or a URL, not both.".to_owned()),
        (Some(_), None) if !env.is_empty() => {
            return Err("`--env` is for a command; a URL takes `--header`.".to_owned());
        }
        (Some(url), None) => NewServerLaunch::Url {
            url,
            transport: transport.unwrap_or(RemoteTransport::Auto),
            headers,
        },
        (None, _) if !headers.is_empty() || transport.is_some() => {
            return Err("`--header` and `--transport` are for a URL.".to_owned());
        }
        (None, Some((command, args))) => NewServerLaunch::Command {
            command: command.clone(),
            args: args.to_vec(),
            env,
            cwd: None,
        },
        (None, None) => return Err(USAGE.to_owned()),
    };
    with_hidden_secrets(ServerCandidate {
        server: NewServer {
            name,
            description: None,
            enabled: false,
            launch,
            values: Vec::new(),
        },
        replaced_secrets: Vec::new(),
        remarks: Vec::new(),
    })
}

/// Stores the secrets apart, where the review does not show them.
fn with_hidden_secrets(mut candidate: ServerCandidate) -> Result<ServerCandidate, String> {
    for outcome in replace_secrets(&mut [&mut candidate]) {
        outcome.map_err(|reason| format!("Not added: {reason}."))?;
    }
    candidate.store_secrets(true);
    candidate.replaced_secrets.clear();
    Ok(candidate)
}

fn is_url(word: &str) -> bool {
    !word.starts_with('-') && word.contains("://")
}

#[derive(Default)]
struct AddCommandOptions {
    env: Vec<(String, String)>,
    headers: Vec<(String, String)>,
    url: Option<String>,
    transport: Option<RemoteTransport>,
}

impl AddCommandOptions {
    fn add(&mut self, option: &str, value: String) -> Result<(), String> {
        match option {
            "--env" | "-e" => self.env.push(pair(&value, option, &['='])?),
            "--header" => self.headers.push(pair(&value, option, &['=', ':'])?),
            "--url" => self.url = Some(value),
            "--transport" => {
                self.transport = Some(match value.as_str() {
                    "sse" => RemoteTransport::Sse,
                    "http" => RemoteTransport::Http,
                    _ => return Err("`--transport` takes `sse` or `http`.".to_owned()),
                });
            }
            _ => {
                return Err(format!(
                    "There is no option `{option}` for a server. {USAGE}"
                ));
            }
        }
        Ok(())
    }
}

/// `NAME=VALUE`. `NAME` alone is a variable whose value the user enters later.
fn pair(text: &str, option: &str, separators: &[char]) -> Result<(String, String), String> {
    let (name, value) = match text.split_once(separators) {
        Some((name, value)) => (name.trim(), value.trim_start().to_owned()),
        None => {
            let variable = variable_name_from(text).unwrap_or_default();
            (text.trim(), format!("${{{variable}}}"))
        }
    };
    match name.is_empty() {
        // The text may hold a secret, so the message does not repeat it.
        true => Err(format!("`{option}` takes NAME=VALUE.")),
        false => Ok((name.to_owned(), value)),
    }
}

/// Splits a line into words, as a shell does: quotes keep a text together, and a backslash keeps the
/// next character. Nothing is expanded.
fn split_words(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        None => return Err(format!("A quote {c} is not closed.")),
                        Some(end) if end == c => break,
                        Some('\\') if c == '"' => match chars.next() {
                            Some(kept @ ('"' | '\\' | '$' | '`')) => word.push(kept),
                            kept => word.extend(['\\'].into_iter().chain(kept)),
                        },
                        Some(kept) => word.push(kept),
                    }
                }
            }
            '\\' => word.get_or_insert_default().extend(chars.next()),
            c if c.is_whitespace() => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(text: &str) -> NewServerLaunch {
        parse_add_command(text).expect("it is valid").server.launch
    }

    fn error(text: &str) -> String {
        parse_add_command(text).expect_err("it is not valid")
    }

    fn command(words: &[&str], env: &[(&str, &str)]) -> NewServerLaunch {
        let env = env.iter();
        NewServerLaunch::Command {
            command: words[0].to_owned(),
            args: words[1..].iter().map(|&word| word.to_owned()).collect(),
            env: env
                .map(|&(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            cwd: None,
        }
    }

    #[test]
    fn words_are_split_as_in_a_shell() {
        for (text, words) in [
            ("x npx  -y a", &["npx", "-y", "a"][..]),
            ("x -- npx --env A=1", &["npx", "--env", "A=1"]),
            (r#"x run "a b" 'c "d'"#, &["run", "a b", "c \"d"]),
            (
                r#"x run a\ b "" "\$x" "\"""#,
                &["run", "a b", "", "$x", "\""],
            ),
            ("x 날씨 '$HOME' ~", &["날씨", "$HOME", "~"]),
        ] {
            assert_eq!(launch(text), command(words, &[]), "{text}");
        }
    }

    #[test]
    fn secrets_of_an_added_server_are_stored_apart() {
        let text = "x --env MODE=fast --env API_KEY=hidden-1 -e B_TOKEN -e C_KEY='${OTHER}' run --token hidden-3";
        let server = parse_add_command(text).expect("it is valid").server;
        let env = [
            ("MODE", "fast"),
            ("API_KEY", "${API_KEY}"),
            ("B_TOKEN", "${B_TOKEN}"),
            ("C_KEY", "${OTHER}"),
        ];
        assert_eq!(
            server.launch,
            command(&["run", "--token", "${TOKEN}"], &env)
        );
        assert_eq!(
            stored(&server),
            [("TOKEN", "hidden-3"), ("API_KEY", "hidden-1")]
        );
        assert_eq!(server.needed_variables(), ["B_TOKEN", "OTHER"]);
        let text = "x --header 'Authorization: Bearer hidden-2' https://u:hidden-4@a.example/mcp --transport http";
        let server = parse_add_command(text).expect("it is valid").server;
        assert_eq!(
            server.launch,
            NewServerLaunch::Url {
                url: "https://${X_TOKEN}@a.example/mcp".to_owned(),
                transport: RemoteTransport::Http,
                headers: vec![("Authorization".to_owned(), "Bearer ${X_TOKEN_2}".to_owned())],
            }
        );
        let values = [("X_TOKEN", "u:hidden-4"), ("X_TOKEN_2", "hidden-2")];
        assert_eq!(stored(&server), values);
    }

    fn stored(server: &NewServer) -> Vec<(&str, &str)> {
        let values = server.values.iter();
        values
            .map(|(name, value)| (name.as_str(), value.expose()))
            .collect()
    }

    #[test]
    fn invalid_servers_are_refused_with_a_reason() {
        for (text, reason) in [
            ("", USAGE),
            ("x", USAGE),
            ("--env A=1 x run", "The name comes first, then the options."),
            ("x run 'a", "A quote ' is not closed."),
            ("x --env", "`--env` needs a value."),
            ("x --env =1 run", "`--env` takes NAME=VALUE."),
            (
                "x --transport tcp http://a",
                "`--transport` takes `sse` or `http`.",
            ),
            (
                "x --header A=1 run",
                "`--header` and `--transport` are for a URL.",
            ),
            (
                "x --env A=1 http://a",
                "`--env` is for a command; a URL takes `--header`.",
            ),
            ("x --url http://a run", "Give a command or a URL, not both."),
            ("x http://a run", "Give a command or a URL, not both."),
            ("x ftp://a", "A URL begins with http:// or https://."),
        ] {
            assert_eq!(error(text), reason, "{text}");
        }
        assert!(error("x --cwd /a run").starts_with("There is no option `--cwd`"));
    }
}
