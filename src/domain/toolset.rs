//! The tools on offer in one request, and the one place where a name that a
//! model wrote is resolved to a tool.

mod index;

use super::{LaunchId, Notice, Persona, Server, ServerId, Tool};
use crate::domain::Advice;
use index::ToolNameIndex;
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::sync::Arc;

/// The longest native name that all providers take.
const NATIVE_NAME_BYTES_MAX: usize = 64;

#[derive(Debug, Clone, PartialEq)]
pub struct OfferedTool {
    pub server: ServerId,
    pub launch: LaunchId,
    /// Shared: every call of the tool refers to its definition.
    pub tool: Arc<Tool>,
    /// `server__tool`, in characters that providers allow, unique (MCP.md).
    pub native_name: String,
}

/// Servers in file order, tools in the server's order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Toolset {
    tools: Vec<OfferedTool>,
    /// Tools that are not on offer because they changed (S7.5).
    withheld: Vec<(ServerId, String)>,
    index: ToolNameIndex,
}

/// What a written name stands for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ToolLookup<'a> {
    Tool(&'a OfferedTool),
    /// Several servers have a tool of this name and none was named.
    Ambiguous,
    Unknown,
}

/// Why a withheld tool cannot be called, behind its name.
const WITHHELD_REASON: &str = "` changed, and is withheld until the user accepts what it is now";

/// What the model is told of such a tool.
pub fn withheld_reason(name: &str) -> String {
    format!("`{name}{WITHHELD_REASON}")
}

/// What the person is told when the model calls such a tool.
pub fn withheld_call_notice(name: &str) -> Notice {
    let said = format!("`{name}` changed since it was accepted: the call was not run.");
    Notice::warning(said).with_advice(Advice::ReviewTrust)
}

impl Toolset {
    /// The tool that is withheld, where that is `why` a call cannot be used.
    pub fn withheld_tool_named_in(&self, why: &str) -> Option<&str> {
        let mut names = self.withheld.iter().map(|(_, name)| name.as_str());
        let told = why.strip_prefix('`')?.strip_suffix(WITHHELD_REASON)?;
        names.find(|name| *name == told)
    }

