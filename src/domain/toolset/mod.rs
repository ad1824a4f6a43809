//! The tools offered in one request, and the only code that resolves a name written by a
//! model to a tool.

mod index;

use super::server::BUILT_IN_SERVER;
use super::{LaunchId, Notice, Persona, Pin, Server, ServerId, Tool, ToolAnnotations};
use crate::domain::Advice;
use index::ToolNameIndex;
use serde_json::Map;
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::sync::Arc;

/// The longest native name that all providers accept.
const NATIVE_NAME_BYTES_MAX: usize = 64;

#[derive(Debug, Clone, PartialEq)]
pub struct OfferedTool {
    pub server: ServerId,
    pub launch: LaunchId,
    /// Shared by all calls of the tool.
    pub tool: Arc<Tool>,
    /// `server__tool`, unique, in characters that all providers allow.
    pub native_name: String,
}

/// The launch identity of `find_tools`. Those of servers are hashes.
const TOOL_SEARCH_LAUNCH: &str = "tool-search";
/// The launch identity of tools that a server offers with a sampling request.
const SAMPLING_LAUNCH: &str = "sampling";

impl OfferedTool {
    pub const TOOL_SEARCH_NAME: &str = "find_tools";

    /// The tool with which the model finds tools that are left out of requests to save context. It
    /// belongs to the built-in server, but the engine answers its calls.
    pub fn tool_search(definition: Tool) -> Self {
        let server = Self::tool_search_server();
        Self {
            native_name: format!("{server}__{}", definition.name),
            launch: LaunchId::from_hash(TOOL_SEARCH_LAUNCH),
            tool: Arc::new(definition),
            server,
        }
    }

    /// A tool of an earlier run that is not offered now. It cannot be called; it only names the tool
    /// of a finished or running call.
    pub fn of_earlier_run(server: ServerId, launch: LaunchId, tool: &str, pin: Pin) -> Self {
        Self {
            native_name: native_name(server.as_str(), tool, &mut HashSet::new()),
            tool: Arc::new(Tool {
                name: tool.to_owned(),
                title: None,
                description: None,
                input_schema: Map::new(),
                annotations: ToolAnnotations::default(),
                extra: Map::new(),
                pin,
                bytes: 0,
            }),
            launch,
            server,
        }
    }

    /// The built-in server, under whose name the model sees the tool.
    pub fn tool_search_server() -> ServerId {
        ServerId::new(BUILT_IN_SERVER)
    }

    pub fn is_tool_search(&self) -> bool {
        self.launch.as_str() == TOOL_SEARCH_LAUNCH
    }
}

