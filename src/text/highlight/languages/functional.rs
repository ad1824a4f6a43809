//! Functional languages: the ML, Lisp and Erlang families.

use crate::text::highlight::Token;
use crate::text::highlight::keywords::words;
use crate::text::highlight::language::{
    BRACE, BlockComment, CapitalizedNames, CodeSyntax, HASH_BRACE, Language, LexerKind,
    StringSyntax,
};

pub(super) const ALL: &[&Language] = &[
    &HASKELL, &OCAML, &FSHARP, &ELIXIR, &ERLANG, &CLOJURE, &LISP, &SCHEME,
];

const ML_LIKE: CodeSyntax = CodeSyntax {
    extra_word_chars: "'",
    capitals: CapitalizedNames::Types,
    has_char_literals: true,
    has_paren_calls: false,
    ..CodeSyntax::BARE
};

static HASKELL: Language = Language {
    name: "haskell",
    aliases: "hs lhs ghci purescript purs elm idris",
    lexer: LexerKind::Code(
        &CodeSyntax {
            line_comments: &["--"],
            block_comments: &[BlockComment::new("{-", "-}").nestable()],
            strings: &[StringSyntax::TRIPLE_DOUBLE, StringSyntax::DOUBLE],
            keywords: words!(Keyword: "as case class data default deriving do else family forall foreign hiding \
                    if import in infix infixl infixr instance let mdo module newtype of port proc \
                    qualified rec then type where exposing",
                Constant: "True False Nothing otherwise"),
            prompts: &["ghci> ", "Prelude> "],
            ..ML_LIKE
        }
        .with_special_bytes(),
    ),
};

const OCAML_KEYWORDS: &str = "and as assert begin class constraint do done downto else end exception \
    external for fun function functor if in include inherit initializer lazy let match method \
    module mutable new nonrec object of open or private rec sig struct then to try type val virtual \
    when while with";

static OCAML: Language = Language {
    name: "ocaml",
    aliases: "ml mli reasonml rescript sml",
    lexer: LexerKind::Code(
        &CodeSyntax {
            block_comments: &[BlockComment::new("(*", "*)").nestable()],
            strings: &[
                StringSyntax::new("{|", "|}").multiline(),
                StringSyntax::DOUBLE.multiline(),
            ],
            keywords: words!(Keyword: OCAML_KEYWORDS,
                Type: "array bool bytes char exn float int list option result string unit",
                Constant: "true false None"),
            ..ML_LIKE
        }
        .with_special_bytes(),
    ),
};

static FSHARP: Language = Language {
    name: "fsharp",
    aliases: "f# fs fsx fsi",
    lexer: LexerKind::Code(
        &CodeSyntax {
            line_comments: &["//"],
            block_comments: &[BlockComment::new("(*", "*)").nestable()],
            strings: &[
                StringSyntax::TRIPLE_DOUBLE.without_escapes(),
                StringSyntax::new("@\"", "\"").multiline(),
                StringSyntax::new("$\"", "\"")
                    .with_backslash_escapes()
                    .with_interpolation(BRACE),
                StringSyntax::DOUBLE.multiline(),
            ],
            keywords: words!(Keyword: OCAML_KEYWORDS,
                Keyword: "abstract async base default delegate elif extern finally global inline \
                    interface internal member namespace not null override public return select \
                    static task upcast use void yield",
                Type: "array bool byte char decimal float int int64 list option seq string unit",
                Constant: "true false None"),
            has_preprocessor: true,
            ..ML_LIKE
        }
        .with_special_bytes(),
    ),
};

static ELIXIR: Language = Language {
    name: "elixir",
    aliases: "ex exs iex heex",
    lexer: LexerKind::Code(
        &CodeSyntax {
            line_comments: &["#"],
            strings: &[
                StringSyntax::TRIPLE_DOUBLE.with_interpolation(HASH_BRACE),
                StringSyntax::TRIPLE_SINGLE.with_interpolation(HASH_BRACE),
                StringSyntax::DOUBLE.multiline().with_interpolation(HASH_BRACE),
                StringSyntax::SINGLE,
            ],
            keywords: words!(Keyword: "after alias and case catch cond do else end fn for if import in not or \
                    quote raise receive require rescue super throw try unless unquote use when with",
                NamesFunction: "def defp defmacro defmacrop defguard defdelegate",
                NamesType: "defmodule defprotocol defimpl", Keyword: "defstruct defexception",
                Constant: "true false nil"),
            extra_word_ends: "?!",
            capitals: CapitalizedNames::Types,
            has_colon_keys: true,
            sigils: &[("@", Token::Key), (":", Token::Number), ("&", Token::Function)],
            percent_literal_byte: b'~',
            prompts: &["iex> "],
            ..CodeSyntax::BARE
        }
        .with_special_bytes(),
    ),
};

