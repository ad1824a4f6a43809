//! Scripting, scientific and query languages, and LaTeX.

use crate::text::highlight::Token;
use crate::text::highlight::keywords::words;
use crate::text::highlight::language::{
    BRACE, BlockComment, CapitalizedNames, CodeSyntax, HASH_BRACE, Language, LexerKind,
    StringDelimiter, StringSyntax,
};

pub(super) const ALL: &[&Language] = &[&PYTHON, &RUBY, &LUA, &R, &SQL, &LATEX];

const FORMAT_PREFIXES: &[&str] = &["f", "rf", "fr", "t"];
const PLAIN_PREFIXES: &[&str] = &["", "b", "r", "u", "br", "rb"];

static PYTHON: Language = Language {
    name: "python",
    aliases: "py python3 py3 pyi pyw pycon ipython gdscript starlark bzl mojo",
    lexer: LexerKind::Code(
        &CodeSyntax {
            line_comments: &["#"],
            strings: &[
                StringSyntax::TRIPLE_DOUBLE.with_prefixes(FORMAT_PREFIXES).with_interpolation(BRACE),
                StringSyntax::TRIPLE_SINGLE.with_prefixes(FORMAT_PREFIXES).with_interpolation(BRACE),
                StringSyntax::DOUBLE.with_prefixes(FORMAT_PREFIXES).with_interpolation(BRACE),
                StringSyntax::SINGLE.with_prefixes(FORMAT_PREFIXES).with_interpolation(BRACE),
                StringSyntax::TRIPLE_DOUBLE.with_prefixes(PLAIN_PREFIXES),
                StringSyntax::TRIPLE_SINGLE.with_prefixes(PLAIN_PREFIXES),
                StringSyntax::DOUBLE.with_prefixes(PLAIN_PREFIXES),
                StringSyntax::SINGLE.with_prefixes(PLAIN_PREFIXES),
            ],
            keywords: words!(Keyword: "and as assert async await break case continue del elif else except \
                    finally for from global if import in is lambda match nonlocal not or pass raise \
                    return try while with yield self cls",
                NamesFunction: "def", NamesType: "class",
                Type: "bool bytes dict float frozenset int list object set str tuple",
                Constant: "True False None NotImplemented Ellipsis"),
            capitals: CapitalizedNames::Types,
            sigils: &[("@", Token::Function)],
            prompts: &[">>> ", "... "],
            ..CodeSyntax::BARE
        }
        .with_special_bytes(),
    ),
};

static RUBY: Language = Language {
    name: "ruby",
    aliases: "rb rake rakefile gemfile gemspec irb crystal cr podfile vagrantfile",
    lexer: LexerKind::Code(
        &CodeSyntax {
            line_comments: &["#"],
            block_comments: &[BlockComment::new("=begin", "=end").at_line_start()],
            strings: &[
                StringSyntax::DOUBLE.multiline().with_interpolation(HASH_BRACE),
                StringSyntax::SINGLE.multiline(),
                StringSyntax::new("`", "`").with_backslash_escapes().with_interpolation(HASH_BRACE),
            ],
            keywords: words!(Keyword: "alias and begin break case do else elsif end ensure for if in next not \
                    or redo rescue retry return self super then undef unless until when while yield \
                    require require_relative include extend attr_accessor attr_reader attr_writer \
                    private protected public raise lambda proc loop",
                NamesFunction: "def", NamesType: "class module", Constant: "true false nil __FILE__"),
            extra_word_ends: "?!",
            capitals: CapitalizedNames::Types,
            has_colon_keys: true,
            sigils: &[
                ("@@", Token::Key),
                ("@", Token::Key),
                ("$", Token::Key),
                (":", Token::Number),
            ],
            has_regex_literals: true,
            heredoc_start: "<<",
            percent_literal_byte: b'%',
            ..CodeSyntax::BARE
        }
        .with_special_bytes(),
    ),
};