/// Tools offered to a model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Toolset {
    tools: Vec<OfferedTool>,
    /// Tools not offered because their definition changed.
    withheld: Vec<(ServerId, String)>,
    index: ToolNameIndex,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ToolLookup<'a> {
    Tool(&'a OfferedTool),
    /// Several servers have a tool of this name, and the call names no server. One of the tools.
    Ambiguous(&'a OfferedTool),
    Unknown,
}

/// Follows a withheld tool's name in the reason given to the model.
const WITHHELD_REASON: &str = "` changed and is withheld until the user accepts the new definition";

/// The reason why a withheld tool cannot be called, for the model.
pub fn withheld_reason(name: &str) -> String {
    format!("`{name}{WITHHELD_REASON}")
}

/// The notice for the user when the model calls a withheld tool.
pub fn withheld_call_notice(name: &str) -> Notice {
    let message =
        format!("`{name}` changed since it was first seen or accepted, so the call was not run.");
    Notice::warning(message).with_advice(Advice::ReviewTrust)
}

impl Toolset {
    /// The withheld tool for which [`withheld_reason`] produced `why`, if any.
    pub fn withheld_tool_named_in(&self, why: &str) -> Option<&str> {
        let mut withheld_names = self.withheld.iter().map(|(_, name)| name.as_str());
        let name_in_reason = why.strip_prefix('`')?.strip_suffix(WITHHELD_REASON)?;
        withheld_names.find(|name| *name == name_in_reason)
    }

    /// The available tools, by server in the given order, then in the server's order.
    pub fn from_servers<'a>(servers: impl IntoIterator<Item = &'a Server>) -> Self {
        let mut used_names = HashSet::new();
        let (mut tools, mut withheld) = (Vec::new(), Vec::new());
        for server in servers {
            let withheld_names = server
                .withheld_tools
                .iter()
                .filter(|name| server.enabled && !server.disabled_tools.contains(*name));
            withheld.extend(withheld_names.map(|name| (server.id.clone(), name.clone())));
            for tool in server.available_tools() {
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

    /// Tools of one server that are offered outside a conversation, under their own names. Their launch
    /// identity is a placeholder, because nothing here calls them.
    pub fn of_sampling(server: &ServerId, tools: &[Arc<Tool>]) -> Self {
        let mut used_names = HashSet::new();
        let tools = tools.iter().map(|tool| OfferedTool {
            server: server.clone(),
            launch: LaunchId::from_hash(SAMPLING_LAUNCH),
            tool: Arc::clone(tool),
            native_name: unique_name(&tool.name, server.as_str(), &tool.name, &mut used_names),
        });
        Self::new(tools.collect(), Vec::new())
    }

    fn new(tools: Vec<OfferedTool>, withheld: Vec<(ServerId, String)>) -> Self {
        let index = ToolNameIndex::from_tools(&tools);
        Self {
            tools,
            withheld,
            index,
        }
    }

    /// The tools that a persona allows. Their native names stay the same.
    pub fn for_persona(&self, persona: &Persona) -> Self {
        self.filtered(|tool| persona.allows_tool(tool))
    }

    fn filtered(&self, mut keep: impl FnMut(&OfferedTool) -> bool) -> Self {
        let tools = self.tools.iter().filter(|tool| keep(tool));
        Self::new(tools.cloned().collect(), self.withheld.clone())
    }

    /// The tools named by `order`, by server and name, in that order. Their native names stay the
    /// same. Names without a tool are skipped.
    pub fn in_order(&self, order: &[(ServerId, String)]) -> Self {
        let tools = order.iter();
        let tools = tools.filter_map(|(server, name)| self.get(server, name).cloned());
        Self::new(tools.collect(), self.withheld.clone())
    }

    /// The tools with one more at the beginning. A tool with the same server and name, or with the same
    /// native name, is left out.
    pub fn with_first(&self, first: OfferedTool) -> Self {
        let is_other = |tool: &&OfferedTool| {
            tool.native_name != first.native_name
                && (tool.server != first.server || tool.tool.name != first.tool.name)
        };
        let others = self
            .tools
            .iter()
            .filter(is_other)
            .cloned()
            .collect::<Vec<_>>();
        let tools = std::iter::once(first).chain(others);
        Self::new(tools.collect(), self.withheld.clone())
    }

    /// Keeps only the first tool of each name, so bare names are unambiguous. `None` if all
    /// names are distinct already.
    pub fn without_duplicate_names(&self) -> Option<Self> {
        let mut used_names = HashSet::new();
        let unique = self.filtered(|tool| used_names.insert(tool.tool.name.clone()));
        (unique.tools.len() < self.tools.len()).then_some(unique)
    }

    pub fn tools(&self) -> &[OfferedTool] {
        &self.tools
    }

    /// Whether `name`, which no offered tool has, refers to a withheld tool.
    pub fn is_withheld(&self, server: Option<&str>, name: &str) -> bool {
        let server = server.filter(|server| !server.is_empty());
        let stripped = strip_decoration(name);
        self.withheld.iter().any(|(id, tool)| {
            let matches_server = server.is_none_or(|server| server == id.as_str());
            let without_server = || name.strip_prefix(id.as_str())?.strip_prefix("__");
            matches_server && (tool == name || tool == stripped || without_server() == Some(tool))
        })
    }

    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// The tool with exactly this server and name.
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
            .map(|&position| &self.tools[position])
    }

    /// Whether `part` is a prefix of some spelling of a tool's name, with or without its
    /// server, or starts with such a spelling.
    pub fn may_be_name_prefix(&self, part: &str) -> bool {
        self.index.may_be_name_prefix(part)
    }

    /// Resolves a name as written by a model: with or without a server, native, namespaced
    /// (`functions.f`, `s__f`, `s.f`), numbered (`f:0`) or with special tokens after it
    /// (`f<|channel|>json`). An exact match takes precedence.
    pub fn resolve(&self, server: Option<&str>, name: &str) -> ToolLookup<'_> {
        if let Some(server) = server.filter(|server| !server.is_empty()) {
            if let Some(tool) = self.get(&ServerId::new(server), name) {
                return ToolLookup::Tool(tool);
            }
            // An unknown server must not fall back to another server's tool of this name:
            // the user would approve the wrong one.
            if self.index.servers().iter().all(|id| id.as_str() != server) {
                return ToolLookup::Unknown;
            }
        }
        let stripped = strip_decoration(name);
        for candidate in [name, stripped] {
            match self.resolve_unique(server, candidate) {
                ToolLookup::Unknown => {}
                lookup => return lookup,
            }
        }
        ToolLookup::Unknown
    }

    /// The servers of the tools that an ambiguous name may mean.
    pub fn servers_of(&self, name: &str) -> Vec<ServerId> {
        let servers = self.index.servers().iter();
        let has_tool = |id: &&ServerId| {
            id.as_str() != BUILT_IN_SERVER
                && matches!(self.resolve(Some(id.as_str()), name), ToolLookup::Tool(_))
        };
        servers.filter(has_tool).cloned().collect()
    }

    fn resolve_unique(&self, server: Option<&str>, name: &str) -> ToolLookup<'_> {
        let is_on_server = |tool: &&OfferedTool| {
            server.is_none_or(|server| server.is_empty() || tool.server.as_str() == server)
        };
        let native = self
            .index
            .position_of_native_name(name)
            .map(|position| &self.tools[position]);
        if let Some(tool) = native.filter(is_on_server) {
            return ToolLookup::Tool(tool);
        }
        match exactly_one(self.tools_named(name).filter(is_on_server)) {
            ToolLookup::Unknown => {}
            lookup => return lookup,
        }
        // `a.b.c` may be tool `b.c` of server `a` or tool `c` of server `a.b`.
        let namespaced_tools = self.index.servers().iter().filter_map(|id| {
            let rest = name.strip_prefix(id.as_str())?;
            let tool_name = rest.strip_prefix("__").or_else(|| rest.strip_prefix('.'))?;
            Some(
                self.tools_named(tool_name)
                    .filter(move |tool| tool.server == *id),
            )
        });
        exactly_one(namespaced_tools.flatten().filter(is_on_server))
    }
}

