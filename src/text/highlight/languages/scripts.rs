//! Scripting languages and those of numbers and tables.

use crate::text::highlight::Token;
use crate::text::highlight::keywords::words;
use crate::text::highlight::language::{
    BRACE, Block, Capitals, Code, DOLLAR_PAREN, Family, Form, HASH_BRACE, Language, Quote,
};

pub(super) const ALL: &[&Language] = &[
    &PYTHON, &RUBY, &PERL, &LUA, &R, &JULIA, &MATLAB, &SQL, &LATEX,
];

const FORMATTED: &[&str] = &["f", "rf", "fr", "t"];
const PREFIXED: &[&str] = &["", "b", "r", "u", "br", "rb"];

static PYTHON: Language = Language {
    name: "python",
    aliases: &["py", "python3", "py3", "pyi", "pyw", "pycon", "ipython", "gdscript", "starlark", "bzl", "mojo"],
    family: Family::Code(
        &Code {
            comments: &["#"],
            quotes: &[
                Quote::TRIPLE_DOUBLE.behind(FORMATTED).holding(BRACE),
                Quote::TRIPLE_SINGLE.behind(FORMATTED).holding(BRACE),
                Quote::DOUBLE.behind(FORMATTED).holding(BRACE),
                Quote::SINGLE.behind(FORMATTED).holding(BRACE),
                Quote::TRIPLE_DOUBLE.behind(PREFIXED),
                Quote::TRIPLE_SINGLE.behind(PREFIXED),
                Quote::DOUBLE.behind(PREFIXED),
                Quote::SINGLE.behind(PREFIXED),
            ],
            words: words!(Keyword: "and as assert async await break case continue del elif else except \
                    finally for from global if import in is lambda match nonlocal not or pass raise \
                    return try while with yield self cls",
                NamesFunction: "def", NamesType: "class",
                Type: "bool bytes dict float frozenset int list object set str tuple",
                Constant: "True False None NotImplemented Ellipsis"),
            capitals: Capitals::Types,
            sigils: &[("@", Token::Function)],
            prompts: &[">>> ", "... "],
            ..Code::BARE
        }
        .indexed(),
    ),
};

static RUBY: Language = Language {
    name: "ruby",
    aliases: &["rb", "rake", "rakefile", "gemfile", "gemspec", "irb", "crystal", "cr", "podfile", "vagrantfile"],
    family: Family::Code(
        &Code {
            comments: &["#"],
            blocks: &[Block::new("=begin", "=end").starting_a_line()],
            quotes: &[
                Quote::DOUBLE.over_lines().holding(HASH_BRACE),
                Quote::SINGLE.over_lines(),
                Quote::new("`", "`").escaped().holding(HASH_BRACE),
            ],
            words: words!(Keyword: "alias and begin break case do else elsif end ensure for if in next not \
                    or redo rescue retry return self super then undef unless until when while yield \
                    require require_relative include extend attr_accessor attr_reader attr_writer \
                    private protected public raise lambda proc loop",
                NamesFunction: "def", NamesType: "class module", Constant: "true false nil __FILE__"),
            word_ends: "?!",
            capitals: Capitals::Types,
            colon_keys: true,
            sigils: &[
                ("@@", Token::Key),
                ("@", Token::Key),
                ("$", Token::Key),
                (":", Token::Number),
            ],
            regex: true,
            heredoc: "<<",
            percent: b'%',
            ..Code::BARE
        }
        .indexed(),
    ),
};

static PERL: Language = Language {
    name: "perl",
    aliases: &["pl", "pm", "raku"],
    family: Family::Code(
        &Code {
            comments: &["#"],
            blocks: &[
                Block::new("=pod", "=cut").starting_a_line(),
                Block::new("=head", "=cut").starting_a_line(),
                Block::new("=over", "=cut").starting_a_line(),
                Block::new("=begin", "=cut").starting_a_line(),
            ],
            quotes: &[
                Quote::DOUBLE.over_lines().variables(),
                Quote::SINGLE.over_lines(),
                Quote::new("`", "`").escaped(),
            ],
            words: words!(Keyword: "and cmp continue die do else elsif eq eval for foreach ge given gt if \
                    last le local lt my ne next no not or our redo require return say state unless \
                    until use wantarray when while xor print printf push shift keys values",
                NamesFunction: "sub", NamesType: "package", Constant: "undef __FILE__ __LINE__"),
            capitals: Capitals::TypesUnlessCalled,
            sigils: &[("$", Token::Key), ("@", Token::Key), ("%", Token::Key)],
            regex: true,
            heredoc: "<<",
            quote_words: &["q", "qq", "qw", "qr", "qx", "m", "s", "tr", "y"],
            ..Code::BARE
        }
        .indexed(),
    ),
};

