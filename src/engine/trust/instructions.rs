//! What a server wants the model to be told: shown to the user, and sent only after the user
//! agreed to this very text.

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

/// A longer text is not sent: it would be most of what the model is told.
const BYTES_MAX: usize = 32 * 1024;

impl TrustState {
    /// Shows the text, and asks.
    pub fn ask_instructions(&mut self, id: &ServerId, servers: &[Server], cx: &mut EngineCx) {
        let server = servers.iter().find(|server| server.id == *id);
        let text = server.and_then(instructions_text);
        let (Some(server), Some(text)) = (server, text) else {
            let id = Clean::name(id.as_str());
            let said = format!("`{id}` has no instructions for the model.");
            return cx.notice(Notice::info(said));
        };
        if text.len() > BYTES_MAX {
            let id = Clean::name(id.as_str());
            let said = format!("The instructions of `{id}` are longer than {BYTES_MAX} bytes.");
            return cx.notice(Notice::warning(said).with_reason("They are not sent."));
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

    /// `text` with the instructions of servers that have tools on offer behind it. Each
    /// line of theirs stands behind a sign: none can pass for ours.
    pub fn with_instructions(
        &self,
        text: Arc<str>,
        offered: &Toolset,
        servers: &[Server],
    ) -> Arc<str> {
        let mut sections = Vec::new();
        for server in servers {
            let offers = |tool: &crate::domain::OfferedTool| tool.server == server.id;
            let Some(words) =
                instructions_text(server).filter(|_| offered.tools().iter().any(offers))
            else {
                continue;
            };
            let agreed =
                InstructionsConsent::new(&server.id, &server.launch, words, Timestamp::UNIX_EPOCH);
            if words.len() <= BYTES_MAX && self.has_consent(&agreed) {
                // The dialog showed these lines, and as signs what is left out of them.
                let quoted = |line| format!("> {}", strip_hidden_controls(line));
                let lines: Vec<String> = split_lines(words.trim_end()).map(quoted).collect();
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
        let own = text.trim_end_matches('\n');
        let own = Some(own).filter(|own| !own.is_empty()).map(str::to_owned);
        let parts: Vec<String> = own.into_iter().chain(sections).collect();
        parts.join("\n\n").into()
    }

    /// Says once that a text is not the one that was agreed to.
    pub fn report_changed_instructions(&mut self, servers: &[Server], cx: &mut EngineCx) {
        for server in servers {
            let Some(words) = instructions_text(server) else {
                continue;
            };
            let now =
                InstructionsConsent::new(&server.id, &server.launch, words, Timestamp::UNIX_EPOCH);
            let is_of =
                |old: &InstructionsConsent| old.server == now.server && old.launch == now.launch;
            let mut old = self
                .stored_trust()
                .instruction_consents
                .iter()
                .chain(&self.instructions_until_exit);
            let was_agreed = old.any(is_of);
            if was_agreed && !self.has_consent(&now) {
                let key = (now.server, now.text_hash);
                if self.reported_instructions.insert(key) {
                    let said = {
                        let id = Clean::name(server.id.as_str());
                        format!("The instructions of `{id}` changed.")
                    };
                    cx.notice(
                        Notice::warning(said)
                            .with_reason("They are not sent until you agree again.")
                            .with_advice(Advice::ReviewInstructions),
                    );
                }
            }
        }
    }
}

fn instructions_text(server: &Server) -> Option<&str> {
    let words = server.instructions.as_deref()?;
    Some(words).filter(|words| !words.trim().is_empty())
}
