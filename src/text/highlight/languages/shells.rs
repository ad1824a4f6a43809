//! Shells, and files that consist of commands.

use crate::text::highlight::Token;
use crate::text::highlight::keywords::words;
use crate::text::highlight::language::{
    BlockComment, CapitalizedNames, CodeSyntax, DOLLAR_PAREN, Language, LexerKind, StringSyntax,
};

pub(super) const ALL: &[&Language] = &[
    &BASH,
    &CONSOLE,
    &FISH,
    &POWERSHELL,
    &BATCH,
    &DOCKERFILE,
    &MAKEFILE,
    &CMAKE,
    &NGINX,
];

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

static FISH: Language = Language {
    name: "fish",
    aliases: "nu nushell",
    lexer: LexerKind::Code(
        &CodeSyntax {
            keywords: words!(Keyword: "and begin command else end exec if not or time while",
                NamesFunction: "function",
                TakesOperands: "break case continue for in return set switch"),
            ..SHELL
        }
        .with_special_bytes(),
    ),
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

static BATCH: Language = Language {
    name: "batch",
    aliases: "bat cmd dos batchfile",
    lexer: LexerKind::Code(
        &CodeSyntax {
            line_comments: &["::", "REM ", "rem "],
            strings: &[StringSyntax::new("\"", "\"")],
            keywords: words!(Keyword: "call cd choice cls copy defined del do echo else endlocal errorlevel exist \
                    exit for goto if in md mkdir move not pause popd pushd rd ren rmdir set setlocal \
                    shift start title type xcopy"),
            folds_case: true,
            sigils: &[(":", Token::Function), ("%", Token::Key), ("/", Token::Key)],
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

static CMAKE: Language = Language {
    name: "cmake",
    aliases: "cmakelists.txt",
    lexer: LexerKind::Code(
        &CodeSyntax {
            line_comments: &["#"],
            block_comments: &[BlockComment::new("#[[", "]]")],
            strings: &[StringSyntax::DOUBLE.multiline()],
            keywords: words!(Keyword: "if elseif else endif foreach endforeach while endwhile function \
                    endfunction macro endmacro return break continue include and or not defined \
                    matches strequal equal",
                Constant: "on off true false"),
            folds_case: true,
            capitals: CapitalizedNames::TypesUnlessCalled,
            sigils: &[("${", Token::Key), ("$", Token::Key)],
            ..CodeSyntax::BARE
        }
        .with_special_bytes(),
    ),
};

static NGINX: Language = Language {
    name: "nginx",
    aliases: "nginxconf caddyfile caddy apache apacheconf",
    lexer: LexerKind::Code(
        &CodeSyntax {
            keywords: words!(TakesOperands: "break events geo http if include internal limit_except location map mail \
                return rewrite server set split_clients stream types upstream"),
            extra_word_chars: "-.+:/",
            extra_word_starts: "/~",
            ..SHELL_LIKE
        }
        .with_special_bytes(),
    ),
};
