//! Writes and finds the lines that represent resource links in the text of tool results. A server can
//! write such a line itself, which does no harm: a link is only a name for a request to that server.

const LINKS_MAX: usize = 50;
/// Only this much of a text is searched.
const SEARCHED_BYTES_MAX: usize = 256 << 10;
const BEGIN: &str = "[link: ";
const SEPARATOR: &str = ", ";

/// A link in a result, unsanitized.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceLink {
    pub uri: String,
    /// Title, type and description, where the server provides them.
    pub details: String,
}

/// For example `[link: note://two, Second note, text/plain]`.
pub fn link_line(uri: &str, details: &[&str]) -> String {
    let parts: Vec<&str> = [&[uri], details].concat();
    format!("{BEGIN}{}]", parts.join(SEPARATOR))
}

/// The links in the text of a result, each URI once.
pub fn links_in(text: &str) -> Vec<ResourceLink> {
    let mut links: Vec<ResourceLink> = Vec::new();
    let searched = &text[..text.floor_char_boundary(SEARCHED_BYTES_MAX)];
    for line in searched.lines() {
        let inner = line.strip_prefix(BEGIN);
        let Some(inner) = inner.and_then(|inner| inner.strip_suffix(']')) else {
            continue;
        };
        let (uri, details) = inner.split_once(SEPARATOR).unwrap_or((inner, ""));
        let is_new = !links.iter().any(|link| link.uri == uri);
        // Text without a colon is not a URI, for example the remark that a link has none.
        if is_new && uri.contains(':') && links.len() < LINKS_MAX {
            links.push(ResourceLink {
                uri: uri.to_owned(),
                details: details.to_owned(),
            });
        }
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_in_the_lines_that_represent_them() {
        let text = [
            "Two notes:".to_owned(),
            link_line("note://one", &[]),
            link_line("note://two?a=1,2", &["Second", "text/plain"]),
            link_line("note://one", &["again"]),
            link_line("no URI", &["x"]),
            "[link: cut".to_owned(),
            "see [link: note://three]".to_owned(),
        ]
        .join("\n");
        let link = |uri: &str, details: &str| ResourceLink {
            uri: uri.to_owned(),
            details: details.to_owned(),
        };
        let expected = [
            link("note://one", ""),
            link("note://two?a=1,2", "Second, text/plain"),
        ];
        assert_eq!(links_in(&text), expected);
    }

    #[test]
    fn the_search_for_links_is_bounded() {
        let lines: Vec<String> = (0..1_000)
            .map(|n| link_line(&format!("note://{n}"), &[]))
            .collect();
        assert_eq!(links_in(&lines.join("\n")).len(), LINKS_MAX);
        let late = format!("{}\n{}", "한".repeat(SEARCHED_BYTES_MAX), lines[0]);
        assert!(links_in(&late).is_empty());
    }
}