static LUA: Language = Language {
    name: "lua",
    aliases: "luau moonscript",
    lexer: LexerKind::Code(
        &CodeSyntax {
            line_comments: &["--"],
            block_comments: &[BlockComment::new("--[[", "]]"), BlockComment::new("--[==[", "]==]"), BlockComment::new("--[=[", "]=]")],
            strings: &[
                StringSyntax::DOUBLE,
                StringSyntax::SINGLE,
                StringSyntax::new("[[", "]]").multiline().with_delimiter(StringDelimiter::Levels),
            ],
            keywords: words!(Keyword: "and break do else elseif end for goto if in local not or repeat \
                    return then until while self",
                NamesFunction: "function",
                Function: "assert error ipairs next pairs pcall print require select setmetatable \
                    tonumber tostring type unpack",
                Constant: "true false nil"),
            ..CodeSyntax::BARE
        }
        .with_special_bytes(),
    ),
};

static R: Language = Language {
    name: "r",
    aliases: "rscript splus rmd",
    lexer: LexerKind::Code(
        &CodeSyntax {
            line_comments: &["#"],
            strings: &[StringSyntax::DOUBLE.multiline(), StringSyntax::SINGLE.multiline(), StringSyntax::new("`", "`")],
            keywords: words!(Keyword: "break else for function if in next repeat return while library require",
                Constant: "TRUE FALSE NULL NA NaN Inf NA_integer_ NA_real_ NA_character_"),
            extra_word_chars: ".",
            ..CodeSyntax::BARE
        }
        .with_special_bytes(),
    ),
};

static SQL: Language = Language {
    name: "sql",
    aliases: "mysql postgresql postgres pgsql plpgsql sqlite tsql plsql mariadb duckdb \
              bigquery cql hql ddl",
    lexer: LexerKind::Code(
        &CodeSyntax {
            line_comments: &["--"],
            block_comments: &[BlockComment::C],
            strings: &[
                StringSyntax::new("'", "'").multiline(),
                StringSyntax::new("\"", "\""),
                StringSyntax::new("`", "`"),
            ],
            keywords: words!(Keyword: SQL_QUERIES, Keyword: SQL_DEFINITIONS,
                Type: "bigint bigserial binary bit blob boolean bool bytea char character date datetime \
                    decimal double float int integer interval json jsonb money nchar numeric nvarchar \
                    real serial smallint text time timestamp timestamptz tinyint uuid varbinary \
                    varchar xml",
                Function: "coalesce count sum avg min max now",
                Constant: "true false null"),
            folds_case: true,
            sigils: &[("@", Token::Key), (":", Token::Key), ("$", Token::Key)],
            ..CodeSyntax::BARE
        }
        .with_special_bytes(),
    ),
};
const SQL_QUERIES: &str = "all and any as asc between by case collate cross current_date \
    current_timestamp desc distinct else end escape except exists explain fetch first for from full \
    group having if ilike in inner insert intersect into is isnull join lateral left like limit \
    materialized natural next not notnull nulls of offset on or order outer over partition recursive \
    returning right row rows select set similar some then union unique update using values when where \
    window with";
const SQL_DEFINITIONS: &str = "add after alter analyze auto_increment autoincrement before begin cascade \
    check column comment commit conflict constraint copy create database declare default deferrable \
    delete do drop each enable execute exit extension foreach foreign function generated grant identity \
    index key language loop merge nothing only owner policy pragma primary privileges procedure raise \
    references rename replace restrict return returns revoke role rollback savepoint schema security \
    sequence start table temp temporary to top transaction trigger truncate type until use user vacuum \
    view while without";

static LATEX: Language = Language {
    name: "latex",
    aliases: "tex bibtex bib sty",
    lexer: LexerKind::Code(
        &CodeSyntax {
            line_comments: &["%"],
            strings: &[
                StringSyntax::new("$$", "$$")
                    .with_backslash_escapes()
                    .multiline(),
                StringSyntax::new("$", "$").with_backslash_escapes(),
            ],
            has_paren_calls: false,
            sigils: &[("\\", Token::Keyword), ("@", Token::Type)],
            has_bare_escapes: true,
            ..CodeSyntax::BARE
        }
        .with_special_bytes(),
    ),
};
