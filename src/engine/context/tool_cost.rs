//! Detects tool definitions that fill the context more than the conversation does. The warning
//! then names the costliest server and suggests how to reduce the cost.

use super::window;
use crate::domain::{Advice, Notice, ServerId, Toolset};
use crate::text::Clean;
use std::collections::BTreeMap;

/// Tool definitions that take more than half of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ToolCost {
    tokens: u64,
    /// The server whose definitions take the most tokens.
    server: ServerId,
    server_tokens: u64,
}

impl ToolCost {
    /// The cost of the definitions, if they take more than half of a request. `estimate` is
    /// the calibrated estimate of the request.
    pub(super) fn if_dominant(offered: &Toolset, raw_estimate: u64, estimate: u64) -> Option<Self> {
        let calibrated_tokens = |bytes: usize| {
            let tokens = u128::from(window::raw_estimate_definitions(bytes)) * u128::from(estimate);
            u64::try_from(tokens / u128::from(raw_estimate.max(1))).unwrap_or(u64::MAX)
        };
        let mut servers: BTreeMap<&ServerId, usize> = BTreeMap::new();
        for tool in offered.tools() {
            *servers.entry(&tool.server).or_default() += tool.tool.bytes;
        }
        let tokens = calibrated_tokens(servers.values().sum());
        let (server, bytes) = servers.into_iter().max_by_key(|(_, bytes)| *bytes)?;
        (tokens > estimate / 2).then(|| Self {
            tokens,
            server: server.clone(),
            server_tokens: calibrated_tokens(bytes),
        })
    }

    pub(super) fn explain(&self, notice: Notice) -> Notice {
        let server = Clean::name(self.server.as_str());
        notice
            .with_reason(format!(
                "Tool definitions take about {} tokens; those of server `{server}` take the most, about {}.",
                self.tokens, self.server_tokens
            ))
            .with_advice(Advice::DisableServer(server.as_str().to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Server;
    use crate::fixtures::{self, described_tool};

    fn server(name: &str, tool_count: usize) -> Server {
        let tool = |n: usize| {
            let mut tool = described_tool(&format!("{name}-{n}"), &"d".repeat(200));
            tool.bytes = 250;
            tool
        };
        fixtures::server(name, (0..tool_count).map(tool).collect())
    }

    #[test]
    fn warning_names_the_server_with_the_costliest_tools() {
        let servers = [server("a", 10), server("big\u{200B}", 100), server("c", 5)];
        let offered = Toolset::from_servers(&servers);
        // 115 tools of 80 raw tokens each, halved by the calibration.
        let cost = ToolCost::if_dominant(&offered, 10_000, 5_000);
        let expected = ToolCost {
            tokens: 4_600,
            server: "big\u{200B}".into(),
            server_tokens: 4_000,
        };
        assert_eq!(cost, Some(expected.clone()));
        assert_eq!(
            expected.explain(Notice::warning("Too long.")).summary(),
            "Too long. Tool definitions take about 4600 tokens; those of server `big⟨U+200B⟩` take the most, about 4000."
        );
        assert_eq!(
            expected.explain(Notice::warning("Too long.")).advice,
            [Advice::DisableServer("big⟨U+200B⟩".to_owned())]
        );
    }

    #[test]
    fn tools_are_not_blamed_when_the_conversation_is_longer() {
        let offered = Toolset::from_servers(&[server("a", 10)]);
        assert_eq!(ToolCost::if_dominant(&offered, 1_600, 1_600), None);
        assert_eq!(ToolCost::if_dominant(&Toolset::default(), 0, 0), None);
    }
}
