//! Formats for data, configuration, documents and diffs.

use crate::text::highlight::keywords::words;
use crate::text::highlight::language::{
    CapitalizedNames, CodeSyntax, Language, LexerKind, StringSyntax,
};

pub(super) const ALL: &[&Language] = &[
    &JSON, &TOML, &YAML, &INI, &HTML, &XML, &CSS, &MARKDOWN, &DIFF,
];

static JSON: Language = Language {
    name: "json",
    aliases: "jsonc json5 jsonl ndjson geojson webmanifest ipynb hjson har",
    lexer: LexerKind::Code(
        &CodeSyntax {
            keywords: words!(Constant: "true false null Infinity NaN undefined"),
            extra_word_starts: "$",
            extra_word_chars: "$-",
            has_colon_keys: true,
            has_quoted_keys: true,
            has_paren_calls: false,
            capitals: CapitalizedNames::Plain,
            ..CodeSyntax::C_LIKE
        }
        .with_special_bytes(),
    ),
};

static TOML: Language = Language {
    name: "toml",
    aliases: "cargo.lock pipfile",
    lexer: LexerKind::Code(
        &CodeSyntax {
            line_comments: &["#"],
            strings: &[
                StringSyntax::TRIPLE_DOUBLE,
                StringSyntax::TRIPLE_SINGLE.without_escapes(),
                StringSyntax::DOUBLE,
                StringSyntax::new("'", "'"),
            ],
            keywords: words!(Constant: "true false inf nan"),
            extra_word_chars: "-.",
            has_paren_calls: false,
            has_assigned_keys: true,
            has_quoted_keys: true,
            has_section_headers: true,
            ..CodeSyntax::BARE
        }
        .with_special_bytes(),
    ),
};

static YAML: Language = Language {
    name: "yaml",
    aliases: "yml docker-compose compose k8s kubernetes ansible openapi helm",
    lexer: LexerKind::Yaml,
};

static INI: Language = Language {
    name: "ini",
    aliases: "properties conf cfg config dosini env dotenv editorconfig gitconfig systemd \
              service desktop",
    lexer: LexerKind::Ini,
};

static HTML: Language = Language {
    name: "html",
    aliases: "htm xhtml vue svelte astro handlebars hbs jinja jinja2 django twig ejs erb liquid",
    lexer: LexerKind::Markup,
};

static XML: Language = Language {
    name: "xml",
    aliases: "svg rss xsd xsl xslt plist wsdl csproj xaml pom mathml atom",
    lexer: LexerKind::Markup,
};

pub(in super::super) static CSS: Language = Language {
    name: "css",
    aliases: "scss sass less stylus postcss",
    lexer: LexerKind::Css,
};

static MARKDOWN: Language = Language {
    name: "markdown",
    aliases: "md mdx mkd mdown qmd",
    lexer: LexerKind::Markdown,
};

static DIFF: Language = Language {
    name: "diff",
    aliases: "patch udiff git-diff",
    lexer: LexerKind::Diff,
};
