//! The tags of each form, and the matching of text against them.

use super::super::markers;
use super::xml::{self, XmlAttributes};
use std::sync::LazyLock;

/// Longer text is not a tag.
pub(super) const TAG_BYTES_MAX: usize = 1024;

/// A pattern for a tag: its literal start, and the kind of text up to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TagPattern {
    pub(super) literal: &'static str,
    tail: TagTail,
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
    Partial,
    Complete(ParsedTag),
}

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
        let tail = TagTail::Nothing;
        Self { literal, tail }
    }

    const fn named(literal: &'static str) -> Self {
        let tail = TagTail::Name;
        Self { literal, tail }
    }

    const fn with_attributes(literal: &'static str) -> Self {
        let tail = TagTail::Attributes;
        Self { literal, tail }
    }

    /// Matches `text` against the tag. `is_in_quotes` is true if `text` ends inside an attribute
    /// value. O(1) until the tag is complete.
    pub(super) fn match_text(&self, text: &str, is_in_quotes: bool) -> TagMatch {
        let Some(tail) = text.strip_prefix(self.literal) else {
            return match self.literal.starts_with(text) {
                true => TagMatch::Partial,
                false => TagMatch::No,
            };
        };
        let may_match = match self.tail {
            TagTail::Nothing => return TagMatch::Complete(ParsedTag::default()),
            TagTail::Name => !tail.ends_with(['<', '\n']),
            TagTail::Attributes => {
                tail.is_empty() || tail.starts_with([' ', '\t', '\n', '\r', '>'])
            }
        };
        if !may_match {
            return TagMatch::No;
        }
        let is_in_quotes = is_in_quotes && self.tail == TagTail::Attributes;
        let Some(inside) = tail.strip_suffix('>').filter(|_| !is_in_quotes) else {
            return TagMatch::Partial;
        };
        self.parse_tag(inside)
            .map_or(TagMatch::No, TagMatch::Complete)
    }

    /// The text before the tag, if `text` ends with just enough of the tag to identify it.
    pub(super) fn text_before_opening<'a>(&self, text: &'a str) -> Option<&'a str> {
        let text = match self.tail {
            TagTail::Attributes => text.strip_suffix([' ', '\t', '\n', '\r'])?,
            TagTail::Nothing | TagTail::Name => text,
        };
        text.strip_suffix(self.literal)
    }

    fn parse_tag(&self, inside: &str) -> Option<ParsedTag> {
        let (inside, is_self_closing) = match inside.strip_suffix('/') {
            Some(inside) => (inside, true),
            None => (inside, false),
        };
        let mut tag = ParsedTag {
            is_self_closing,
            ..ParsedTag::default()
        };
        if self.tail == TagTail::Name {
            tag.name = Some(xml::unquoted(inside.trim()).to_owned());
        } else {
            tag.attributes = XmlAttributes::parse(inside)?;
            tag.name = tag.attributes.take("name");
        }
        let has_empty_name = tag.name.as_ref().is_some_and(String::is_empty);
        (!has_empty_name).then_some(tag)
    }
}

/// One form: `head`, any number of `value … value_end`, then `end`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TagGrammar {
    /// The form's label in the approval dialog.
    pub(super) form: &'static str,
    /// The first tag. `None` if the form begins with the tool name.
    pub(super) head: Option<TagPattern>,
    /// The tag that names the tool, if that is not the head.
    pub(super) tool: Option<TagPattern>,
    pub(super) tool_end: Option<&'static str>,
    /// The tag that opens a value or, if `key` is set, an argument name.
    pub(super) value: TagPattern,
    /// For forms with argument names between tags: the tag that ends the name, and the tag that
    /// opens the value.
    pub(super) key: Option<(&'static str, &'static str)>,
    pub(super) value_end: &'static str,
    pub(super) end: &'static str,
    /// `end` is the end tag of the wrapper around the form.
    pub(super) end_is_outside: bool,
    /// One JSON object may replace the values.
    pub(super) may_be_json: bool,
    pub(super) value_decoding: ValueDecoding,
}

/// The role of a tag between values.
pub(super) enum TagRole {
    None,
    /// The text may be the beginning of one of the other tags.
    Partial,
    Tool(ParsedTag),
    ToolEnd,
    Value(ParsedTag),
    End,
    /// Closes a wrapper around the form, or ends the message.
    OuterEnd,
}

impl TagGrammar {
    pub(super) fn match_head(&self, text: &str, is_in_quotes: bool) -> TagMatch {
        let match_text = |head: TagPattern| head.match_text(text, is_in_quotes);
        match self.head.map_or(TagMatch::No, match_text) {
            TagMatch::Complete(tag) if tag.name.is_none() && self.tool.is_none() => TagMatch::No,
            tag_match => tag_match,
        }
    }

    pub(super) fn role(&self, text: &str, is_in_quotes: bool) -> TagRole {
        let mut role = TagRole::None;
        match self.value.match_text(text, is_in_quotes) {
            TagMatch::Complete(tag) => return TagRole::Value(tag),
            TagMatch::Partial => role = TagRole::Partial,
            TagMatch::No => {}
        }
        match self
            .tool
            .map_or(TagMatch::No, |tool| tool.match_text(text, is_in_quotes))
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

    /// Whether `text` may be the beginning of a tag that ends the tool name or the call.
    pub(super) fn could_end(&self, text: &str) -> bool {
        let mut ends = [self.end]
            .into_iter()
            .chain(self.tool_end)
            .chain(outer_ends());
        ends.any(|end| end.starts_with(text))
    }
}

/// How the value is extracted from the text between value tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueDecoding {
    /// Removes a newline at the start and one at the end, if present, and shared indentation.
    TrimLineEnds,
    /// Removes one newline on each side, but only if both sides have one.
    Bare,
    /// Like `Bare`, but also resolves character references and CDATA sections.
    Xml,
}

/// Used by Qwen3-Coder, Nemotron 3 and Seed and, with JSON inside, by Llama 3.1.
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
    value_decoding: ValueDecoding::TrimLineEnds,
};

/// Used by GLM. It begins with the tool name.
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
    value_decoding: ValueDecoding::Bare,
};

/// This program's own form, which the system message teaches.
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
    value_decoding: ValueDecoding::Xml,
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
            value_decoding: ValueDecoding::Bare,
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

pub(super) fn opens_call(tag: &str) -> bool {
    openers().any(|opener| opener == tag)
}

/// Whether `tag` may be the beginning of a tag that opens another call.
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
