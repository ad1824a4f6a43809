//! Data, settings, pages and the like.

use crate::text::highlight::keywords::words;
use crate::text::highlight::language::{Capitals, Code, Family, Language, Quote};

pub(super) const ALL: &[&Language] = &[
    &JSON, &TOML, &YAML, &INI, &HTML, &XML, &CSS, &MARKDOWN, &DIFF,
];

static JSON: Language = Language {
    name: "json",
    aliases: &[
        "jsonc",
        "json5",
        "jsonl",
        "ndjson",
        "geojson",
        "webmanifest",
        "ipynb",
        "hjson",
        "har",
    ],
    family: Family::Code(
        &Code {
            words: words!(Constant: "true false null Infinity NaN undefined"),
            word_starts: "$",
            word_holds: "$-",
            colon_keys: true,
            quoted_keys: true,
            calls: false,
            capitals: Capitals::Plain,
            ..Code::C_LIKE
        }
        .indexed(),
    ),
};

static TOML: Language = Language {
    name: "toml",
    aliases: &["cargo.lock", "pipfile"],
    family: Family::Code(
        &Code {
            comments: &["#"],
            quotes: &[
                Quote::TRIPLE_DOUBLE,
                Quote::TRIPLE_SINGLE.raw(),
                Quote::DOUBLE,
                Quote::new("'", "'"),
            ],
            words: words!(Constant: "true false inf nan"),
            word_holds: "-.",
            calls: false,
            assigned_keys: true,
            quoted_keys: true,
            sections: true,
            ..Code::BARE
        }
        .indexed(),
    ),
};

static YAML: Language = Language {
    name: "yaml",
    aliases: &[
        "yml",
        "docker-compose",
        "compose",
        "k8s",
        "kubernetes",
        "ansible",
        "openapi",
        "helm",
    ],
    family: Family::Yaml,
};

static INI: Language = Language {
    name: "ini",
    aliases: &[
        "properties",
        "conf",
        "cfg",
        "config",
        "dosini",
        "env",
        "dotenv",
        "editorconfig",
        "gitconfig",
        "systemd",
        "service",
        "desktop",
    ],
    family: Family::Ini,
};

static HTML: Language = Language {
    name: "html",
    aliases: &[
        "htm",
        "xhtml",
        "vue",
        "svelte",
        "astro",
        "handlebars",
        "hbs",
        "jinja",
        "jinja2",
        "django",
        "twig",
        "ejs",
        "erb",
        "liquid",
    ],
    family: Family::Markup,
};

static XML: Language = Language {
    name: "xml",
    aliases: &[
        "svg", "rss", "xsd", "xsl", "xslt", "plist", "wsdl", "csproj", "xaml", "pom", "mathml",
        "atom",
    ],
    family: Family::Markup,
};

pub(in super::super) static CSS: Language = Language {
    name: "css",
    aliases: &["scss", "sass", "less", "stylus", "postcss"],
    family: Family::Css,
};

static MARKDOWN: Language = Language {
    name: "markdown",
    aliases: &["md", "mdx", "mkd", "mdown", "qmd"],
    family: Family::Markdown,
};

static DIFF: Language = Language {
    name: "diff",
    aliases: &["patch", "udiff", "git-diff"],
    family: Family::Diff,
};
