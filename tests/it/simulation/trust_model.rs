//! What the checker knows of decisions that last longer than a call, in the simplest
//! way: a list of what is allowed, a list of what is ruled out, and what is on offer.

use super::world;
use humble::domain::trust::RuleScope;
use humble::domain::{ArgumentPattern, Decision, Pin, ServerId, ToolCall, Toolset};
use humble::engine::approval::Approval;
use std::sync::Arc;

/// A tool of one definition, and what its `path` must be; nothing where any call will do.
type AllowedTool = (ServerId, String, Pin, Option<String>);

pub struct TrustModel {
    allowed: Vec<AllowedTool>,
    never: Vec<(ServerId, String)>,
    pub offered: Arc<Toolset>,
}

impl Default for TrustModel {
    fn default() -> Self {
        Self {
            allowed: Vec::new(),
            never: Vec::new(),
            offered: world::offered(0),
        }
    }
}

fn path_of(pattern: &ArgumentPattern) -> Option<String> {
    let written = pattern.to_json();
    Some(written.get("path")?.as_str()?.to_owned())
}

/// The patterns of the world are one path, or any path of one segment.
fn matches(path: &str, call: &ToolCall) -> bool {
    let called = call.arguments.get("path").and_then(|path| path.as_str());
    call.arguments.len() == 1 && called.is_some_and(|called| path == "*" || path == called)
}

impl TrustModel {
    /// The person decided about a call of a tool that was shown as `pin`. Does it run?
    pub fn apply_decision(&mut self, call: &ToolCall, pin: &Pin, decision: &Decision) -> bool {
        let it = (call.server.clone(), call.tool.clone());
        let allowed = |path| (it.0.clone(), it.1.clone(), pin.clone(), path);
        match decision {
            Decision::Run | Decision::Edit { .. } => {}
            Decision::RunForSession => self.allowed.push(allowed(None)),
            Decision::RunAlways => self.allow(allowed(None)),
            Decision::RunWholeServer => {
                let tools = self.offered.tools().iter();
                let its = tools.filter(|tool| tool.server == call.server);
                let its = its.map(|it| {
                    let name = it.tool.name.clone();
                    (it.server.clone(), name, it.tool.pin.clone(), None)
                });
                let its: Vec<AllowedTool> = its.collect();
                self.allowed.extend(its);
                self.allowed.push(allowed(None));
            }
            Decision::RunMatching { pattern } => match path_of(pattern) {
                Some(path) if matches(&path, call) => self.allow(allowed(Some(path))),
                _ => return false,
            },
            Decision::Never => {
                self.never.push(it);
                return false;
            }
            _ => return false,
        }
        true
    }

    /// What is allowed later than it was ruled out is not ruled out any more.
    fn allow(&mut self, it: AllowedTool) {
        self.never
            .retain(|(server, tool)| (server, tool) != (&it.0, &it.1));
        self.allowed.push(it);
    }

    /// All of it is replaced by what is remembered now.
    pub fn apply_approval(&mut self, approval: &Approval) {
        self.allowed.clear();
        self.never.clear();
        for grant in approval.session_grants() {
            let (tool, pin) = (grant.tool.clone(), grant.pin.clone());
            self.allowed.push((grant.server.clone(), tool, pin, None));
        }
        for rule in &approval.trust.rules {
            let server = rule.server.clone();
            match rule.scope.clone() {
                RuleScope::Never { tool, .. } => self.never.push((server, tool)),
                RuleScope::Tool { tool, pin } => self.allowed.push((server, tool, pin, None)),
                RuleScope::Matching { tool, pin, pattern } => {
                    let path = path_of(&pattern);
                    self.allowed.push((server, tool, pin, path));
                }
                RuleScope::Server { tools } => {
                    let its = tools.into_iter();
                    let its = its.map(|(tool, pin)| (server.clone(), tool, pin, None));
                    self.allowed.extend(its);
                }
            }
        }
    }

    pub fn is_never(&self, server: &ServerId, tool: &str) -> bool {
        let mut never = self.never.iter();
        never.any(|(of, name)| of == server && name == tool)
    }

    pub fn is_offered(&self, server: &ServerId, tool: &str) -> bool {
        self.offered.get(server, tool).is_some()
    }

    /// Was this call allowed by an earlier decision?
    pub fn grants(&self, call: &ToolCall) -> bool {
        let Some(offered) = self.offered.get(&call.server, &call.tool) else {
            return false;
        };
        self.allowed.iter().any(|(server, tool, pin, path)| {
            let is_it = *server == call.server && *tool == call.tool;
            let path = path.as_ref().is_none_or(|path| matches(path, call));
            is_it && *pin == offered.tool.pin && path
        })
    }
}
