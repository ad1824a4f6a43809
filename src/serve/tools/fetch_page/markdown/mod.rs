//! Converts HTML to Markdown in one pass over its tags, without a tree: time and memory grow
//! linearly with the input, whatever its nesting. Converters that build a tree overflow the stack
//! or take quadratic time on hostile pages of a few hundred kilobytes.
//!
//! The Markdown is for models to read. Text is not escaped, and layout that needs CSS is lost.

mod inline;
mod output;
mod table;
mod tag;

use html5gum::{DefaultEmitter, EndTag, StartTag, Token, Tokenizer};
use inline::{InlineText, Mark};
use output::{Output, OutputContainer};
use table::TableBuilder;
use tag::{BLOCKS, SKIPPED, attribute, is_hidden, language};
use url::Url;

/// Longer titles are truncated.
const TITLE_CHARS_MAX: usize = 300;

/// A converted page.
pub struct Page {
    pub title: Option<String>,
    pub markdown: String,
    /// The Markdown was cut off at its limit.
    pub is_truncated: bool,
}

/// Converts a page. Links are resolved against `base`. O(len).
pub fn to_markdown(html: &str, base: &Url) -> Page {
    let mut emitter = DefaultEmitter::default();
    // Without a tree, the tokenizer itself must know that scripts contain no tags.
    emitter.naively_switch_states(true);
    let mut converter = Converter::new(base.clone());
    for token in Tokenizer::new_with_emitter(html, emitter) {
        let Ok(token) = token;
        match token {
            Token::StartTag(tag) => converter.start_tag(&tag),
            Token::EndTag(tag) => converter.end_tag(&tag),
            Token::String(text) => converter.text(&String::from_utf8_lossy(&text)),
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
        if converter.output.is_full() {
            break;
        }
    }
    converter.finish()
}

/// The element whose content is being skipped, and how many open elements have its name.
struct Skip {
    name: String,
    depth: usize,
}

struct Converter {
    base: Url,
    output: Output,
    inline: InlineText,
    /// The text of the `title` element, while it is open and afterwards.
    title: Option<String>,
    is_in_title: bool,
    skip: Option<Skip>,
    table: Option<TableBuilder>,
    /// The preformatted text collected so far, and its language.
    preformatted: Option<(String, String)>,
}

impl Converter {
    fn new(base: Url) -> Self {
        Self {
            base,
            output: Output::default(),
            inline: InlineText::default(),
            title: None,
            is_in_title: false,
            skip: None,
            table: None,
            preformatted: None,
        }
    }

    fn start_tag(&mut self, tag: &StartTag<()>) {
        let name = String::from_utf8_lossy(&tag.name).into_owned();
        if let Some(skip) = &mut self.skip {
            skip.depth += usize::from(skip.name == name);
            return;
        }
        let is_empty = tag.self_closing && matches!(&*name, "svg" | "math");
        let is_skipped = SKIPPED.contains(&name.as_str()) && !is_empty;
        if is_skipped || is_hidden(&name, tag) {
            self.skip = Some(Skip { name, depth: 1 });
            return;
        }
        if self.preformatted.is_some() {
            self.start_in_preformatted(&name, tag);
            return;
        }
        match name.as_str() {
            "title" => self.is_in_title = self.title.is_none(),
            "base" => self.set_base(tag),
            "br" => self.inline.push_line_break(),
            "hr" => self.add_line("---"),
            "pre" | "listing" | "xmp" => {
                self.flush();
                self.preformatted = Some((String::new(), language(tag)));
            }
            "img" => self.add_image(tag),
            "a" => self.open_link(tag),
            "b" | "strong" => self.inline.open(Mark::Strong),
            "i" | "em" => self.inline.open(Mark::Emphasis),
            "s" | "del" | "strike" => self.inline.open(Mark::Deleted),
            "code" | "kbd" | "samp" | "tt" => self.inline.open(Mark::Code),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.flush();
                let level = usize::from(name.as_bytes()[1] - b'0');
                self.output.set_heading(level);
            }
            "ul" | "menu" | "dir" => self.open(OutputContainer::List { next: None }),
            "ol" => self.open(OutputContainer::List {
                next: Some(
                    attribute(tag, "start")
                        .and_then(|start| start.parse().ok())
                        .unwrap_or(1),
                ),
            }),
            "li" => self.open_item(),
            "blockquote" => self.open(OutputContainer::Quote),
            "table" | "tr" | "td" | "th" | "caption" => self.start_in_table(&name),
            other if BLOCKS.contains(&other) => self.flush(),
            _ => {}
        }
    }

    fn end_tag(&mut self, tag: &EndTag<()>) {
        let name = String::from_utf8_lossy(&tag.name);
        if let Some(skip) = &mut self.skip {
            skip.depth -= usize::from(skip.name == name);
            if skip.depth == 0 {
                self.skip = None;
            }
            return;
        }
        match &*name {
            "pre" | "listing" | "xmp" => self.close_preformatted(),
            _ if self.preformatted.is_some() => {}
            "title" => self.is_in_title = false,
            "a" => self.inline.close_link(),
            "b" | "strong" => self.inline.close(Mark::Strong),
            "i" | "em" => self.inline.close(Mark::Emphasis),
            "s" | "del" | "strike" => self.inline.close(Mark::Deleted),
            "code" | "kbd" | "samp" | "tt" => self.inline.close(Mark::Code),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.flush();
                self.output.set_heading(0);
            }
            "ul" | "menu" | "dir" | "ol" => {
                self.flush();
                self.output.close_list();
            }
            "li" => {
                self.flush();
                self.output.close_item();
            }
            "blockquote" => {
                self.flush();
                self.output.close_quote();
            }
            "table" | "tr" | "td" | "th" | "caption" => self.end_in_table(&name),
            other if BLOCKS.contains(&other) => self.flush(),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if self.skip.is_some() {
            return;
        }
        if self.is_in_title {
            let title = self.title.get_or_insert_default();
            let room = TITLE_CHARS_MAX.saturating_sub(title.chars().count());
            title.extend(text.chars().take(room));
        } else if let Some((preformatted, _)) = &mut self.preformatted {
            preformatted.push_str(text);
        } else {
            self.inline.push_text(text);
        }
    }

    /// Ends the current paragraph, cell line or heading.
    fn flush(&mut self) {
        let text = self.inline.take();
        match &mut self.table {
            Some(table) => table.add_text(&text),
            None => self.output.add_block(&text),
        }
    }

    fn add_line(&mut self, line: &str) {
        self.flush();
        if self.table.is_none() {
            self.output.add_block(line);
        }
    }

    fn open(&mut self, container: OutputContainer) {
        self.flush();
        if self.table.is_none() {
            self.output.open(container);
        }
    }

    fn open_item(&mut self) {
        self.flush();
        match &mut self.table {
            Some(table) => table.add_text("•"),
            None => self.output.open_item(),
        }
    }

    fn set_base(&mut self, tag: &StartTag<()>) {
        let href = attribute(tag, "href").and_then(|href| self.base.join(&href).ok());
        if let Some(base) = href {
            self.base = base;
        }
    }

    fn add_image(&mut self, tag: &StartTag<()>) {
        let alt = attribute(tag, "alt").unwrap_or_default();
        let alt = alt.split_whitespace().collect::<Vec<_>>().join(" ");
        let source = attribute(tag, "src").and_then(|source| self.resolve(&source));
        match source.filter(|_| !alt.is_empty()) {
            Some(source) => self.inline.push_text(&format!("![{alt}]({source})")),
            None => self.inline.push_text(&alt),
        }
    }

    fn open_link(&mut self, tag: &StartTag<()>) {
        // Links do not nest.
        self.inline.close_link();
        if let Some(href) = attribute(tag, "href").and_then(|href| self.resolve(&href)) {
            self.inline.open(Mark::Link(href));
        }
    }

    /// An absolute link. `None` if it leads to another part of the page, or to neither a web page nor
    /// a mail address, such as a script.
    fn resolve(&self, href: &str) -> Option<String> {
        let href = href.trim();
        if href.is_empty() || href.starts_with('#') {
            return None;
        }
        let url = self.base.join(href).ok()?;
        let is_link = matches!(url.scheme(), "http" | "https" | "mailto");
        // Parentheses would end a Markdown link.
        let text = || url.as_str().replace('(', "%28").replace(')', "%29");
        is_link.then(text)
    }

    fn start_in_preformatted(&mut self, name: &str, tag: &StartTag<()>) {
        if let Some((text, language_name)) = &mut self.preformatted {
            match name {
                "br" => text.push('\n'),
                "code" if language_name.is_empty() => *language_name = language(tag),
                _ => {}
            }
        }
    }

    fn close_preformatted(&mut self) {
        let Some((text, language)) = self.preformatted.take() else {
            return;
        };
        match &mut self.table {
            Some(table) => table.add_text(&text),
            None => self.output.add_code(&text, &language),
        }
    }

    fn start_in_table(&mut self, name: &str) {
        self.flush();
        match (&mut self.table, name) {
            (Some(table), "table") => table.open_nested(),
            (None, "table") => self.table = Some(TableBuilder::default()),
            (Some(table), "tr") => table.start_row(),
            (Some(table), "td") => table.start_cell(false),
            (Some(table), "th") => table.start_cell(true),
            _ => {}
        }
    }

    fn end_in_table(&mut self, name: &str) {
        self.flush();
        if name == "table"
            && let Some(table) = &mut self.table
            && table.close()
        {
            let markdown = table.to_markdown();
            self.table = None;
            self.output.add_lines(&markdown);
        }
    }

    fn finish(mut self) -> Page {
        self.close_preformatted();
        self.flush();
        if let Some(table) = self.table.take() {
            self.output.add_lines(&table.to_markdown());
        }
        let title = self.title.unwrap_or_default();
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_truncated = self.output.is_full();
        Page {
            title: Some(title).filter(|title| !title.is_empty()),
            markdown: self.output.finish(),
            is_truncated,
        }
    }
}

#[cfg(test)]
mod tests;
