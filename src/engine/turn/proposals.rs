//! Turns the requested calls of a reply into proposals: resolves names, has arguments checked
//! (see `check`), merges calls that were written in several forms, and compares each call with
//! untrusted text.

use super::argument_eq::arguments_equal;
use super::parsing_changes::changes_by_parsing;
use super::round::RequestedCall;
use super::{Arguments, CallId, CallOrigin, ProposedCall, ToolCall, ToolState, Turn};
use crate::domain::toolset::{withheld_call_notice, withheld_reason};
use crate::domain::{
    ArgumentCheck, Dialect, OfferedTool, QuotedPassage, SchemaCheck, ServerId, ToolLookup,
};
use crate::text::json_changes::JsonChange;
use std::sync::Arc;

/// A requested call of this round, ready for a decision.
#[derive(Debug, Clone)]
pub(super) struct Proposal {
    pub(super) raw: String,
    /// The spans of the call in the reply, one for each form.
    pub(super) spans: Vec<usize>,
    pub(super) wire_id: String,
    pub(super) kind: ProposalKind,
}

#[derive(Debug, Clone)]
pub(super) enum ProposalKind {
    Call {
        id: CallId,
        tool: Box<OfferedTool>,
    },
    /// A call that cannot be used, with the reason. If it is native, its error is sent as the
    /// result of the call.
    Unusable {
        native_name: Option<String>,
        arguments: Arguments,
        why: String,
    },
}

/// A usable call that is not proposed yet.
#[derive(Debug)]
pub(super) struct UsableCall {
    call: ProposedCall,
    tool: OfferedTool,
    arguments: Arguments,
    is_unchecked: bool,
    /// The differences from the arguments as written.
    repairs: Vec<JsonChange>,
    spans: Vec<usize>,
    /// Other forms of the same call, and their raw text.
    other_forms: Vec<(&'static str, String)>,
}

/// A requested call that is not a proposal yet.
#[derive(Debug)]
pub(super) enum CallCandidate {
    Usable(Box<UsableCall>),
    Unusable {
        call: ProposedCall,
        span: usize,
        why: String,
    },
    Unreadable {
        raw: String,
        span: usize,
        why: String,
    },
}

impl CallCandidate {
    pub(super) fn argument_check(&self) -> Option<ArgumentCheck> {
        match self {
            Self::Usable(usable) => Some(ArgumentCheck {
                tool: Arc::clone(&usable.tool.tool),
                arguments: usable.arguments.clone(),
                may_repair: true,
            }),
            Self::Unusable { .. } | Self::Unreadable { .. } => None,
        }
    }

    pub(super) fn with_check_result(self, result: impl FnOnce() -> SchemaCheck) -> Self {
        let Self::Usable(mut usable) = self else {
            return self;
        };
        match result() {
            SchemaCheck::Valid => Self::Usable(usable),
            SchemaCheck::Repaired { arguments, changes } => {
                usable.arguments = arguments.with_digits_of(&usable.call.raw);
                usable.repairs = changes;
                if let CallOrigin::Text { repaired, .. } = &mut usable.call.origin {
                    *repaired = true;
                }
                Self::Usable(usable)
            }
            SchemaCheck::Unchecked => {
                usable.is_unchecked = true;
                Self::Usable(usable)
            }
            SchemaCheck::Invalid(problem) => {
                let name = &usable.call.name;
                let why = format!("the arguments of `{name}` do not fit its schema: {problem}");
                let span = usable.spans.first().copied().unwrap_or_default();
                Self::Unusable {
                    call: usable.call,
                    span,
                    why,
                }
            }
        }
    }
}

/// Maximum number of offered names in an error message.
const NAMES_LISTED_MAX: usize = 30;
/// Maximum number of calls that are searched for a duplicate.
const DUPLICATE_SEARCH_MAX: usize = 256;

impl Turn {
    pub(super) fn propose_calls(&mut self) {
        if self.ask_for_server() {
            return;
        }
        let requested = std::mem::take(&mut self.round.requested_calls);
        let candidates = requested
            .into_iter()
            .map(|requested| self.to_candidate(requested))
            .collect();
        self.check_proposed(candidates);
    }

    pub(super) fn propose_checked(&mut self, candidates: Vec<CallCandidate>) {
        let candidates = merge_duplicate_calls(candidates);
        self.proposals = candidates
            .into_iter()
            .map(|candidate| self.propose(candidate))
            .collect();
        self.tool_rounds += 1;
        self.check_failed_call_limit();
    }

