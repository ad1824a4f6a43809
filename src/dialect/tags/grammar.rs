//! The tags of each form, and how much of a tag a text is.

use super::super::markers;
use super::xml::{self, Attributes};
use std::sync::LazyLock;

/// Longer, it is no tag.
pub(super) const TAG_BYTES_MAX: usize = 1024;

/// A tag by its literal start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tag {
    pub(super) literal: &'static str,
    rest: Rest,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rest {
    /// The literal is all of it.
    Nothing,
    /// A name up to the `>`.
    Name,
    /// White space and attributes up to the `>`.
    Attributes,
}

/// How well a text fits a tag.
#[derive(Debug, PartialEq)]
pub(super) enum Fit {
    No,
    /// It may become one.
    Partial,
    Whole(Written),
}

/// A tag as it was written.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Written {
    /// Its name, or its attributes.
    pub(super) name: Option<String>,
    pub(super) attributes: Attributes,
    /// `<tag />`.
    pub(super) is_empty: bool,
}

impl Tag {
    const fn literal(literal: &'static str) -> Self {
        let rest = Rest::Nothing;
        Self { literal, rest }
    }

    const fn named(literal: &'static str) -> Self {
        let rest = Rest::Name;
        Self { literal, rest }
    }

    const fn with_attributes(literal: &'static str) -> Self {
        let rest = Rest::Attributes;
        Self { literal, rest }
    }

    /// How `text` fits, of which `in_quotes` says whether it ends inside an
    /// attribute's value. O(1) until the tag is complete.
    pub(super) fn fit(&self, text: &str, in_quotes: bool) -> Fit {
        let Some(rest) = text.strip_prefix(self.literal) else {
            return match self.literal.starts_with(text) {
                true => Fit::Partial,
                false => Fit::No,
            };
        };
        let starts_well = match self.rest {
            Rest::Nothing => return Fit::Whole(Written::default()),
            Rest::Name => !rest.ends_with(['<', '\n']),
            Rest::Attributes => rest.is_empty() || rest.starts_with([' ', '\t', '\n', '\r', '>']),
        };
        if !starts_well {
            return Fit::No;
        }
        let in_quotes = in_quotes && self.rest == Rest::Attributes;
        let Some(inside) = rest.strip_suffix('>').filter(|_| !in_quotes) else {
            return Fit::Partial;
        };
        self.written(inside).map_or(Fit::No, Fit::Whole)
    }

    /// What stands before the tag in `text`, which ends where this tag is certain to
    /// have been opened.
    pub(super) fn opened<'a>(&self, text: &'a str) -> Option<&'a str> {
        let text = match self.rest {
            Rest::Attributes => text.strip_suffix([' ', '\t', '\n', '\r'])?,
            Rest::Nothing | Rest::Name => text,
        };
        text.strip_suffix(self.literal)
    }

    fn written(&self, inside: &str) -> Option<Written> {
        let (inside, is_empty) = match inside.strip_suffix('/') {
            Some(inside) => (inside, true),
            None => (inside, false),
        };
        let mut written = Written {
            is_empty,
            ..Written::default()
        };
        if self.rest == Rest::Name {
            written.name = Some(xml::unquoted(inside.trim()).to_owned());
        } else {
            written.attributes = Attributes::read(inside)?;
            written.name = written.attributes.take("name");
        }
        let is_nameless = written.name.as_ref().is_some_and(String::is_empty);
        (!is_nameless).then_some(written)
    }
}

/// One form: `head`, then `value … value_end` any number of times, then `end`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Grammar {
    /// As the dialog labels it.
    pub(super) form: &'static str,
    pub(super) head: Option<Tag>,
    /// The tag that names the tool, where it is not the head.
    pub(super) tool: Option<Tag>,
    pub(super) tool_end: Option<&'static str>,
    pub(super) value: Tag,
    /// Where the name of a value is written between tags of its own: what ends the
    /// name and what must follow it.
    pub(super) key: Option<(&'static str, &'static str)>,
    pub(super) value_end: &'static str,
    pub(super) end: &'static str,
    /// The end closes a wrapper that stands around the form.
    pub(super) end_is_outside: bool,
    /// The arguments may be one JSON object instead.
    pub(super) may_be_json: bool,
    pub(super) text: Text,
}

/// What a tag between the values means.
pub(super) enum Meaning {
    No,
    /// It may become one that means something.
    Partial,
    Tool(Written),
    ToolEnd,
    Value(Written),
    End,
    /// It closes what is around the form.
    Outer,
}

impl Grammar {
    /// How `text` fits the head.
    pub(super) fn head_fit(&self, text: &str, in_quotes: bool) -> Fit {
        let fit = |head: Tag| head.fit(text, in_quotes);
        match self.head.map_or(Fit::No, fit) {
            Fit::Whole(tag) if tag.name.is_none() && self.tool.is_none() => Fit::No,
            fit => fit,
        }
    }

