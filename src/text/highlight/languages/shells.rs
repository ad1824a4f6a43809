//! Shells, and files that consist of commands.

use crate::text::highlight::Token;
use crate::text::highlight::keywords::words;
use crate::text::highlight::language::{
    BlockComment, CapitalizedNames, CodeSyntax, DOLLAR_PAREN, Language, LexerKind, StringSyntax,
};

pub(super) const ALL: &[&Language] = &[&BASH, &CONSOLE, &POWERSHELL, &DOCKERFILE, &MAKEFILE];

const SHELL_LIKE: CodeSyntax = CodeSyntax {
    line_comments: &["#"],
    comments_need_space: true,
    strings: &[
        StringSyntax::new("$'", "'")
            .with_backslash_escapes()
            .multiline(),
        StringSyntax::DOUBLE
            .multiline()
            .with_interpolation(DOLLAR_PAREN)
            .with_variables(),
        StringSyntax::new("'", "'").multiline(),
    ],
    keywords: words!(Keyword: "builtin command coproc do done elif else env esac eval exec fi if nohup sudo \
            then time until while xargs",
        NamesFunction: "function",
        TakesOperands: "alias break case continue declare exit export for in local readonly return select \
            set shift source trap typeset unset"),
    extra_word_starts: "./~",
    extra_word_chars: "-./+:",
    has_paren_calls: true,
    is_command_language: true,
    sigils: &[
        ("${", Token::Key),
        ("$", Token::Key),
        ("--", Token::Key),
        ("-", Token::Key),
    ],
    has_bare_escapes: true,
    heredoc_start: "<<",
    ..CodeSyntax::BARE
};
const SHELL: CodeSyntax = CodeSyntax {
    prompts: &["$ "],
    ..SHELL_LIKE
}
.with_special_bytes();
/// A shell without prompts: for makefile recipes, and for sessions, in which `lex_session` recognizes
/// the prompts.
const COMMANDS: CodeSyntax = SHELL_LIKE.with_special_bytes();

static BASH: Language = Language {
    name: "bash",
    aliases: "sh shell zsh ksh dash bashrc zshrc shellscript bats pkgbuild",
    lexer: LexerKind::Code(&SHELL),
};

static CONSOLE: Language = Language {
    name: "console",
    aliases: "shell-session shellsession sh-session bash-session terminal",
    lexer: LexerKind::Session(&COMMANDS),
};

static POWERSHELL: Language = Language {
    name: "powershell",
    aliases: "ps1 pwsh posh psm1 psd1",
    lexer: LexerKind::Code(
        &CodeSyntax {
            line_comments: &["#"],
            block_comments: &[BlockComment::new("<#", "#>")],
            strings: &[
                StringSyntax::new("@\"", "\"@").multiline().with_variables(),
                StringSyntax::new("@'", "'@").multiline(),
                StringSyntax {
                    escape: b'`',
                    ..StringSyntax::new("\"", "\"").multiline().with_interpolation(DOLLAR_PAREN).with_variables()
                },
                StringSyntax::new("'", "'").multiline(),
            ],
            keywords: words!(Keyword: "begin break catch continue do else elseif end exit finally for foreach \
                    from if in param process return switch throw trap try until using while",
                NamesFunction: "function filter", NamesType: "class enum"),
            folds_case: true,
            extra_word_chars: "-",
            has_dashed_calls: true,
            capitals: CapitalizedNames::Types,
            sigils: &[("$", Token::Key), ("-", Token::Key)],
            prompts: &["PS> ", "> "],
            ..CodeSyntax::BARE
        }
        .with_special_bytes(),
    ),
};

static DOCKERFILE: Language = Language {
    name: "dockerfile",
    aliases: "docker containerfile",
    lexer: LexerKind::Code(
        &CodeSyntax {
            keywords: words!(Keyword: "CMD ENTRYPOINT HEALTHCHECK ONBUILD RUN",
                TakesOperands: "ADD ARG AS COPY ENV EXPOSE FROM LABEL MAINTAINER SHELL STOPSIGNAL USER \
                    VOLUME WORKDIR"),
            ..SHELL_LIKE
        }
        .with_special_bytes(),
    ),
};

static MAKEFILE: Language = Language {
    name: "makefile",
    aliases: "make mk mak gnumakefile just justfile",
    lexer: LexerKind::Make(&COMMANDS),
};
