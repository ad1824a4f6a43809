//! Where the definitions of tools, and not what was said, fill a context: a warning
//! says so, whose they are, and how to be rid of them.

use super::window;
use crate::domain::{Advice, Notice, ServerId, Toolset};
use crate::text::Clean;

/// Definitions that are the greater part of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ToolCost {
    /// Tokens of all definitions.
    tokens: u64,
    /// The server whose tools cost most, and what they cost.
    server: ServerId,
    of_server: u64,
}

impl ToolCost {
    /// `estimate` are the tokens of a request of this weight. None where definitions
    /// are its smaller part.
    pub(super) fn if_dominant(offered: &Toolset, weight: u64, estimate: u64) -> Option<Self> {
        let scaled = |bytes: usize| {
            let tokens = u128::from(window::raw_estimate_definitions(bytes)) * u128::from(estimate);
            u64::try_from(tokens / u128::from(weight.max(1))).unwrap_or(u64::MAX)
        };
        // Tools of one server stand together.
        let mut servers: Vec<(&ServerId, usize)> = Vec::new();
        for tool in offered.tools() {
            match servers.last_mut() {
                Some((server, bytes)) if **server == tool.server => *bytes += tool.tool.bytes,
                _ => servers.push((&tool.server, tool.tool.bytes)),
            }
        }
        let tokens = scaled(servers.iter().map(|(_, bytes)| bytes).sum());
        let (server, bytes) = servers.into_iter().max_by_key(|(_, bytes)| *bytes)?;
        (tokens > estimate / 2).then(|| Self {
            tokens,
            server: server.clone(),
            of_server: scaled(bytes),
        })
    }

    /// Adds to what happened why, and what helps.
    pub(super) fn explain(&self, notice: Notice) -> Notice {
        let server = Clean::name(self.server.as_str());
        notice
            .with_reason(format!(
                "The definitions of tools are about {} tokens of that; those of server `{server}` cost most, about {}.",
                self.tokens, self.of_server
            ))
            .with_advice(Advice::DisableTools)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Server;
    use crate::fixtures::{self, described_tool};

    fn server(name: &str, tools: usize) -> Server {
        let tool = |n: usize| {
            let mut tool = described_tool(&format!("{name}-{n}"), &"d".repeat(200));
            tool.bytes = 250;
            tool
        };
        fixtures::server(name, (0..tools).map(tool).collect())
    }

    #[test]
    fn warning_names_the_server_with_the_costliest_tools() {
        let servers = [server("a", 10), server("big\u{200B}", 100), server("c", 5)];
        let offered = Toolset::from_servers(&servers);
        // 115 tools of 80 tokens by weight, which the server counts as half.
        let cost = ToolCost::if_dominant(&offered, 10_000, 5_000);
        let expected = ToolCost {
            tokens: 4_600,
            server: "big\u{200B}".into(),
            of_server: 4_000,
        };
        assert_eq!(cost, Some(expected.clone()));
        assert_eq!(
            expected.explain(Notice::warning("Too long.")).summary(),
            "Too long. The definitions of tools are about 4600 tokens of that; those of server `big⟨U+200B⟩` cost most, about 4000."
        );
    }

    #[test]
    fn tools_are_not_blamed_when_the_conversation_is_longer() {
        let offered = Toolset::from_servers(&[server("a", 10)]);
        assert_eq!(ToolCost::if_dominant(&offered, 1_600, 1_600), None);
        assert_eq!(ToolCost::if_dominant(&Toolset::default(), 0, 0), None);
    }
}
