//! Server instructions for the model. They are shown to the user, and sent only after
//! consent to exactly this text.

use super::TrustState;
use crate::config::TrustEdit;
use crate::domain::trust::InstructionsConsent;
use crate::domain::{Advice, Notice, OfferedTool, Server, ServerId, Toolset};
use crate::engine::cx::EngineCx;
use crate::engine::questions::PendingQuestion;
use crate::protocol::{QuestionOwner, UserAnswer, UserChoice};
use crate::questions;
use crate::text::Clean;
use crate::text::lines::{split_lines, strip_hidden_controls};
use jiff::Timestamp;
use std::sync::Arc;

/// Longer instructions are not sent, because they would dominate the system message.
pub const INSTRUCTIONS_BYTES_MAX: usize = 32 * 1024;

impl TrustState {
    /// Shows a server's instructions and asks for consent.
    pub fn ask_instructions(&mut self, id: &ServerId, servers: &[Server], cx: &mut EngineCx) {
        let server = servers.iter().find(|server| server.id == *id);
        let text = server.and_then(instructions_text);
        let (Some(server), Some(text)) = (server, text) else {
            let id = Clean::name(id.as_str());
            let message = format!("`{id}` has no instructions for the model.");
            return cx.notice(Notice::info(message));
        };
        if text.len() > INSTRUCTIONS_BYTES_MAX {
            let id = Clean::name(id.as_str());
            let message = format!(
                "The instructions of `{id}` are longer than {INSTRUCTIONS_BYTES_MAX} bytes."
            );
            return cx.notice(Notice::warning(message).with_reason("They are not sent."));
        }
        let consent = InstructionsConsent::new(id, &server.launch, text, Timestamp::now());
        let question = questions::instructions(id, text);
        cx.withdraw_matching(
            |pending| matches!(pending, PendingQuestion::Instructions(open) if open.server == *id),
        );
        cx.ask(
            QuestionOwner::Program,
            question,
            PendingQuestion::Instructions(consent),
        );
    }

    pub fn handle_instructions_answer(
        &mut self,
        consent: InstructionsConsent,
        answer: &UserAnswer,
        servers: &[Server],
        cx: &mut EngineCx,
    ) {
        let UserAnswer::Choice(choice) = answer else {
            return;
        };
        let is_stored = self.stored_trust().has_consent(&consent);
        match choice {
            UserChoice::SendAlways if !is_stored => {
                self.trust_mut().instruction_consents.push(consent.clone());
                self.write_trust([TrustEdit::AllowInstructions(consent)], cx);
            }
            UserChoice::SendAlways => {}
            UserChoice::SendUntilExit => {
                self.revoke_instructions(&consent, cx);
                self.instructions_until_exit.push(consent);
            }
            _ => self.revoke_instructions(&consent, cx),
        }
        self.publish_trust(servers, cx);
    }

    fn has_consent(&self, consent: &InstructionsConsent) -> bool {
        let mut until_exit = self.instructions_until_exit.iter();
        self.stored_trust().has_consent(consent) || until_exit.any(|other| other.is_same(consent))
    }

    /// Appends the approved instructions of the servers with offered tools to the system prompt.
    /// Each of their lines is prefixed, so that none can imitate ours.
    pub fn with_instructions(
        &self,
        prompt: Arc<str>,
        offered: &Toolset,
        servers: &[Server],
    ) -> Arc<str> {
        let mut sections = Vec::new();
        for server in servers {
            let is_of_server = |tool: &OfferedTool| tool.server == server.id;
            let Some(instructions) =
                instructions_text(server).filter(|_| offered.tools().iter().any(is_of_server))
            else {
                continue;
            };
            let consent = InstructionsConsent::new(
                &server.id,
                &server.launch,
                instructions,
                Timestamp::UNIX_EPOCH,
            );
            if instructions.len() <= INSTRUCTIONS_BYTES_MAX && self.has_consent(&consent) {
                // The user consented to exactly these lines; the dialog marked hidden characters.
                let quote = |line| format!("> {}", strip_hidden_controls(line));
                let lines: Vec<String> = split_lines(instructions.trim_end()).map(quote).collect();
                let lines = lines.join("\n");
                let id = server.id.as_str();
                sections.push(format!(
                    "INSTRUCTIONS OF SERVER {id} (its own words, on how to use its tools):\n{lines}"
                ));
            }
        }
        if sections.is_empty() {
            return prompt;
        }
        let prompt = prompt.trim_end_matches('\n');
        let parts: Vec<String> = Some(prompt.to_owned())
            .filter(|prompt| !prompt.is_empty())
            .into_iter()
            .chain(sections)
            .collect();
        parts.join("\n\n").into()
    }

    /// Reports changes to approved instructions, each change once.
    pub fn report_changed_instructions(&mut self, servers: &[Server], cx: &mut EngineCx) {
        for server in servers {
            let Some(instructions) = instructions_text(server) else {
                continue;
            };
            let current = InstructionsConsent::new(
                &server.id,
                &server.launch,
                instructions,
                Timestamp::UNIX_EPOCH,
            );
            let is_same_server = |old: &InstructionsConsent| {
                old.server == current.server && old.launch == current.launch
            };
            let mut consents = self
                .stored_trust()
                .instruction_consents
                .iter()
                .chain(&self.instructions_until_exit);
            let had_consent = consents.any(is_same_server);
            if had_consent && !self.has_consent(&current) {
                let key = (current.server, current.text_hash);
                if self.reported_instructions.insert(key) {
                    let id = Clean::name(server.id.as_str());
                    cx.notice(
                        Notice::warning(format!("The instructions of `{id}` changed."))
                            .with_reason("They are not sent until you agree again.")
                            .with_advice(Advice::ReviewInstructions),
                    );
                }
            }
        }
    }
}

/// `None` if they are blank.
fn instructions_text(server: &Server) -> Option<&str> {
    let instructions = server.instructions.as_deref()?;
    Some(instructions).filter(|instructions| !instructions.trim().is_empty())
}
