//! Instructions of servers for the model: shown to the user, and sent only after consent to
//! exactly this text.

use super::TrustState;
use crate::config::TrustEdit;
use crate::domain::trust::InstructionsConsent;
use crate::domain::{Advice, Notice, Server, ServerId, Toolset};
use crate::engine::cx::EngineCx;
use crate::engine::questions::PendingQuestion;
use crate::protocol::{Ask, QuestionOwner, UserAnswer, UserChoice};
use crate::text::Clean;
use crate::text::lines::{split_lines, strip_hidden_controls};
use jiff::Timestamp;
use std::sync::Arc;

/// Longer instructions are not sent: they would dominate the system message.
const BYTES_MAX: usize = 32 * 1024;

impl TrustState {
    /// Shows the instructions and asks for consent.
    pub fn ask_instructions(&mut self, id: &ServerId, servers: &[Server], cx: &mut EngineCx) {
        let server = servers.iter().find(|server| server.id == *id);
        let text = server.and_then(instructions_text);
        let (Some(server), Some(text)) = (server, text) else {
            let id = Clean::name(id.as_str());
            let message = format!("`{id}` has no instructions for the model.");
            return cx.notice(Notice::info(message));
        };
        if text.len() > BYTES_MAX {
            let id = Clean::name(id.as_str());
            let message = format!("The instructions of `{id}` are longer than {BYTES_MAX} bytes.");
            return cx.notice(Notice::warning(message).with_reason("They are not sent."));
        }
        let agreed = InstructionsConsent::new(id, &server.launch, text, Timestamp::now());
        let question = Ask::SendInstructions {
            server: id.clone(),
            text: text.into(),
        };
        cx.withdraw_matching(
            |pending| matches!(pending, PendingQuestion::Instructions(open) if open.server == *id),
        );
        cx.ask(
            QuestionOwner::Program,
            question,
            PendingQuestion::Instructions(agreed),
        );
    }

    pub fn instructions_answered(
        &mut self,
        agreed: InstructionsConsent,
        answer: &UserAnswer,
        servers: &[Server],
        cx: &mut EngineCx,
    ) {
        let UserAnswer::Choice(choice) = answer else {
            return;
        };
        let is_known = self.stored_trust().has_consent(&agreed);
        match choice {
            UserChoice::SendAlways if !is_known => {
                self.trust_mut().instruction_consents.push(agreed.clone());
                self.write_trust([TrustEdit::AllowInstructions(agreed)], cx);
            }
            UserChoice::SendAlways => {}
            UserChoice::SendOnce => {
                self.revoke_instructions(&agreed, cx);
                self.instructions_until_exit.push(agreed);
            }
            _ => self.revoke_instructions(&agreed, cx),
        }
        self.publish_trust(servers, cx);
    }

    fn has_consent(&self, agreed: &InstructionsConsent) -> bool {
        let mut once = self.instructions_until_exit.iter();
        self.stored_trust().has_consent(agreed) || once.any(|other| other.is_same(agreed))
    }

    /// Appends the instructions of servers with offered tools to `text`. Each of their lines
    /// is prefixed, so that none can imitate ours.
    pub fn with_instructions(
        &self,
        text: Arc<str>,
        offered: &Toolset,
        servers: &[Server],
    ) -> Arc<str> {
        let mut sections = Vec::new();
        for server in servers {
            let offers = |tool: &crate::domain::OfferedTool| tool.server == server.id;
            let Some(instructions) =
                instructions_text(server).filter(|_| offered.tools().iter().any(offers))
            else {
                continue;
            };
            let agreed = InstructionsConsent::new(
                &server.id,
                &server.launch,
                instructions,
                Timestamp::UNIX_EPOCH,
            );
            if instructions.len() <= BYTES_MAX && self.has_consent(&agreed) {
                // The dialog showed exactly these lines, with hidden characters marked.
                let quoted = |line| format!("> {}", strip_hidden_controls(line));
                let lines: Vec<String> = split_lines(instructions.trim_end()).map(quoted).collect();
                let lines = lines.join("\n");
                let whose = server.id.as_str();
                sections.push(format!(
                    "INSTRUCTIONS OF SERVER {whose} (its own words, on how to use its tools):\n{lines}"
                ));
            }
        }
        if sections.is_empty() {
            return text;
        }
        let own_text = text.trim_end_matches('\n');
        let parts: Vec<String> = Some(own_text.to_owned())
            .filter(|own_text| !own_text.is_empty())
            .into_iter()
            .chain(sections)
            .collect();
        parts.join("\n\n").into()
    }

    /// Reports once that approved instructions changed.
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
            let mut old = self
                .stored_trust()
                .instruction_consents
                .iter()
                .chain(&self.instructions_until_exit);
            let was_agreed = old.any(is_same_server);
            if was_agreed && !self.has_consent(&current) {
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

fn instructions_text(server: &Server) -> Option<&str> {
    let instructions = server.instructions.as_deref()?;
    Some(instructions).filter(|instructions| !instructions.trim().is_empty())
}