static LUA: Language = Language {
    name: "lua",
    aliases: &["luau", "moonscript"],
    family: Family::Code(
        &Code {
            comments: &["--"],
            blocks: &[Block::new("--[[", "]]"), Block::new("--[==[", "]==]"), Block::new("--[=[", "]=]")],
            quotes: &[
                Quote::DOUBLE,
                Quote::SINGLE,
                Quote::new("[[", "]]").over_lines().form(Form::Levels),
            ],
            words: words!(Keyword: "and break do else elseif end for goto if in local not or repeat \
                    return then until while self",
                NamesFunction: "function",
                Function: "assert error ipairs next pairs pcall print require select setmetatable \
                    tonumber tostring type unpack",
                Constant: "true false nil"),
            ..Code::BARE
        }
        .indexed(),
    ),
};

static R: Language = Language {
    name: "r",
    aliases: &["rscript", "splus", "rmd"],
    family: Family::Code(
        &Code {
            comments: &["#"],
            quotes: &[Quote::DOUBLE.over_lines(), Quote::SINGLE.over_lines(), Quote::new("`", "`")],
            words: words!(Keyword: "break else for function if in next repeat return while library require",
                Constant: "TRUE FALSE NULL NA NaN Inf NA_integer_ NA_real_ NA_character_"),
            word_holds: ".",
            ..Code::BARE
        }
        .indexed(),
    ),
};

static JULIA: Language = Language {
    name: "julia",
    aliases: &["jl"],
    family: Family::Code(
        &Code {
            comments: &["#"],
            blocks: &[Block::new("#=", "=#").nesting()],
            quotes: &[
                Quote::TRIPLE_DOUBLE.behind(PREFIXED).holding(DOLLAR_PAREN).variables(),
                Quote::DOUBLE.behind(&["", "r", "raw", "b", "v"]).over_lines().holding(DOLLAR_PAREN).variables(),
                Quote::new("`", "`").escaped(),
            ],
            words: words!(Keyword: "abstract baremodule begin break catch const continue do else elseif \
                    end export finally for global if import in isa let local module quote return try \
                    using where while mutable primitive",
                NamesFunction: "function macro", NamesType: "struct type",
                Constant: "true false nothing missing Inf NaN pi"),
            word_ends: "!",
            capitals: Capitals::Types,
            chars: true,
            sigils: &[("@", Token::Function), (":", Token::Number)],
            prompts: &["julia> "],
            ..Code::BARE
        }
        .indexed(),
    ),
};

static MATLAB: Language = Language {
    name: "matlab",
    aliases: &["octave"],
    family: Family::Code(
        &Code {
            comments: &["%", "#"],
            quotes: &[Quote::new("\"", "\""), Quote::new("'", "'")],
            words: words!(Keyword: "break case catch classdef continue else elseif end endfor endfunction \
                    endif endwhile for global if methods otherwise parfor persistent properties \
                    return switch try while",
                NamesFunction: "function", Constant: "true false pi Inf NaN eps"),
            apostrophes: true,
            prompts: &[">> "],
            ..Code::BARE
        }
        .indexed(),
    ),
};

static SQL: Language = Language {
    name: "sql",
    aliases: &["mysql", "postgresql", "postgres", "pgsql", "plpgsql", "sqlite", "tsql", "plsql", "mariadb", "duckdb", "bigquery", "cql", "hql", "ddl"],
    family: Family::Code(
        &Code {
            comments: &["--"],
            blocks: &[Block::C],
            quotes: &[
                Quote::new("'", "'").over_lines(),
                Quote::new("\"", "\""),
                Quote::new("`", "`"),
            ],
            words: words!(Keyword: SQL_QUERIES, Keyword: SQL_DEFINITIONS,
                Type: "bigint bigserial binary bit blob boolean bool bytea char character date datetime \
                    decimal double float int integer interval json jsonb money nchar numeric nvarchar \
                    real serial smallint text time timestamp timestamptz tinyint uuid varbinary \
                    varchar xml",
                Function: "coalesce count sum avg min max now",
                Constant: "true false null"),
            folds_case: true,
            sigils: &[("@", Token::Key), (":", Token::Key), ("$", Token::Key)],
            ..Code::BARE
        }
        .indexed(),
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
    aliases: &["tex", "bibtex", "bib", "sty"],
    family: Family::Code(
        &Code {
            comments: &["%"],
            quotes: &[
                Quote::new("$$", "$$").escaped().over_lines(),
                Quote::new("$", "$").escaped(),
            ],
            calls: false,
            sigils: &[("\\", Token::Keyword), ("@", Token::Type)],
            escapes: true,
            ..Code::BARE
        }
        .indexed(),
    ),
};