    pub fn from_servers<'a>(servers: impl IntoIterator<Item = &'a Server>) -> Self {
        let mut used_names = HashSet::new();
        let (mut tools, mut withheld) = (Vec::new(), Vec::new());
        for server in servers {
            let names = server
                .withheld_tools
                .iter()
                .filter(|name| server.enabled && !server.disabled_tools.contains(*name));
            withheld.extend(names.map(|name| (server.id.clone(), name.clone())));
            for tool in server.offered_tools() {
                tools.push(OfferedTool {
                    server: server.id.clone(),
                    launch: server.launch.clone(),
                    tool: Arc::new(tool.clone()),
                    native_name: native_name(server.id.as_str(), &tool.name, &mut used_names),
                });
            }
        }
        Self::new(tools, withheld)
    }

    fn new(tools: Vec<OfferedTool>, withheld: Vec<(ServerId, String)>) -> Self {
        let index = ToolNameIndex::from_tools(&tools);
        Self {
            tools,
            withheld,
            index,
        }
    }

    /// What of it a persona lets the model have; their names stay as they are.
    pub fn for_persona(&self, persona: &Persona) -> Self {
        self.filtered(|tool| persona.allows_tool(tool))
    }

    /// Of the tools, those that `keeps` says.
    fn filtered(&self, mut keeps: impl FnMut(&OfferedTool) -> bool) -> Self {
        let tools = self.tools.iter().filter(|tool| keeps(tool));
        Self::new(tools.cloned().collect(), self.withheld.clone())
    }

    /// Of tools that share a name, the first alone; None where no name is shared. A bare
    /// name means something in it.
    pub fn without_duplicate_names(&self) -> Option<Self> {
        let mut taken = HashSet::new();
        let offered = self.filtered(|tool| taken.insert(tool.tool.name.clone()));
        (offered.tools.len() < self.tools.len()).then_some(offered)
    }

    pub fn tools(&self) -> &[OfferedTool] {
        &self.tools
    }

    /// Does a name that is not on offer stand for a tool that is withheld?
    pub fn is_withheld(&self, server: Option<&str>, name: &str) -> bool {
        let server = server.filter(|server| !server.is_empty());
        let named = strip_decoration(name);
        self.withheld.iter().any(|(of, tool)| {
            let is_of = server.is_none_or(|server| server == of.as_str());
            let of_it = || name.strip_prefix(of.as_str())?.strip_prefix("__");
            is_of && (tool == name || tool == named || of_it() == Some(tool))
        })
    }

    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// The tool of exactly this server and name.
    pub fn get(&self, server: &ServerId, tool: &str) -> Option<&OfferedTool> {
        self.tools_named(tool)
            .find(|offered| offered.server == *server)
    }

    /// Whether some tool has exactly this name.
    pub fn has_tool_named(&self, name: &str) -> bool {
        !self.index.positions_named(name).is_empty()
    }

    fn tools_named(&self, name: &str) -> impl Iterator<Item = &OfferedTool> {
        self.index
            .positions_named(name)
            .iter()
            .map(|&at| &self.tools[at])
    }

    /// Whether a name that begins with `part`, with or without its server, may be a
    /// tool's; also whether a tool's name begins `part`.
    pub fn may_be_name_prefix(&self, part: &str) -> bool {
        self.index.may_be_name_prefix(part)
    }

    /// Resolves a name as a model wrote it: with or without a server, native,
    /// namespaced (`functions.f`, `s__f`, `s.f`) or numbered (`f:0`). The exact
    /// spelling wins over any reading.
    pub fn resolve(&self, server: Option<&str>, name: &str) -> ToolLookup<'_> {
        if let Some(server) = server.filter(|server| !server.is_empty()) {
            if let Some(tool) = self.get(&ServerId::new(server), name) {
                return ToolLookup::Tool(tool);
            }
            // A server that is not there must not be replaced by another that
            // has a tool of this name: the person would approve the wrong one.
            if self.index.servers().iter().all(|id| id.as_str() != server) {
                return ToolLookup::Unknown;
            }
        }
        let stripped = strip_decoration(name);
        for candidate in [name, stripped] {
            match self.resolve_unique(server, candidate) {
                ToolLookup::Unknown => {}
                found => return found,
            }
        }
        ToolLookup::Unknown
    }

    fn resolve_unique(&self, server: Option<&str>, name: &str) -> ToolLookup<'_> {
        let of_server = |tool: &&OfferedTool| {
            server.is_none_or(|server| server.is_empty() || tool.server.as_str() == server)
        };
        let native = self
            .index
            .position_of_native_name(name)
            .map(|at| &self.tools[at]);
        if let Some(tool) = native.filter(of_server) {
            return ToolLookup::Tool(tool);
        }
        match exactly_one(self.tools_named(name).filter(of_server)) {
            ToolLookup::Unknown => {}
            found => return found,
        }
        // `a.b.c` may be tool `b.c` of server `a` or tool `c` of server `a.b`.
        let namespaced = self.index.servers().iter().filter_map(|id| {
            let rest = name.strip_prefix(id.as_str())?;
            let rest = rest.strip_prefix("__").or_else(|| rest.strip_prefix('.'))?;
            Some(
                self.tools_named(rest)
                    .filter(move |tool| tool.server == *id),
            )
        });
        exactly_one(namespaced.flatten().filter(of_server))
    }
}

fn exactly_one<'a>(mut tools: impl Iterator<Item = &'a OfferedTool>) -> ToolLookup<'a> {
    match (tools.next(), tools.next()) {
        (None, _) => ToolLookup::Unknown,
        (Some(tool), None) => ToolLookup::Tool(tool),
        (Some(_), Some(_)) => ToolLookup::Ambiguous,
    }
}

/// `functions.f:0` is `f`.
fn strip_decoration(name: &str) -> &str {
    let name = name.strip_prefix("functions.").unwrap_or(name);
    match name.rsplit_once(':') {
        Some((head, digits))
            if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) =>
        {
            head
        }
        _ => name,
    }
}

fn native_name(server: &str, tool: &str, taken: &mut HashSet<String>) -> String {
    let plain = format!("{server}__{tool}");
    let name: String = plain
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '_' || c == '-' {
                c
            } else {
                '_'
            }
        })
        .collect();
    // A changed, overlong or taken name gets a suffix of its own hash, so that
    // it is the same in every request. The hash is of the parts, since two ways
    // of splitting `a__b__c` are two tools; a clash all the same is counted out.
    if name == plain && name.len() <= NATIVE_NAME_BYTES_MAX && taken.insert(name.clone()) {
        return name;
    }
    (0_u64..)
        .map(|attempt| {
            let digest = Sha256::digest(format!("{server}\n{tool}\n{attempt}"));
            let suffix: String = digest[..4]
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect();
            let start = name.len().min(NATIVE_NAME_BYTES_MAX - suffix.len() - 1);
            format!("{}_{suffix}", &name[..start])
        })
        .find(|suffixed| taken.insert(suffixed.clone()))
        .expect("among endless suffixes one is free")
}
