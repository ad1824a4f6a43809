//! The usage of the model's context, in total and by origin.

use serde::Serialize;

/// The usage of the model's context, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct ContextMeter {
    /// The server's count if `is_measured`, otherwise our estimate.
    pub used: u64,
    pub limit: Option<u64>,
    #[serde(rename = "measured")]
    pub is_measured: bool,
    #[serde(skip)]
    pub shares: ContextShares,
}

/// Raw estimates of the parts of a request. They are not calibrated, so only their ratios count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ContextShares {
    pub system: u64,
    /// Definitions that are sent apart from the system message.
    pub tools: u64,
    /// All parts, including the conversation.
    pub total: u64,
}

/// The tokens in a context by their origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContextParts {
    pub system: u64,
    pub tools: u64,
    /// Prompts with their files, answers, calls and results.
    pub conversation: u64,
    /// The tokens left for answers, if the size of the context is known.
    pub free: Option<u64>,
}

impl ContextMeter {
    pub fn parts(&self) -> ContextParts {
        let scaled = |share: u64| {
            let tokens = u128::from(share) * u128::from(self.used);
            let tokens = tokens / u128::from(self.shares.total.max(1));
            u64::try_from(tokens).unwrap_or(u64::MAX).min(self.used)
        };
        let (system, tools) = (scaled(self.shares.system), scaled(self.shares.tools));
        ContextParts {
            system,
            tools,
            conversation: self.used.saturating_sub(system + tools),
            free: self.limit.map(|limit| limit.saturating_sub(self.used)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_the_context_are_scaled_to_the_measured_tokens() {
        let meter = ContextMeter {
            used: 500,
            limit: Some(4_096),
            is_measured: true,
            shares: ContextShares {
                system: 100,
                tools: 400,
                total: 1_000,
            },
        };
        let expected = ContextParts {
            system: 50,
            tools: 200,
            conversation: 250,
            free: Some(3_596),
        };
        assert_eq!(meter.parts(), expected);
        let empty = ContextMeter::default().parts();
        assert_eq!((empty.conversation, empty.free), (0, None));
    }
}
