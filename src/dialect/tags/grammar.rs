//! The tags of each form, and how a text matches them.

use super::super::markers;
use super::xml::{self, XmlAttributes};
use std::sync::LazyLock;

/// Longer text is not a tag.
pub(super) const TAG_BYTES_MAX: usize = 1024;

/// A tag, identified by its literal start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TagPattern {
    pub(super) literal: &'static str,
    rest: TagTail,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TagTail {
    /// The literal is the complete tag.
    Nothing,
    /// A name, up to `>`.
    Name,
    /// Whitespace and attributes, up to `>`.
    Attributes,
}

#[derive(Debug, PartialEq)]
pub(super) enum TagMatch {
    No,
    /// The text may become the tag.
    Partial,
    Complete(ParsedTag),
}

/// A parsed tag.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ParsedTag {
    /// The name in the tag or in its `name` attribute.
    pub(super) name: Option<String>,
    pub(super) attributes: XmlAttributes,
    /// `<tag />`.
    pub(super) is_self_closing: bool,
}

impl TagPattern {
    const fn literal(literal: &'static str) -> Self {
        let rest = TagTail::Nothing;
        Self { literal, rest }
    }

    const fn named(literal: &'static str) -> Self {
        let rest = TagTail::Name;
        Self { literal, rest }
    }

    const fn with_attributes(literal: &'static str) -> Self {
        let rest = TagTail::Attributes;
        Self { literal, rest }
    }

    /// Matches `text` against the tag. `in_quotes` is true if `text` ends inside an attribute
    /// value. O(1) until the tag is complete.
    pub(super) fn match_text(&self, text: &str, in_quotes: bool) -> TagMatch {
        let Some(rest) = text.strip_prefix(self.literal) else {
            return match self.literal.starts_with(text) {
                true => TagMatch::Partial,
                false => TagMatch::No,
            };
        };
        let starts_well = match self.rest {
            TagTail::Nothing => return TagMatch::Complete(ParsedTag::default()),
            TagTail::Name => !rest.ends_with(['<', '\n']),
            TagTail::Attributes => {
                rest.is_empty() || rest.starts_with([' ', '\t', '\n', '\r', '>'])
            }
        };
        if !starts_well {
            return TagMatch::No;
        }
        let in_quotes = in_quotes && self.rest == TagTail::Attributes;
        let Some(inside) = rest.strip_suffix('>').filter(|_| !in_quotes) else {
            return TagMatch::Partial;
        };
        self.parse_tag(inside)
            .map_or(TagMatch::No, TagMatch::Complete)
    }

    /// The text before the tag, if `text` ends right after the tag's opening is certain.
    pub(super) fn text_before_opening<'a>(&self, text: &'a str) -> Option<&'a str> {
        let text = match self.rest {
            TagTail::Attributes => text.strip_suffix([' ', '\t', '\n', '\r'])?,
            TagTail::Nothing | TagTail::Name => text,
        };
        text.strip_suffix(self.literal)
    }

    fn parse_tag(&self, inside: &str) -> Option<ParsedTag> {
        let (inside, is_empty) = match inside.strip_suffix('/') {
            Some(inside) => (inside, true),
            None => (inside, false),
        };
        let mut tag = ParsedTag {
            is_self_closing: is_empty,
            ..ParsedTag::default()
        };
        if self.rest == TagTail::Name {
            tag.name = Some(xml::unquoted(inside.trim()).to_owned());
        } else {
            tag.attributes = XmlAttributes::parse(inside)?;
            tag.name = tag.attributes.take("name");
        }
        let is_nameless = tag.name.as_ref().is_some_and(String::is_empty);
        (!is_nameless).then_some(tag)
    }
}

/// One form: `head`, any number of `value … value_end`, then `end`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TagGrammar {
    /// Label in the approval dialog.
    pub(super) form: &'static str,
    pub(super) head: Option<TagPattern>,
    /// The tag that names the tool, if that is not the head.
    pub(super) tool: Option<TagPattern>,
    pub(super) tool_end: Option<&'static str>,
    pub(super) value: TagPattern,
    /// For forms that put the argument name between its own tags: the end of the name and the tag
    /// that must follow.
    pub(super) key: Option<(&'static str, &'static str)>,
    pub(super) value_end: &'static str,
    pub(super) end: &'static str,
    /// `end` closes a wrapper around the form.
    pub(super) end_is_outside: bool,
    /// The arguments may instead be one JSON object.
    pub(super) may_be_json: bool,
    pub(super) text: ValueText,
}

/// The role of a tag between values.
pub(super) enum TagRole {
    None,
    /// The text may become a relevant tag.
    Partial,
    Tool(ParsedTag),
    ToolEnd,
    Value(ParsedTag),
    End,
    /// Closes something around the form.
    OuterEnd,
}

impl TagGrammar {
    /// Matches `text` against the head.
    pub(super) fn match_head(&self, text: &str, in_quotes: bool) -> TagMatch {
        let fit = |head: TagPattern| head.match_text(text, in_quotes);
        match self.head.map_or(TagMatch::No, fit) {
            TagMatch::Complete(tag) if tag.name.is_none() && self.tool.is_none() => TagMatch::No,
            fit => fit,
        }
    }