    pub(super) fn meaning(&self, text: &str, in_quotes: bool) -> Meaning {
        let mut meaning = Meaning::No;
        match self.value.fit(text, in_quotes) {
            Fit::Whole(tag) => return Meaning::Value(tag),
            Fit::Partial => meaning = Meaning::Partial,
            Fit::No => {}
        }
        match self.tool.map_or(Fit::No, |tool| tool.fit(text, in_quotes)) {
            Fit::Whole(tag) => return Meaning::Tool(tag),
            Fit::Partial => meaning = Meaning::Partial,
            Fit::No => {}
        }
        if text == self.end {
            Meaning::End
        } else if Some(text) == self.tool_end {
            Meaning::ToolEnd
        } else if outer_ends().any(|end| end == text) {
            Meaning::Outer
        } else if self.may_end(text) {
            Meaning::Partial
        } else {
            meaning
        }
    }

    /// Whether `text` is the start of a tag after which nothing more is missing.
    pub(super) fn may_end(&self, text: &str) -> bool {
        let mut ends = [self.end]
            .into_iter()
            .chain(self.tool_end)
            .chain(outer_ends());
        ends.any(|end| end.starts_with(text))
    }
}

/// What of a value's text is the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Text {
    /// All but one line end on either side.
    Lines,
    /// All, but for line ends that stand on both sides.
    Bare,
    /// The same, XML-unescaped; it may be CDATA.
    Xml,
}

/// Qwen3-Coder, Nemotron 3 and Seed, and with JSON inside Llama 3.1.
const FUNCTION: Grammar = Grammar {
    form: "function tag",
    head: Some(Tag::named("<function=")),
    tool: None,
    tool_end: None,
    value: Tag::named("<parameter="),
    key: None,
    value_end: "</parameter>",
    end: "</function>",
    end_is_outside: false,
    may_be_json: true,
    text: Text::Lines,
};

/// GLM; its head is the bare name of the tool.
pub(super) static NAMED: Grammar = Grammar {
    form: "GLM",
    head: None,
    tool: None,
    tool_end: None,
    value: Tag::literal("<arg_key>"),
    key: Some(("</arg_key>", "<arg_value>")),
    value_end: "</arg_value>",
    end: "</tool_call>",
    end_is_outside: true,
    may_be_json: true,
    text: Text::Bare,
};

/// Ours (S6.5).
const REQUEST: Grammar = Grammar {
    form: "mcp-request",
    head: Some(Tag::literal("<mcp-request>")),
    tool: Some(Tag::with_attributes("<tool")),
    tool_end: Some("</tool>"),
    value: Tag::with_attributes("<param"),
    key: None,
    value_end: "</param>",
    end: "</mcp-request>",
    end_is_outside: false,
    may_be_json: false,
    text: Text::Xml,
};

macro_rules! invoke {
    ($prefix:literal, $form:literal) => {
        invoke!($prefix, "invoke", $form)
    };
    ($prefix:literal, $word:literal, $form:literal) => {
        Grammar {
            form: $form,
            head: Some(Tag::with_attributes(concat!("<", $prefix, $word))),
            tool: None,
            tool_end: None,
            value: Tag::with_attributes(concat!("<", $prefix, "parameter")),
            key: None,
            value_end: concat!("</", $prefix, "parameter>"),
            end: concat!("</", $prefix, $word, ">"),
            end_is_outside: false,
            may_be_json: true,
            text: Text::Bare,
        }
    };
}

/// The forms that begin with a tag.
pub(super) static HEADED: [Grammar; 10] = [
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
pub(super) fn opens(tag: &str) -> bool {
    openers().any(|opener| opener == tag)
}

/// Whether `tag` may become one that opens another call.
pub(super) fn may_open(tag: &str) -> bool {
    openers().any(|opener| opener.starts_with(tag))
}

fn openers() -> impl Iterator<Item = &'static str> {
    let heads = HEADED.iter().filter_map(|grammar| grammar.head);
    let wrappers = markers::WRAPPERS.iter().map(|wrapper| wrapper.opens);
    heads.map(|head| head.literal).chain(wrappers)
}

/// What closes a wrapper around a form, or the message.
pub(super) fn outer_ends() -> impl Iterator<Item = &'static str> + Clone {
    OUTER_ENDS.iter().copied()
}

static OUTER_ENDS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let is_form_end = |closer: &str| HEADED.iter().any(|grammar| grammar.end == closer);
    // In HTML, `</s>` ends text that is struck through.
    let closers = markers::CLOSERS.iter().copied();
    closers
        .filter(|closer| *closer != "</s>" && !is_form_end(closer))
        .collect()
});
