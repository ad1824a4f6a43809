//! From what a reply asked for to the calls of its round: names are resolved,
//! arguments checked (see `check`), several forms of one call made one, and each call compared with
//! what was said from outside.

use super::argument_eq::same_json;
use super::round::Asked;
use super::{Arguments, CallId, CallOrigin, ProposedCall, ToolCall, ToolState, Turn};
use crate::domain::toolset::{withheld, withheld_called};
use crate::domain::{ArgumentCheck, Dialect, OfferedTool, Resolved, SchemaCheck};
use std::sync::Arc;

/// One thing that the model asked for in this round.
#[derive(Debug, Clone)]
pub(super) struct Proposal {
    pub(super) raw: String,
    /// Where it stood in the reply, in each form in which it came.
    pub(super) places: Vec<usize>,
    pub(super) wire_id: String,
    pub(super) body: Proposed,
}

#[derive(Debug, Clone)]
pub(super) enum Proposed {
    Call {
        id: CallId,
        offered: Box<OfferedTool>,
    },
    /// Cannot be used, for this reason. A native one must be answered by its id.
    Unusable {
        native_name: Option<String>,
        arguments: Arguments,
        why: String,
    },
}

/// A call that can be used, before it is proposed.
#[derive(Debug)]
pub(super) struct Usable {
    call: ProposedCall,
    offered: OfferedTool,
    arguments: Arguments,
    is_unchecked: bool,
    places: Vec<usize>,
    /// The same in other forms, and the words of those.
    also: Vec<(&'static str, String)>,
}

/// What the model asked for, on its way to a proposal.
#[derive(Debug)]
pub(super) enum Candidate {
    Usable(Box<Usable>),
    Not {
        call: ProposedCall,
        place: usize,
        why: String,
    },
    Unreadable {
        raw: String,
        place: usize,
        why: String,
    },
}

impl Candidate {
    /// The check of its arguments, where it got that far.
    pub(super) fn check(&self) -> Option<ArgumentCheck> {
        match self {
            Self::Usable(usable) => Some(ArgumentCheck {
                tool: Arc::clone(&usable.offered.tool),
                arguments: usable.arguments.clone(),
            }),
            Self::Not { .. } | Self::Unreadable { .. } => None,
        }
    }

    /// The candidate after its check; `result` is asked for only where there was one.
    pub(super) fn checked(self, result: impl FnOnce() -> SchemaCheck) -> Self {
        let Self::Usable(mut usable) = self else {
            return self;
        };
        match result() {
            SchemaCheck::Valid => Self::Usable(usable),
            SchemaCheck::Unchecked => {
                usable.is_unchecked = true;
                Self::Usable(usable)
            }
            SchemaCheck::Invalid(fault) => {
                let name = &usable.call.name;
                let why = format!("the arguments of `{name}` do not fit its schema: {fault}");
                let place = usable.places.first().copied().unwrap_or_default();
                Self::Not {
                    call: usable.call,
                    place,
                    why,
                }
            }
        }
    }
}

/// Names on offer that an error message lists at most.
const NAMES_LISTED_MAX: usize = 30;
/// Calls of one message among which other forms of one are looked for.
const COLLAPSED_MAX: usize = 256;

impl Turn {
    /// The reply asked for tools: resolve names, and have the arguments checked.
    pub(super) fn propose(&mut self) {
        let asked = std::mem::take(&mut self.round.asked);
        let candidates = asked.into_iter().map(|asked| self.candidate(asked));
        let candidates = candidates.collect();
        self.check_proposed(candidates);
    }

    /// The arguments were checked: propose the calls, and go on to what has to be asked
    /// first.
    pub(super) fn propose_checked(&mut self, candidates: Vec<Candidate>) {
        let candidates = collapse(candidates);
        self.proposals = candidates
            .into_iter()
            .map(|candidate| self.proposal(candidate))
            .collect();
        self.tool_rounds += 1;
        self.check_errors();
    }

    fn candidate(&self, asked: Asked) -> Candidate {
        match asked {
            Asked::Unusable { raw, place, why } => Candidate::Unreadable { raw, place, why },
            Asked::Call { call, place } => match self.usable(&call) {
                Ok((offered, arguments)) => Candidate::Usable(Box::new(Usable {
                    call,
                    offered,
                    arguments,
                    is_unchecked: false,
                    places: vec![place],
                    also: Vec::new(),
                })),
                Err(why) => Candidate::Not { call, place, why },
            },
        }
    }

    fn proposal(&mut self, candidate: Candidate) -> Proposal {
        if let Candidate::Not { why, .. } | Candidate::Unreadable { why, .. } = &candidate
            && let Some(name) = self.setup.offered.withheld_by(why)
        {
            self.note(withheld_called(name));
        }
        match candidate {
            Candidate::Usable(usable) => self.propose_call(*usable),
            Candidate::Not { call, place, why } => {
                let id = CallId(self.ids.calls.mint());
                Proposal {
                    wire_id: self.wire_id(id, &call),
                    raw: call.raw,
                    places: vec![place],
                    body: Proposed::Unusable {
                        native_name: (call.origin == CallOrigin::Native).then_some(call.name),
                        arguments: call.arguments.unwrap_or_default(),
                        why,
                    },
                }
            }
            Candidate::Unreadable { raw, place, why } => Proposal {
                raw,
                places: vec![place],
                wire_id: String::new(),
                body: Proposed::Unusable {
                    native_name: None,
                    arguments: Arguments::default(),
                    why,
                },
            },
        }
    }

