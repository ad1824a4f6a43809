//! Pages and the Markdown they become.

use super::*;
use std::time::{Duration, Instant};

fn page(html: &str) -> Page {
    let base = Url::parse("https://example.com/docs/a.html").expect("a URL");
    to_markdown(html, &base)
}

fn markdown(html: &str) -> String {
    page(html).markdown.trim_end().to_owned()
}

#[test]
fn headings_paragraphs_and_emphasis_become_markdown() {
    let html = "<html><head><title> A &amp;\n B </title><style>p { color: red }</style></head>\
        <body><h1>One\n two</h1><p>Some <b>bold </b>and <em>slanted</em> text.<br>Next line\
        <p>5 &lt; 6<h3><span>Three</span></h3><hr>end";
    let page = page(html);
    assert_eq!(page.title.as_deref(), Some("A & B"));
    let expected = "# One two\n\nSome **bold** and *slanted* text.\nNext line\n\n5 < 6\n\n### Three\n\n---\n\nend\n";
    assert_eq!(page.markdown, expected);
}

#[test]
fn links_become_absolute_and_script_links_are_dropped() {
    let html = "<a href='b.html'>B</a> <a href='/c(1)'>C</a> <a href='#top'>top</a> \
        <a href='javascript:alert(1)'>script</a> <a href='https://x.example/'> </a>\
        <img src='i.png' alt='a cat'><img src='t.gif'>";
    let expected = "[B](https://example.com/docs/b.html) [C](https://example.com/c%281%29) top \
        script ![a cat](https://example.com/docs/i.png)";
    assert_eq!(markdown(html), expected);
    let html = "<base href='https://other.example/x/'><a href='y'>Y<p>Z</a>";
    assert_eq!(
        markdown(html),
        "[Y](https://other.example/x/y)\n\n[Z](https://other.example/x/y)"
    );
}

#[test]
fn lists_and_quotes_nest() {
    let html = "<p>Before<ul><li>a<li>b<ol start=3><li>c</li><li><p>d</p><p>e</p></li></ol><li>f</ul>\
        <blockquote><p>q<p>r<ul><li>s</ul></blockquote>after";
    let expected =
        "Before\n\n- a\n- b\n  3. c\n  4. d\n\n     e\n- f\n\n> q\n>\n> r\n>\n> - s\n\nafter";
    assert_eq!(markdown(html), expected);
}

#[test]
fn code_blocks_keep_their_spaces_and_get_a_fence_that_they_do_not_contain() {
    let html = "<p>Run <code>ls  -l</code> and <code>a`b</code>:<pre><code class='hl language-rust'>\
        \nfn main() {\n    <span>x</span> &lt; 1;\n}\n</code></pre><pre>```\n</pre>";
    let expected =
        "Run `ls -l` and ``a`b``:\n\n```rust\nfn main() {\n    x < 1;\n}\n```\n\n````\n```\n````";
    assert_eq!(markdown(html), expected);
}

#[test]
fn tables_become_markdown_and_layout_tables_become_paragraphs() {
    let html = "<table><tr><th>A<th>B<tr><td>1|2<td><p>x</p><p><b>y</b></p></table>";
    assert_eq!(
        markdown(html),
        "| A | B |\n| --- | --- |\n| 1\\|2 | x **y** |"
    );
    let html = "<table><tr><td>1<td>2</table>";
    assert_eq!(markdown(html), "|  |  |\n| --- | --- |\n| 1 | 2 |");
    let html = "<table><tr><td><p>one</p><table><tr><td>two</table>three</table>four";
    assert_eq!(markdown(html), "one\ntwo\nthree\n\nfour");
}

#[test]
fn scripts_and_hidden_elements_are_left_out() {
    let html = "a<script>if (1 < 2) document.write('<p>no</p>')</script>b\
        <div style='Display : NONE'>no<div>no</div>no</div>c<span hidden>no</span>d\
        <svg><title>no</title><text>no</text></svg>e<!-- no --><template>no</template>f\
        <noscript>no</noscript><select><option>no</select>g<svg/>h";
    assert_eq!(markdown(html), "abcdefgh");
}

#[test]
fn broken_html_loses_no_text() {
    for (html, expected) in [
        ("", ""),
        ("</p></ul></table></b>x", "x"),
        ("<b><i>x</b></i>y", "***x***y"),
        ("<li>x", "- x"),
        ("<td>x<td>y", "x\n\ny"),
        ("<p", ""),
        ("a < b & c &bogus; \u{0}", "a < b & c &bogus; \u{0}"),
        ("<h1></h1><p>x", "x"),
        ("<pre>x", "```\nx\n```"),
    ] {
        assert_eq!(markdown(html), expected, "{html}");
    }
}

#[test]
fn hostile_pages_cost_linear_time_and_bounded_memory() {
    let numbered = |count: usize, tag: &str| -> String {
        (0..count)
            .map(|index| format!("<{tag} a={index}>"))
            .collect()
    };
    let attributes: String = (0..75_000).map(|index| format!(" a{index}=1")).collect();
    let pages = [
        ("nested blocks", "<div>".repeat(200_000) + "x"),
        ("nested quotes", "<blockquote>x".repeat(75_000)),
        ("nested lists", "<ul><li>x".repeat(100_000)),
        (
            "nested numbers",
            "<ol start=18446744073709551615><li>".repeat(25_000) + "x",
        ),
        ("nested tables", "<table><tr><td>x".repeat(62_500)),
        ("nested links", "<a href=b>x<p>".repeat(75_000)),
        (
            "formatting reopened in each paragraph",
            numbered(50_000, "b") + &"<p>x".repeat(125_000),
        ),
        ("one paragraph of marks", "<b>x</b> ".repeat(100_000)),
        (
            "wide table",
            "<table><tr>".to_owned() + &"<td>x".repeat(125_000) + &"<tr><td>y".repeat(50_000),
        ),
        ("attributes", format!("<div{attributes}>x")),
        ("closing tags", "x</div></li></ul></b></a>".repeat(50_000)),
        (
            "lines in a quote",
            "<blockquote>".repeat(12) + "<pre>" + &"\n.".repeat(250_000),
        ),
        ("line breaks", "<br>".repeat(250_000)),
        ("a comment without end", "<!--".repeat(250_000)),
        ("entities", "&amp".repeat(250_000)),
    ];
    for (name, html) in pages {
        let started = Instant::now();
        let page = page(&html);
        let elapsed = started.elapsed();
        assert!(elapsed < Duration::from_secs(5), "{name}: {elapsed:?}");
        assert!(page.markdown.len() <= output::OUTPUT_BYTES_MAX, "{name}");
    }
}
