//! The prompts and resources of MCP servers. Every text in them comes from a server and is
//! unsanitized.

use super::attachment::ReadAttachment;
use super::{ServerId, UriTemplate};
use std::collections::{BTreeMap, BTreeSet};

/// The prompts and resources that a server lists.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServerContent {
    pub prompts: Vec<ServerPrompt>,
    pub resources: Vec<ServerResource>,
    pub templates: Vec<ResourceTemplate>,
    /// The server completes arguments (`completion/complete`).
    pub completes_arguments: bool,
    /// URIs of resources that have changed since the user attached them.
    pub changed: BTreeSet<String>,
    /// One line for each list that is incomplete, and for each entry that was left out.
    pub omitted: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerPrompt {
    /// The name in requests.
    pub name: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub arguments: Vec<ContentArgument>,
}

/// An argument of a prompt, or a variable of a resource template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentArgument {
    pub name: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub is_required: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerResource {
    /// Only a name for requests to its server. Nothing is opened on this machine, whatever its
    /// scheme.
    pub uri: String,
    pub name: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub mime_type: Option<String>,
    /// Size in bytes, as the server states it.
    pub bytes: Option<u64>,
}

/// A family of resources whose URIs contain variables (RFC 6570).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceTemplate {
    pub uri_template: UriTemplate,
    pub name: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub mime_type: Option<String>,
}

impl ServerPrompt {
    /// The title, or the name if there is none.
    pub fn label(&self) -> &str {
        label(self.title.as_deref(), &self.name)
    }

    /// Whether the prompt can be loaded with these values, given in the order of its arguments.
    pub fn has_required(&self, values: &[String]) -> bool {
        let has_value = |index: usize| values.get(index).is_some_and(|value| !value.is_empty());
        let arguments = self.arguments.iter().enumerate();
        arguments
            .filter(|(_, argument)| argument.is_required)
            .all(|(index, _)| has_value(index))
    }
}

impl ContentArgument {
    pub fn label(&self) -> &str {
        label(self.title.as_deref(), &self.name)
    }
}

impl ServerResource {
    pub fn label(&self) -> &str {
        label(self.title.as_deref(), &self.name)
    }
}

impl ResourceTemplate {
    pub fn label(&self) -> &str {
        label(self.title.as_deref(), &self.name)
    }
}

fn label<'a>(title: Option<&'a str>, name: &'a str) -> &'a str {
    title
        .filter(|title| !title.trim().is_empty())
        .unwrap_or(name)
}

/// The owner of an argument, for `completion/complete`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgumentOwner {
    Prompt(String),
    /// The text of a URI template.
    Template(String),
}

/// A request for values that complete an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgumentCompletion {
    pub server: ServerId,
    pub owner: ArgumentOwner,
    pub argument: String,
    /// The text typed so far.
    pub value: String,
    /// The values of the other arguments.
    pub others: BTreeMap<String, String>,
}

/// A prompt as its server returned it, ready for review.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LoadedPrompt {
    /// The text of all messages. With several messages, each follows a line that names its role.
    pub text: String,
    /// Byte offsets of the lines of `text` that do not come from the server: the names of the roles
    /// and the blank lines above them, in ascending order.
    pub heading_lines: Vec<usize>,
    pub message_count: usize,
    /// Embedded images and resources.
    pub files: Vec<ReadAttachment>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_needs_values_only_for_its_required_arguments() {
        let argument = |is_required| ContentArgument {
            name: "a".to_owned(),
            title: None,
            description: None,
            is_required,
        };
        let prompt = ServerPrompt {
            name: "p".to_owned(),
            title: Some(" ".to_owned()),
            description: None,
            arguments: vec![argument(true), argument(false)],
        };
        let values = |list: &[&str]| {
            list.iter()
                .map(|&value| value.to_owned())
                .collect::<Vec<_>>()
        };
        assert!(prompt.has_required(&values(&["x"])));
        assert!(!prompt.has_required(&values(&["", "x"])));
        assert!(!prompt.has_required(&[]));
        assert_eq!(prompt.label(), "p");
    }
}
