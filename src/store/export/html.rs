//! A page without scripts that loads nothing: all text is escaped, HTML in answers is shown as
//! text, images become links, and links lead only to web and mail addresses.

use super::{ExportedConversation, ExportedMessage};
use crate::domain::session::MessageRole;
use pulldown_cmark::{CowStr, Event, LinkType, Options, Parser, Tag, TagEnd, html};
use url::Url;

/// The only schemes to which links may lead.
const SCHEMES: [&str; 3] = ["http", "https", "mailto"];

/// The Content-Security-Policy. Blocks anything that escaping might miss.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

const STYLE: &str = "
:root { color-scheme: light dark; }
body { margin: 2rem auto; padding: 0 1rem; max-width: 46rem;
  font: 1rem/1.55 system-ui, 'Noto Sans KR', 'Apple SD Gothic Neo', 'Malgun Gothic', sans-serif; }
h1 { font-size: 1.5rem; margin-bottom: .2rem; }
h2.speaker { font-size: .85rem; margin: 2rem 0 .4rem; opacity: .65; }
.subtitle { opacity: .65; margin-top: 0; }
.prompt { white-space: pre-wrap; overflow-wrap: anywhere; border-left: .25rem solid #39a;
  padding-left: .8rem; }
.answer { overflow-wrap: anywhere; }
pre { overflow-x: auto; padding: .7rem .9rem; background: #8881; border-radius: .3rem; }
code { font-family: ui-monospace, 'D2Coding', monospace; font-size: .92em; }
table { border-collapse: collapse; }
th, td { border: 1px solid #8886; padding: .25rem .6rem; }
blockquote { margin-left: 0; padding-left: .8rem; border-left: .25rem solid #8886; }
@media print {
  body { margin: 0; max-width: none; font-size: 11pt; }
  pre { white-space: pre-wrap; background: none; border: 1px solid #ccc; }
  h2.speaker { break-after: avoid; }
  tr, blockquote { break-inside: avoid; }
}
";

pub(super) fn render(exported: &ExportedConversation) -> String {
    let (title, subtitle) = (escape(&exported.title), escape(&exported.subtitle()));
    let mut page = format!(
        "<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <h1>{title}</h1>\n<p class=\"subtitle\">{subtitle}</p>\n"
    );
    for message in exported.with_cancelled() {
        if !exported.answers_only {
            let speaker = escape(&exported.speaker(&message));
            page += &format!("<h2 class=\"speaker\">{speaker}</h2>\n");
        }
        page += &message_html(&message);
    }
    page + "</body>\n</html>\n"
}

/// Prompts are shown as they were typed.
fn message_html(message: &ExportedMessage) -> String {
    match message.role {
        MessageRole::Assistant => {
            let answer = markdown_html(&message.text);
            format!("<div class=\"answer\">\n{answer}</div>\n")
        }
        _ => format!("<div class=\"prompt\">{}</div>\n", escape(&message.text)),
    }
}

fn markdown_html(markdown: &str) -> String {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let events = Parser::new_ext(markdown, options).map(harmless);
    let mut out = String::with_capacity(markdown.len() * 2);
    html::push_html(&mut out, events);
    out
}

/// Shows HTML as text, turns images into links, and disables links without one of the [`SCHEMES`].
fn harmless(event: Event) -> Event {
    match event {
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        Event::Start(Tag::Link {
            link_type,
            dest_url,
            title,
            id,
        }) => {
            let dest_url = harmless_target(link_type, dest_url);
            Event::Start(Tag::Link {
                link_type: LinkType::Inline,
                dest_url,
                title,
                id,
            })
        }
        // Loading an image would reveal to its server that the page was opened.
        Event::Start(Tag::Image {
            link_type,
            dest_url,
            title,
            id,
        }) => Event::Start(Tag::Link {
            link_type: LinkType::Inline,
            dest_url: harmless_target(link_type, dest_url),
            title,
            id,
        }),
        Event::End(TagEnd::Image) => Event::End(TagEnd::Link),
        other => other,
    }
}

/// The target of a link, or `#` unless it is a web or mail address. Browsers ignore control
/// characters and case in a scheme, and so does the parser of URLs.
fn harmless_target<'a>(link_type: LinkType, target: CowStr<'a>) -> CowStr<'a> {
    if link_type == LinkType::Email {
        return format!("mailto:{target}").into();
    }
    let scheme = Url::parse(&target).map(|url| url.scheme().to_owned());
    match scheme.is_ok_and(|scheme| SCHEMES.contains(&scheme.as_str())) {
        true => target,
        false => "#".into(),
    }
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}