static ERLANG: Language = Language {
    name: "erlang",
    aliases: "erl hrl",
    lexer: LexerKind::Code(
        &CodeSyntax {
            line_comments: &["%"],
            strings: &[StringSyntax::DOUBLE.multiline(), StringSyntax::SINGLE],
            keywords: words!(Keyword: "after and andalso band begin bnot bor bsl bsr bxor case catch cond div \
                    else end fun if let maybe not of or orelse receive rem try when xor module export \
                    import behaviour record define include include_lib spec type",
                Constant: "true false undefined ok error"),
            extra_word_chars: "@",
            sigils: &[("?", Token::Number), ("#", Token::Type)],
            ..CodeSyntax::BARE
        }
        .with_special_bytes(),
    ),
};

const LISP_LIKE: CodeSyntax = CodeSyntax {
    line_comments: &[";"],
    block_comments: &[BlockComment::new("#|", "|#").nestable()],
    strings: &[StringSyntax::DOUBLE.multiline()],
    extra_word_starts: "*+-<>=!?/%&",
    extra_word_chars: "*+-<>=!?/%&.':#",
    has_paren_calls: false,
    has_lisp_calls: true,
    has_bare_escapes: true,
    ..CodeSyntax::BARE
};

static CLOJURE: Language = Language {
    name: "clojure",
    aliases: "clj cljs cljc edn bb fennel hy",
    lexer: LexerKind::Code(
        &CodeSyntax {
            keywords: words!(Keyword: "and as-> case catch comment cond cond-> cond->> def defonce do doseq dosync \
                    dotimes finally fn for if if-let if-not if-some import in-ns let letfn loop new ns \
                    or quote recur reify require set! some-> some->> throw try use var when when-let \
                    when-not while with-open -> ->>",
                NamesFunction: "defn defn- defmacro defmulti defmethod",
                NamesType: "defprotocol defrecord deftype", Constant: "true false nil"),
            capitals: CapitalizedNames::Types,
            sigils: &[("::", Token::Key), (":", Token::Key)],
            ..LISP_LIKE
        }
        .with_special_bytes(),
    ),
};

static LISP: Language = Language {
    name: "lisp",
    aliases: "common-lisp commonlisp cl lsp elisp emacs-lisp el",
    lexer: LexerKind::Code(
        &CodeSyntax {
            keywords: words!(Keyword: "and block case cond declare defconst defconstant defcustom defparameter \
                    defvar do dolist dotimes ecase eval-when flet handler-case if in-package labels \
                    lambda let let* loop multiple-value-bind or pcase progn quote return return-from \
                    setf setq typecase unless unwind-protect when while",
                NamesFunction: "defun defmacro defgeneric defmethod defsubst", NamesType: "defclass \
                    defstruct deftype define-condition", Constant: "t nil"),
            folds_case: true,
            sigils: &[(":", Token::Key), ("&", Token::Keyword)],
            ..LISP_LIKE
        }
        .with_special_bytes(),
    ),
};

static SCHEME: Language = Language {
    name: "scheme",
    aliases: "scm racket rkt guile",
    lexer: LexerKind::Code(
        &CodeSyntax {
            keywords: words!(Keyword: "and begin call/cc case case-lambda cond define define-record-type \
                    define-syntax define-values delay do else guard if lambda let let* let*-values \
                    let-syntax let-values letrec letrec* match module or parameterize provide \
                    quasiquote quote require set! struct syntax-rules unless when"),
            sigils: &[("#:", Token::Key), ("#", Token::Number)],
            ..LISP_LIKE
        }
        .with_special_bytes(),
    ),
};