    pub(super) fn role(&self, text: &str, in_quotes: bool) -> TagRole {
        let mut role = TagRole::None;
        match self.value.match_text(text, in_quotes) {
            TagMatch::Complete(tag) => return TagRole::Value(tag),
            TagMatch::Partial => role = TagRole::Partial,
            TagMatch::No => {}
        }
        match self
            .tool
            .map_or(TagMatch::No, |tool| tool.match_text(text, in_quotes))
        {
            TagMatch::Complete(tag) => return TagRole::Tool(tag),
            TagMatch::Partial => role = TagRole::Partial,
            TagMatch::No => {}
        }
        if text == self.end {
            TagRole::End
        } else if Some(text) == self.tool_end {
            TagRole::ToolEnd
        } else if outer_ends().any(|end| end == text) {
            TagRole::OuterEnd
        } else if self.could_end(text) {
            TagRole::Partial
        } else {
            role
        }
    }

    /// Whether `text` begins a tag that can end the call without anything missing.
    pub(super) fn could_end(&self, text: &str) -> bool {
        let mut ends = [self.end]
            .into_iter()
            .chain(self.tool_end)
            .chain(outer_ends());
        ends.any(|end| end.starts_with(text))
    }
}

/// Which part of the text between value tags is the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueText {
    /// Everything except one newline on either side.
    TrimLineEnds,
    /// Everything, except newlines that appear on both sides.
    Bare,
    /// Like `Bare`, but XML-unescaped and possibly in CDATA.
    Xml,
}

/// Qwen3-Coder, Nemotron 3 and Seed; with JSON inside, Llama 3.1.
const FUNCTION: TagGrammar = TagGrammar {
    form: "function tag",
    head: Some(TagPattern::named("<function=")),
    tool: None,
    tool_end: None,
    value: TagPattern::named("<parameter="),
    key: None,
    value_end: "</parameter>",
    end: "</function>",
    end_is_outside: false,
    may_be_json: true,
    text: ValueText::TrimLineEnds,
};

/// GLM; its head is the bare tool name.
pub(super) static GLM: TagGrammar = TagGrammar {
    form: "GLM",
    head: None,
    tool: None,
    tool_end: None,
    value: TagPattern::literal("<arg_key>"),
    key: Some(("</arg_key>", "<arg_value>")),
    value_end: "</arg_value>",
    end: "</tool_call>",
    end_is_outside: true,
    may_be_json: true,
    text: ValueText::Bare,
};

/// This program's own form, taught in the system message.
const REQUEST: TagGrammar = TagGrammar {
    form: "mcp-request",
    head: Some(TagPattern::literal("<mcp-request>")),
    tool: Some(TagPattern::with_attributes("<tool")),
    tool_end: Some("</tool>"),
    value: TagPattern::with_attributes("<param"),
    key: None,
    value_end: "</param>",
    end: "</mcp-request>",
    end_is_outside: false,
    may_be_json: false,
    text: ValueText::Xml,
};

macro_rules! invoke {
    ($prefix:literal, $form:literal) => {
        invoke!($prefix, "invoke", $form)
    };
    ($prefix:literal, $word:literal, $form:literal) => {
        TagGrammar {
            form: $form,
            head: Some(TagPattern::with_attributes(concat!("<", $prefix, $word))),
            tool: None,
            tool_end: None,
            value: TagPattern::with_attributes(concat!("<", $prefix, "parameter")),
            key: None,
            value_end: concat!("</", $prefix, "parameter>"),
            end: concat!("</", $prefix, $word, ">"),
            end_is_outside: false,
            may_be_json: true,
            text: ValueText::Bare,
        }
    };
}

/// The forms that begin with a tag.
pub(super) static TAG_GRAMMARS: [TagGrammar; 10] = [
    FUNCTION,
    REQUEST,
    invoke!("", "invoke tag"),
    invoke!("", "function", "function tag"),
    invoke!("antml:", "invoke tag"),
    invoke!("steptml:", "Step"),
    invoke!("｜DSML｜", "DeepSeek"),
    invoke!("|DSML|", "DeepSeek"),
    invoke!("｜｜DSML｜｜", "DeepSeek"),
    invoke!("｜｜DSML｜｜ ", "DeepSeek"),
];

/// Whether `tag` opens another call.
pub(super) fn opens_call(tag: &str) -> bool {
    openers().any(|opener| opener == tag)
}

/// Whether `tag` may become one that opens another call.
pub(super) fn could_open_call(tag: &str) -> bool {
    openers().any(|opener| opener.starts_with(tag))
}

fn openers() -> impl Iterator<Item = &'static str> {
    let heads = TAG_GRAMMARS.iter().filter_map(|grammar| grammar.head);
    let wrappers = markers::WRAPPERS.iter().map(|wrapper| wrapper.opening);
    heads.map(|head| head.literal).chain(wrappers)
}

/// Markers that close a wrapper around a form, or the message.
pub(super) fn outer_ends() -> impl Iterator<Item = &'static str> + Clone {
    OUTER_ENDS.iter().copied()
}

static OUTER_ENDS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let is_form_end = |closer: &str| TAG_GRAMMARS.iter().any(|grammar| grammar.end == closer);
    // In HTML, `</s>` closes struck-through text.
    let closers = markers::CLOSERS.iter().copied();
    closers
        .filter(|closer| *closer != "</s>" && !is_form_end(closer))
        .collect()
});
