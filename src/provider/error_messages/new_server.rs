//! Messages about a server that the user is about to add. They name the field to correct
//! instead of `config.json`, which does not have the server yet.

use super::super::error::{FailureCause, ProviderError};
use crate::domain::{NewServerError, NewServerField, Notice};

impl ProviderError {
    /// Why the server did not list its models, and which field of the form to correct.
    pub fn new_server_error(&self) -> NewServerError {
        NewServerError {
            field: self.faulty_field(),
            notice: self.new_server_notice(),
        }
    }

    fn faulty_field(&self) -> NewServerField {
        match &self.cause {
            FailureCause::MissingKey { .. }
            | FailureCause::UnusableKey { .. }
            | FailureCause::NoCredit { .. }
            | FailureCause::Status {
                status: 401 | 403, ..
            } => NewServerField::Key,
            _ => NewServerField::Address,
        }
    }

    fn new_server_notice(&self) -> Notice {
        let notice = Notice {
            advice: Vec::new(),
            ..self.notice()
        };
        match &self.cause {
            FailureCause::MissingKey { variable } => Notice::failure(format!(
                "The environment variable {variable} is unset or empty."
            ))
            .with_advice("Type a key, or set the variable and restart humble."),
            FailureCause::UnusableKey { .. } => Notice {
                what: "The key cannot be sent.".to_owned(),
                ..notice
            },
            FailureCause::InvalidBaseUrl { .. } => Notice {
                what: "The address is not valid.".to_owned(),
                ..notice
            },
            FailureCause::Redirected { .. } => Notice {
                why: None,
                ..notice
            }
            .with_advice("If the new address is right, type it here."),
            FailureCause::ConnectionRefused => {
                notice.with_advice(match self.target.provider.server_command() {
                    Some(command) => format!("Start `{command} serve`, or correct the address."),
                    None => "Start the server, or correct the address.".to_owned(),
                })
            }
            FailureCause::HostNotFound
            | FailureCause::ConnectTimeout
            | FailureCause::Unreachable { .. } => notice.with_advice("Check the address."),
            FailureCause::Status { status, .. } => match status {
                401 if !self.target.has_key => notice.with_advice("Type the key here."),
                401 | 403 => notice.with_advice("Check the key."),
                404 | 405 => notice.with_advice("Check the address and the provider."),
                _ => notice,
            },
            FailureCause::SignInRequired { .. } => self.notice(),
            FailureCause::Malformed(_) => notice.with_advice("Check the address and the provider."),
            _ => notice,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::error::MalformedReply;
    use super::*;
    use crate::config::{self, Home};
    use crate::domain::model::Secret;
    use crate::domain::{NewModelServer, ProviderKind};

    fn error(cause: FailureCause) -> NewServerError {
        let server = NewModelServer {
            provider: ProviderKind::OpenAi,
            base_url: Some("http://127.0.0.1:9".to_owned()),
            api_key: Some(Secret::new("sk-1")),
        };
        let model = config::parse_new_server(&Home::at("/h"), &server).expect("a valid server");
        ProviderError::new(&model, cause).new_server_error()
    }

    fn status(status: u16) -> FailureCause {
        FailureCause::Status {
            status,
            message: None,
            retry_after: None,
            path: Some("/v1/models".to_owned()),
        }
    }

    #[test]
    fn failures_are_attributed_to_a_field_without_naming_settings() {
        let why = || "it contains a space".to_owned();
        let variable = "OPENAI_API_KEY".to_owned();
        let cases = [
            (FailureCause::ConnectionRefused, NewServerField::Address),
            (FailureCause::HostNotFound, NewServerField::Address),
            (FailureCause::ConnectTimeout, NewServerField::Address),
            (
                FailureCause::Timeout { seconds: 5 },
                NewServerField::Address,
            ),
            (
                FailureCause::Unreachable { why: why() },
                NewServerField::Address,
            ),
            (
                FailureCause::Unreachable {
                    why: "bad certificate".into(),
                },
                NewServerField::Address,
            ),
            (FailureCause::ConnectionReset, NewServerField::Address),
            (
                FailureCause::Redirected { to: why() },
                NewServerField::Address,
            ),
            (FailureCause::EmptyReply, NewServerField::Address),
            (
                FailureCause::Malformed(MalformedReply::WebPage),
                NewServerField::Address,
            ),
            (
                FailureCause::Malformed(MalformedReply::NotAModelList),
                NewServerField::Address,
            ),
            (FailureCause::MissingKey { variable }, NewServerField::Key),
            (
                FailureCause::UnusableKey { why: why() },
                NewServerField::Key,
            ),
            (status(401), NewServerField::Key),
            (status(403), NewServerField::Key),
            (status(404), NewServerField::Address),
            (status(429), NewServerField::Address),
            (status(500), NewServerField::Address),
            (status(418), NewServerField::Address),
        ];
        for (cause, field) in cases {
            let name = format!("{cause:?}");
            let error = error(cause);
            assert_eq!(error.field, field, "{name}");
            let text = error
                .notice
                .to_sentence(|advice| Some(format!("{advice:?}")));
            for word in ["config.json", "baseUrl", "apiKey", "caFile"] {
                assert!(!text.contains(word), "{name}: {text}");
            }
        }
    }

    #[test]
    fn an_invalid_address_of_a_new_server_is_called_address_and_not_base_url() {
        let server = NewModelServer {
            provider: ProviderKind::OpenAi,
            base_url: Some("example.com".to_owned()),
            api_key: None,
        };
        let faults = config::parse_new_server(&Home::at("/h"), &server).expect_err("no scheme");
        assert_eq!(
            faults,
            "The address has no scheme; start it with `https://` or `http://`."
        );
    }
}