/// The user's own servers take precedence over the built-in one.
fn exactly_one<'a>(tools: impl Iterator<Item = &'a OfferedTool>) -> ToolLookup<'a> {
    let (built_in, mut own): (Vec<_>, Vec<_>) =
        tools.partition(|tool| tool.server.as_str() == BUILT_IN_SERVER);
    if own.is_empty() {
        own = built_in;
    }
    match own.as_slice() {
        [] => ToolLookup::Unknown,
        [tool] => ToolLookup::Tool(tool),
        [tool, ..] => ToolLookup::Ambiguous(tool),
    }
}

/// Strips the namespace and the number that models add, and special tokens that servers leave in
/// names: `functions.f:0` and `f<|channel|>commentary` become `f`.
fn strip_decoration(name: &str) -> &str {
    let name = name.split("<|").next().unwrap_or(name).trim();
    let name = name.strip_prefix("functions.").unwrap_or(name);
    match name.rsplit_once(':') {
        Some((base_name, digits))
            if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) =>
        {
            base_name
        }
        _ => name,
    }
}

fn native_name(server: &str, tool: &str, used_names: &mut HashSet<String>) -> String {
    unique_name(&format!("{server}__{tool}"), server, tool, used_names)
}

/// Builds a unique name that all providers accept, `plain` if possible, and adds it to `used_names`.
fn unique_name(plain: &str, server: &str, tool: &str, used_names: &mut HashSet<String>) -> String {
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
    // A name that was altered, is too long or is already used gets a suffix. The suffix is a
    // hash, so the name stays the same in every request. The hash covers server and tool
    // separately, because `a__b__c` can be split in two ways. A collision increases `attempt`.
    if name == plain && name.len() <= NATIVE_NAME_BYTES_MAX && used_names.insert(name.clone()) {
        return name;
    }
    (0_u64..)
        .map(|attempt| {
            let digest = Sha256::digest(format!("{server}\n{tool}\n{attempt}"));
            let suffix: String = digest[..4]
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect();
            let prefix_bytes = name.len().min(NATIVE_NAME_BYTES_MAX - suffix.len() - 1);
            format!("{}_{suffix}", &name[..prefix_bytes])
        })
        .find(|suffixed| used_names.insert(suffixed.clone()))
        .expect("some suffix is free")
}