    fn propose_call(&mut self, usable: Usable) -> Proposal {
        let id = CallId(self.ids.calls.mint());
        let wire_id = self.wire_id(id, &usable.call);
        let Usable {
            call: written,
            offered,
            arguments,
            is_unchecked,
            places,
            also,
        } = usable;
        let mut call = ToolCall {
            id,
            server: offered.server.clone(),
            tool: offered.tool.name.clone(),
            arguments,
            original: None,
            origin: written.origin,
            repeats: None,
            quoted: None,
            is_unchecked,
            also_as: also.iter().map(|(form, _)| *form).collect(),
            state: ToolState::Proposed,
        };
        let quotes = &self.setup.quotes;
        let raws = also.iter().map(|(_, raw)| raw);
        call.quoted = raws
            .chain([&written.raw])
            .find_map(|raw| quotes.find(&call, raw));
        self.calls.insert(id, call);
        Proposal {
            raw: written.raw,
            places,
            wire_id,
            body: Proposed::Call {
                id,
                offered: Box::new(offered),
            },
        }
    }

    /// Servers refuse two calls of one id, and some models number each round anew.
    fn wire_id(&mut self, id: CallId, call: &ProposedCall) -> String {
        let given = call.wire_id.clone();
        let given = given.filter(|id| self.wire_ids.insert(id.clone()));
        given.unwrap_or_else(|| format!("call_{id}"))
    }

    fn usable(&self, call: &ProposedCall) -> Result<(OfferedTool, Arguments), String> {
        let name = &call.name;
        if call.cut {
            return Err(format!(
                "the limit of tokens cut the call of `{name}` before it was whole"
            ));
        }
        let offered = match self.setup.offered.resolve(call.server.as_deref(), name) {
            Resolved::Tool(offered) => offered,
            Resolved::Ambiguous => {
                return Err(format!(
                    "several servers have a tool `{name}`: name the server"
                ));
            }
            Resolved::Unknown if self.setup.offered.withholds(call.server.as_deref(), name) => {
                return Err(withheld(name));
            }
            Resolved::Unknown => {
                return Err(format!(
                    "there is no tool `{name}`; on offer: {}",
                    self.names()
                ));
            }
        };
        let arguments = call
            .arguments
            .clone()
            .map_err(|_| format!("the arguments of `{name}` are not a JSON object"))?;
        Ok((offered.clone(), arguments))
    }

    fn names(&self) -> String {
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

/// Several forms of one call in one message are one call: the provider's own field
/// wins, else what came first. Two in the same form are two.
fn collapse(candidates: Vec<Candidate>) -> Vec<Candidate> {
    let mut kept: Vec<Candidate> = Vec::with_capacity(candidates.len());
    // Those in the provider's field first, so that the others find them.
    let is_native = |candidate: &Candidate| match candidate {
        Candidate::Usable(usable) => usable.call.origin == CallOrigin::Native,
        _ => false,
    };
    let mut order: Vec<(usize, Candidate)> = candidates.into_iter().enumerate().collect();
    order.sort_by_key(|(_, candidate)| !is_native(candidate));
    let mut numbers = Vec::with_capacity(order.len());
    for (number, candidate) in order {
        let candidate = match candidate {
            Candidate::Usable(usable) => match same_in_another_form(&mut kept, &usable) {
                Some(first) => {
                    let Usable { call, places, .. } = *usable;
                    first.places.extend(places);
                    first.also.push((call.origin.form(), call.raw));
                    continue;
                }
                None => Candidate::Usable(usable),
            },
            other => other,
        };
        kept.push(candidate);
        numbers.push(number);
    }
    let mut kept: Vec<(usize, Candidate)> = numbers.into_iter().zip(kept).collect();
    kept.sort_by_key(|(number, _)| *number);
    kept.into_iter().map(|(_, candidate)| candidate).collect()
}

fn same_in_another_form<'a>(kept: &'a mut [Candidate], next: &Usable) -> Option<&'a mut Usable> {
    let kept = kept.iter_mut().take(COLLAPSED_MAX);
    let first = kept.filter_map(|kept| match kept {
        Candidate::Usable(kept) => Some(kept.as_mut()),
        _ => None,
    });
    let is_same = |kept: &Usable| {
        kept.offered.server == next.offered.server
            && kept.offered.tool.name == next.offered.tool.name
            && same_json(&kept.arguments, &next.arguments)
    };
    let mut same = first.filter(|kept| is_same(kept));
    same.next()
        .filter(|kept| kept.call.origin.form() != next.call.origin.form())
}