    fn to_candidate(&self, requested: RequestedCall) -> CallCandidate {
        match requested {
            RequestedCall::Unusable { raw, span, why } => {
                CallCandidate::Unreadable { raw, span, why }
            }
            RequestedCall::Call { call, span } => match self.resolve_call(&call) {
                Ok((tool, arguments)) => CallCandidate::Usable(Box::new(UsableCall {
                    call,
                    tool,
                    arguments,
                    is_unchecked: false,
                    repairs: Vec::new(),
                    spans: vec![span],
                    other_forms: Vec::new(),
                })),
                Err(why) => CallCandidate::Unusable { call, span, why },
            },
        }
    }

    fn propose(&mut self, candidate: CallCandidate) -> Proposal {
        if let CallCandidate::Unusable { why, .. } | CallCandidate::Unreadable { why, .. } =
            &candidate
            && let Some(name) = self.setup.toolset.withheld_tool_named_in(why)
        {
            self.note(withheld_call_notice(name));
        }
        match candidate {
            CallCandidate::Usable(usable) => self.propose_call(*usable),
            CallCandidate::Unusable { call, span, why } => {
                let id = CallId(self.ids.calls.next_id());
                Proposal {
                    wire_id: self.unique_wire_id(id, &call),
                    raw: call.raw,
                    spans: vec![span],
                    kind: ProposalKind::Unusable {
                        native_name: (call.origin == CallOrigin::Native).then_some(call.name),
                        arguments: call.arguments.unwrap_or_default(),
                        why,
                    },
                }
            }
            CallCandidate::Unreadable { raw, span, why } => Proposal {
                raw,
                spans: vec![span],
                wire_id: String::new(),
                kind: ProposalKind::Unusable {
                    native_name: None,
                    arguments: Arguments::default(),
                    why,
                },
            },
        }
    }

    fn propose_call(&mut self, usable: UsableCall) -> Proposal {
        let id = CallId(self.ids.calls.next_id());
        let wire_id = self.unique_wire_id(id, &usable.call);
        let UsableCall {
            call: proposed,
            tool,
            arguments,
            is_unchecked,
            repairs,
            spans,
            other_forms,
        } = usable;
        let written = proposed.arguments.unwrap_or_else(|_| arguments.clone());
        let written = written.with_digits_of(&proposed.raw);
        let mut json_changes = changes_by_parsing(&proposed.raw, &written);
        json_changes.extend(repairs);
        let mut call = ToolCall {
            id,
            server: tool.server.clone(),
            tool: tool.tool.name.clone(),
            arguments: written,
            original: None,
            origin: proposed.origin,
            repeats: None,
            quoted: None,
            quoted_passage: Arc::default(),
            is_unchecked,
            json_changes: json_changes.into(),
            permission: None,
            saved_files: Box::default(),
            user_text: Box::default(),
            task: None,
            merged_forms: other_forms.iter().map(|(form, _)| *form).collect(),
            state: ToolState::Proposed,
        };
        let guard = &self.setup.guard;
        let find = |arguments: &Arguments| guard.find(&tool, arguments);
        // Search for the call as the model wrote it, and as it will run.
        let mut passage = find(&call.arguments);
        if call.arguments != arguments {
            call.arguments = arguments;
            passage = passage.or_else(|| find(&call.arguments));
        }
        if let Some(QuotedPassage { source, text }) = passage {
            (call.quoted, call.quoted_passage) = (Some(source), text);
        }
        self.calls.insert(id, call);
        Proposal {
            raw: proposed.raw,
            spans,
            wire_id,
            kind: ProposalKind::Call {
                id,
                tool: Box::new(tool),
            },
        }
    }

    /// The provider's id of the call, or one of ours if it is missing or was used before. Servers
    /// refuse duplicate ids, but some models reuse them in each round, and some use ids like ours.
    fn unique_wire_id(&mut self, id: CallId, call: &ProposedCall) -> String {
        let given = call.wire_id.clone().filter(|wire_id| !wire_id.is_empty());
        let numbered = (2..).map(|number| format!("call_{id}_{number}"));
        let own = std::iter::once(format!("call_{id}")).chain(numbered);
        let mut candidates = given.into_iter().chain(own);
        let unused = candidates.find(|wire_id| self.wire_ids.insert(wire_id.clone()));
        unused.unwrap_or_default()
    }

