//! Shells and the files that hold commands.

use crate::text::highlight::Token;
use crate::text::highlight::keywords::words;
use crate::text::highlight::language::{
    Block, Capitals, Code, DOLLAR_PAREN, Family, Language, Quote,
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

const SHELL_LIKE: Code = Code {
    comments: &["#"],
    comments_spaced: true,
    quotes: &[
        Quote::new("$'", "'").escaped().over_lines(),
        Quote::DOUBLE.over_lines().holding(DOLLAR_PAREN).variables(),
        Quote::new("'", "'").over_lines(),
    ],
    words: words!(Keyword: "builtin command coproc do done elif else env esac eval exec fi if nohup sudo \
            then time until while xargs",
        NamesFunction: "function",
        Operand: "alias break case continue declare exit export for in local readonly return select \
            set shift source trap typeset unset"),
    word_starts: "./~",
    word_holds: "-./+:",
    calls: true,
    commands: true,
    sigils: &[
        ("${", Token::Key),
        ("$", Token::Key),
        ("--", Token::Key),
        ("-", Token::Key),
    ],
    escapes: true,
    heredoc: "<<",
    ..Code::BARE
};
const SHELL: Code = Code {
    prompts: &["$ "],
    ..SHELL_LIKE
}
.indexed();
/// Of recipes and images, whose prompt would be a variable.
const COMMANDS: Code = SHELL_LIKE.indexed();

static BASH: Language = Language {
    name: "bash",
    aliases: &[
        "sh",
        "shell",
        "zsh",
        "ksh",
        "dash",
        "bashrc",
        "zshrc",
        "shellscript",
        "bats",
        "pkgbuild",
    ],
    family: Family::Code(&SHELL),
};

static CONSOLE: Language = Language {
    name: "console",
    aliases: &[
        "shell-session",
        "shellsession",
        "sh-session",
        "bash-session",
        "terminal",
    ],
    family: Family::Session(&COMMANDS),
};

static FISH: Language = Language {
    name: "fish",
    aliases: &["nu", "nushell"],
    family: Family::Code(
        &Code {
            words: words!(Keyword: "and begin command else end exec if not or time while",
                NamesFunction: "function",
                Operand: "break case continue for in return set switch"),
            ..SHELL
        }
        .indexed(),
    ),
};

static POWERSHELL: Language = Language {
    name: "powershell",
    aliases: &["ps1", "pwsh", "posh", "psm1", "psd1"],
    family: Family::Code(
        &Code {
            comments: &["#"],
            blocks: &[Block::new("<#", "#>")],
            quotes: &[
                Quote::new("@\"", "\"@").over_lines().variables(),
                Quote::new("@'", "'@").over_lines(),
                Quote {
                    escape: b'`',
                    ..Quote::new("\"", "\"").over_lines().holding(DOLLAR_PAREN).variables()
                },
                Quote::new("'", "'").over_lines(),
            ],
            words: words!(Keyword: "begin break catch continue do else elseif end exit finally for foreach \
                    from if in param process return switch throw trap try until using while",
                NamesFunction: "function filter", NamesType: "class enum"),
            folds_case: true,
            word_holds: "-",
            dashed_calls: true,
            capitals: Capitals::Types,
            sigils: &[("$", Token::Key), ("-", Token::Key)],
            prompts: &["PS> ", "> "],
            ..Code::BARE
        }
        .indexed(),
    ),
};

static BATCH: Language = Language {
    name: "batch",
    aliases: &["bat", "cmd", "dos", "batchfile"],
    family: Family::Code(
        &Code {
            comments: &["::", "REM ", "rem "],
            quotes: &[Quote::new("\"", "\"")],
            words: words!(Keyword: "call cd choice cls copy defined del do echo else endlocal errorlevel exist \
                    exit for goto if in md mkdir move not pause popd pushd rd ren rmdir set setlocal \
                    shift start title type xcopy"),
            folds_case: true,
            sigils: &[(":", Token::Function), ("%", Token::Key), ("/", Token::Key)],
            ..Code::BARE
        }
        .indexed(),
    ),
};

static DOCKERFILE: Language = Language {
    name: "dockerfile",
    aliases: &["docker", "containerfile"],
    family: Family::Code(
        &Code {
            words: words!(Keyword: "CMD ENTRYPOINT HEALTHCHECK ONBUILD RUN",
                Operand: "ADD ARG AS COPY ENV EXPOSE FROM LABEL MAINTAINER SHELL STOPSIGNAL USER \
                    VOLUME WORKDIR"),
            ..SHELL_LIKE
        }
        .indexed(),
    ),
};

static MAKEFILE: Language = Language {
    name: "makefile",
    aliases: &["make", "mk", "mak", "gnumakefile", "just", "justfile"],
    family: Family::Make(&COMMANDS),
};

static CMAKE: Language = Language {
    name: "cmake",
    aliases: &["cmakelists.txt"],
    family: Family::Code(
        &Code {
            comments: &["#"],
            blocks: &[Block::new("#[[", "]]")],
            quotes: &[Quote::DOUBLE.over_lines()],
            words: words!(Keyword: "if elseif else endif foreach endforeach while endwhile function \
                    endfunction macro endmacro return break continue include and or not defined \
                    matches strequal equal",
                Constant: "on off true false"),
            folds_case: true,
            capitals: Capitals::TypesUnlessCalled,
            sigils: &[("${", Token::Key), ("$", Token::Key)],
            ..Code::BARE
        }
        .indexed(),
    ),
};

static NGINX: Language = Language {
    name: "nginx",
    aliases: &["nginxconf", "caddyfile", "caddy", "apache", "apacheconf"],
    family: Family::Code(
        &Code {
            words: words!(Operand: "break events geo http if include internal limit_except location map mail \
                return rewrite server set split_clients stream types upstream"),
            word_holds: "-.+:/",
            word_starts: "/~",
            ..SHELL_LIKE
        }
        .indexed(),
    ),
};
