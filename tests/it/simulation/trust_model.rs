//! The checker's own model of lasting decisions, which allow or block tools, and of the offered
//! tools.

use super::world;
use humble::domain::trust::RuleScope;
use humble::domain::{ArgumentPattern, Decision, Pin, ServerId, ToolCall, Toolset};
use humble::engine::approval::Approval;
use std::sync::Arc;

/// Server, tool and pin of an allowed tool, and the `path` that its calls must have; `None` allows
/// every call.
type AllowedTool = (ServerId, String, Pin, Option<String>);

pub struct TrustModel {
    allowed: Vec<AllowedTool>,
    blocked: Vec<(ServerId, String)>,
    pub offered: Arc<Toolset>,
}

impl Default for TrustModel {
    fn default() -> Self {
        Self {
            allowed: Vec::new(),
            blocked: Vec::new(),
            offered: world::toolset(0),
        }
    }
}

fn path_of(pattern: &ArgumentPattern) -> Option<String> {
    let json = pattern.to_json();
    Some(json.get("path")?.as_str()?.to_owned())
}

/// Whether a simulated pattern matches a call: `path` is one path, or `*` for any path.
fn matches(path: &str, call: &ToolCall) -> bool {
    let called_path = call.arguments.get("path").and_then(|path| path.as_str());
    call.arguments.len() == 1 && called_path.is_some_and(|called| path == "*" || path == called)
}

impl TrustModel {
    /// Applies a decision about a call to a tool that was shown with this pin. Returns whether the
    /// call runs.
    pub fn apply_decision(&mut self, call: &ToolCall, pin: &Pin, decision: &Decision) -> bool {
        let allowed = |path| (call.server.clone(), call.tool.clone(), pin.clone(), path);
        match decision {
            Decision::Run | Decision::Edit { .. } => {}
            Decision::RunForSession => self.allowed.push(allowed(None)),
            Decision::RunAlways => self.allow(allowed(None)),
            Decision::RunWholeServer => {
                let tools: Vec<AllowedTool> = self
                    .offered
                    .tools()
                    .iter()
                    .filter(|tool| tool.server == call.server)
                    .map(|offered| {
                        let name = offered.tool.name.clone();
                        (offered.server.clone(), name, offered.tool.pin.clone(), None)
                    })
                    .collect();
                self.allowed.extend(tools);
                self.allowed.push(allowed(None));
            }
            Decision::RunMatching { pattern } => match path_of(pattern) {
                Some(path) if matches(&path, call) => self.allow(allowed(Some(path))),
                _ => return false,
            },
            Decision::Never => {
                self.blocked.push((call.server.clone(), call.tool.clone()));
                return false;
            }
            _ => return false,
        }
        true
    }

    fn allow(&mut self, allowed_tool: AllowedTool) {
        self.blocked
            .retain(|(server, tool)| (server, tool) != (&allowed_tool.0, &allowed_tool.1));
        self.allowed.push(allowed_tool);
    }

    /// Replaces all decisions with those of `approval`.
    pub fn apply_approval(&mut self, approval: &Approval) {
        self.allowed.clear();
        self.blocked.clear();
        for grant in approval.session_grants() {
            let (tool, pin) = (grant.tool.clone(), grant.pin.clone());
            self.allowed.push((grant.server.clone(), tool, pin, None));
        }
        for rule in &approval.trust.rules {
            let server = rule.server.clone();
            match rule.scope.clone() {
                RuleScope::Never { tool, .. } => self.blocked.push((server, tool)),
                RuleScope::Tool { tool, pin } => self.allowed.push((server, tool, pin, None)),
                RuleScope::Matching { tool, pin, pattern } => {
                    let path = path_of(&pattern);
                    self.allowed.push((server, tool, pin, path));
                }
                RuleScope::Server { tools } => {
                    let tools = tools
                        .into_iter()
                        .map(|(tool, pin)| (server.clone(), tool, pin, None));
                    self.allowed.extend(tools);
                }
            }
        }
    }

    pub fn is_blocked(&self, server: &ServerId, tool: &str) -> bool {
        let mut blocked = self.blocked.iter();
        blocked.any(|(owner, name)| owner == server && name == tool)
    }

    pub fn is_offered(&self, server: &ServerId, tool: &str) -> bool {
        self.offered.get(server, tool).is_some()
    }

    /// Whether an earlier decision allows this call.
    pub fn grants(&self, call: &ToolCall) -> bool {
        let Some(offered) = self.offered.get(&call.server, &call.tool) else {
            return false;
        };
        self.allowed.iter().any(|(server, tool, pin, path)| {
            let is_same_tool = *server == call.server && *tool == call.tool;
            let path_matches = path.as_ref().is_none_or(|path| matches(path, call));
            is_same_tool && *pin == offered.tool.pin && path_matches
        })
    }
}
