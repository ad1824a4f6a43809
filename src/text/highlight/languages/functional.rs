//! Languages of functions: ML's kin, Lisp's kin, Erlang's kin.

use crate::text::highlight::Token;
use crate::text::highlight::keywords::words;
use crate::text::highlight::language::{
    BRACE, Block, Capitals, Code, Family, HASH_BRACE, Language, Quote,
};

pub(super) const ALL: &[&Language] = &[
    &HASKELL, &OCAML, &FSHARP, &ELIXIR, &ERLANG, &CLOJURE, &LISP, &SCHEME,
];

const ML: Code = Code {
    word_holds: "'",
    capitals: Capitals::Types,
    chars: true,
    calls: false,
    ..Code::BARE
};

static HASKELL: Language = Language {
    name: "haskell",
    aliases: &["hs", "lhs", "ghci", "purescript", "purs", "elm", "idris"],
    family: Family::Code(
        &Code {
            comments: &["--"],
            blocks: &[Block::new("{-", "-}").nesting()],
            quotes: &[Quote::TRIPLE_DOUBLE, Quote::DOUBLE],
            words: words!(Keyword: "as case class data default deriving do else family forall foreign hiding \
                    if import in infix infixl infixr instance let mdo module newtype of port proc \
                    qualified rec then type where exposing",
                Constant: "True False Nothing otherwise"),
            prompts: &["ghci> ", "Prelude> "],
            ..ML
        }
        .indexed(),
    ),
};

const OCAML_KEYWORDS: &str = "and as assert begin class constraint do done downto else end exception \
    external for fun function functor if in include inherit initializer lazy let match method \
    module mutable new nonrec object of open or private rec sig struct then to try type val virtual \
    when while with";

static OCAML: Language = Language {
    name: "ocaml",
    aliases: &["ml", "mli", "reasonml", "rescript", "sml"],
    family: Family::Code(
        &Code {
            blocks: &[Block::new("(*", "*)").nesting()],
            quotes: &[
                Quote::new("{|", "|}").over_lines(),
                Quote::DOUBLE.over_lines(),
            ],
            words: words!(Keyword: OCAML_KEYWORDS,
                Type: "array bool bytes char exn float int list option result string unit",
                Constant: "true false None"),
            ..ML
        }
        .indexed(),
    ),
};

static FSHARP: Language = Language {
    name: "fsharp",
    aliases: &["f#", "fs", "fsx", "fsi"],
    family: Family::Code(
        &Code {
            comments: &["//"],
            blocks: &[Block::new("(*", "*)").nesting()],
            quotes: &[
                Quote::TRIPLE_DOUBLE.raw(),
                Quote::new("@\"", "\"").over_lines(),
                Quote::new("$\"", "\"").escaped().holding(BRACE),
                Quote::DOUBLE.over_lines(),
            ],
            words: words!(Keyword: OCAML_KEYWORDS,
                Keyword: "abstract async base default delegate elif extern finally global inline \
                    interface internal member namespace not null override public return select \
                    static task upcast use void yield",
                Type: "array bool byte char decimal float int int64 list option seq string unit",
                Constant: "true false None"),
            preprocessor: true,
            ..ML
        }
        .indexed(),
    ),
};

static ELIXIR: Language = Language {
    name: "elixir",
    aliases: &["ex", "exs", "iex", "heex"],
    family: Family::Code(
        &Code {
            comments: &["#"],
            quotes: &[
                Quote::TRIPLE_DOUBLE.holding(HASH_BRACE),
                Quote::TRIPLE_SINGLE.holding(HASH_BRACE),
                Quote::DOUBLE.over_lines().holding(HASH_BRACE),
                Quote::SINGLE,
            ],
            words: words!(Keyword: "after alias and case catch cond do else end fn for if import in not or \
                    quote raise receive require rescue super throw try unless unquote use when with",
                NamesFunction: "def defp defmacro defmacrop defguard defdelegate",
                NamesType: "defmodule defprotocol defimpl", Keyword: "defstruct defexception",
                Constant: "true false nil"),
            word_ends: "?!",
            capitals: Capitals::Types,
            colon_keys: true,
            sigils: &[("@", Token::Key), (":", Token::Number), ("&", Token::Function)],
            percent: b'~',
            prompts: &["iex> "],
            ..Code::BARE
        }
        .indexed(),
    ),
};

static ERLANG: Language = Language {
    name: "erlang",
    aliases: &["erl", "hrl"],
    family: Family::Code(
        &Code {
            comments: &["%"],
            quotes: &[Quote::DOUBLE.over_lines(), Quote::SINGLE],
            words: words!(Keyword: "after and andalso band begin bnot bor bsl bsr bxor case catch cond div \
                    else end fun if let maybe not of or orelse receive rem try when xor module export \
                    import behaviour record define include include_lib spec type",
                Constant: "true false undefined ok error"),
            word_holds: "@",
            sigils: &[("?", Token::Number), ("#", Token::Type)],
            ..Code::BARE
        }
        .indexed(),
    ),
};

const LISPS: Code = Code {
    comments: &[";"],
    blocks: &[Block::new("#|", "|#").nesting()],
    quotes: &[Quote::DOUBLE.over_lines()],
    word_starts: "*+-<>=!?/%&",
    word_holds: "*+-<>=!?/%&.':#",
    calls: false,
    head_calls: true,
    escapes: true,
    ..Code::BARE
};

static CLOJURE: Language = Language {
    name: "clojure",
    aliases: &["clj", "cljs", "cljc", "edn", "bb", "fennel", "hy"],
    family: Family::Code(
        &Code {
            words: words!(Keyword: "and as-> case catch comment cond cond-> cond->> def defonce do doseq dosync \
                    dotimes finally fn for if if-let if-not if-some import in-ns let letfn loop new ns \
                    or quote recur reify require set! some-> some->> throw try use var when when-let \
                    when-not while with-open -> ->>",
                NamesFunction: "defn defn- defmacro defmulti defmethod",
                NamesType: "defprotocol defrecord deftype", Constant: "true false nil"),
            capitals: Capitals::Types,
            sigils: &[("::", Token::Key), (":", Token::Key)],
            ..LISPS
        }
        .indexed(),
    ),
};

static LISP: Language = Language {
    name: "lisp",
    aliases: &["common-lisp", "commonlisp", "cl", "lsp", "elisp", "emacs-lisp", "el"],
    family: Family::Code(
        &Code {
            words: words!(Keyword: "and block case cond declare defconst defconstant defcustom defparameter \
                    defvar do dolist dotimes ecase eval-when flet handler-case if in-package labels \
                    lambda let let* loop multiple-value-bind or pcase progn quote return return-from \
                    setf setq typecase unless unwind-protect when while",
                NamesFunction: "defun defmacro defgeneric defmethod defsubst", NamesType: "defclass \
                    defstruct deftype define-condition", Constant: "t nil"),
            folds_case: true,
            sigils: &[(":", Token::Key), ("&", Token::Keyword)],
            ..LISPS
        }
        .indexed(),
    ),
};

static SCHEME: Language = Language {
    name: "scheme",
    aliases: &["scm", "racket", "rkt", "guile"],
    family: Family::Code(
        &Code {
            words: words!(Keyword: "and begin call/cc case case-lambda cond define define-record-type \
                    define-syntax define-values delay do else guard if lambda let let* let*-values \
                    let-syntax let-values letrec letrec* match module or parameterize provide \
                    quasiquote quote require set! struct syntax-rules unless when"),
            sigils: &[("#:", Token::Key), ("#", Token::Number)],
            ..LISPS
        }
        .indexed(),
    ),
};
