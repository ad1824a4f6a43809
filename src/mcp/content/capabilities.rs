//! The capabilities that a server declares for prompts, resources and completions. Pure.

use rmcp::model::ServerPeerInfo;

/// The lists that a server offers, and whether it reports their changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ContentCapabilities {
    pub has_prompts: bool,
    pub has_resources: bool,
    pub completes_arguments: bool,
    pub reports_prompt_changes: bool,
    pub reports_resource_changes: bool,
    /// Whether clients can subscribe to individual resources.
    pub reports_resource_updates: bool,
}

impl ContentCapabilities {
    pub fn of(info: &ServerPeerInfo) -> Self {
        let capabilities = &info.capabilities;
        let (prompts, resources) = (&capabilities.prompts, &capabilities.resources);
        let is_set = |flag: Option<bool>| flag == Some(true);
        Self {
            has_prompts: prompts.is_some(),
            has_resources: resources.is_some(),
            completes_arguments: capabilities.completions.is_some(),
            reports_prompt_changes: prompts
                .as_ref()
                .is_some_and(|prompts| is_set(prompts.list_changed)),
            reports_resource_changes: resources
                .as_ref()
                .is_some_and(|resources| is_set(resources.list_changed)),
            reports_resource_updates: resources
                .as_ref()
                .is_some_and(|resources| is_set(resources.subscribe)),
        }
    }

    pub fn reports_changes(self) -> bool {
        self.reports_prompt_changes || self.reports_resource_changes
    }

    pub fn has_any(self) -> bool {
        self.has_prompts || self.has_resources
    }

    /// Whether the server reports every change, so that its lists stay valid until it does.
    pub fn reports_all_changes(self) -> bool {
        (self.reports_prompt_changes || !self.has_prompts)
            && (self.reports_resource_changes || !self.has_resources)
    }
}