    /// Finds the tool of a call, and the arguments to run it with. The error is the reason why the
    /// call cannot be used.
    fn resolve_call(&self, call: &ProposedCall) -> Result<(OfferedTool, Arguments), String> {
        let name = &call.name;
        if call.is_truncated {
            return Err(format!(
                "the token limit cut off the call to `{name}` before it was complete"
            ));
        }
        let tool = match self.setup.toolset.resolve(self.server_of(call), name) {
            ToolLookup::Tool(tool) => tool,
            ToolLookup::Ambiguous(_) => {
                let servers = self.setup.toolset.servers_of(name);
                let servers = servers.iter().take(NAMES_LISTED_MAX).map(ServerId::as_str);
                let servers = servers.collect::<Vec<_>>().join(", ");
                return Err(format!(
                    "several servers have a tool `{name}`: name one of {servers}"
                ));
            }
            ToolLookup::Unknown if self.setup.toolset.is_withheld(call.server.as_deref(), name) => {
                return Err(withheld_reason(name));
            }
            ToolLookup::Unknown => {
                return Err(format!(
                    "there is no tool `{name}`; available: {}",
                    self.offered_tool_names()
                ));
            }
        };
        let arguments = call
            .arguments
            .clone()
            .map_err(|_| format!("the arguments of `{name}` are not a JSON object"))?;
        Ok((tool.clone(), arguments.with_digits_of(&call.raw)))
    }

    fn offered_tool_names(&self) -> String {
        let tools = self.setup.offered.tools();
        let mut names: Vec<&str> = tools
            .iter()
            .take(NAMES_LISTED_MAX)
            .map(|tool| match self.setup.dialect {
                Dialect::Native => tool.native_name.as_str(),
                Dialect::Prompt | Dialect::Xml => tool.tool.name.as_str(),
            })
            .collect();
        if tools.len() > NAMES_LISTED_MAX {
            names.push("…");
        }
        if names.is_empty() {
            "nothing".to_owned()
        } else {
            names.join(", ")
        }
    }
}

/// Merges calls that the model wrote in several forms. The native form is kept, or else the first
/// one. Two identical calls in the same form stay separate.
fn merge_duplicate_calls(candidates: Vec<CallCandidate>) -> Vec<CallCandidate> {
    let mut kept: Vec<CallCandidate> = Vec::with_capacity(candidates.len());
    // Native calls are handled first, so that other forms are merged into them.
    let is_native = |candidate: &CallCandidate| match candidate {
        CallCandidate::Usable(usable) => usable.call.origin == CallOrigin::Native,
        _ => false,
    };
    let mut order: Vec<(usize, CallCandidate)> = candidates.into_iter().enumerate().collect();
    order.sort_by_key(|(_, candidate)| !is_native(candidate));
    let mut indices = Vec::with_capacity(order.len());
    for (index, candidate) in order {
        let candidate = match candidate {
            CallCandidate::Usable(usable) => match find_duplicate(&mut kept, &usable) {
                Some(first) => {
                    let UsableCall { call, spans, .. } = *usable;
                    first.spans.extend(spans);
                    first.other_forms.push((call.origin.form(), call.raw));
                    continue;
                }
                None => CallCandidate::Usable(usable),
            },
            other => other,
        };
        kept.push(candidate);
        indices.push(index);
    }
    let mut kept: Vec<(usize, CallCandidate)> = indices.into_iter().zip(kept).collect();
    kept.sort_by_key(|(index, _)| *index);
    kept.into_iter().map(|(_, candidate)| candidate).collect()
}

/// The first kept call with the same tool and arguments, if it has a different form.
fn find_duplicate<'a>(
    kept: &'a mut [CallCandidate],
    next: &UsableCall,
) -> Option<&'a mut UsableCall> {
    let searched = kept.iter_mut().take(DUPLICATE_SEARCH_MAX);
    let usable = searched.filter_map(|candidate| match candidate {
        CallCandidate::Usable(usable) => Some(usable.as_mut()),
        _ => None,
    });
    let is_same = |kept: &UsableCall| {
        kept.tool.server == next.tool.server
            && kept.tool.tool.name == next.tool.tool.name
            && arguments_equal(&kept.arguments, &next.arguments)
    };
    let mut identical = usable.filter(|kept| is_same(kept));
    identical
        .next()
        .filter(|kept| kept.call.origin.form() != next.call.origin.form())
}
