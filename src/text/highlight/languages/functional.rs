//! Functional languages: the ML, Lisp and Erlang families.

use crate::text::highlight::Token;
use crate::text::highlight::keywords::words;
use crate::text::highlight::language::{
    BlockComment, CapitalizedNames, CodeSyntax, HASH_BRACE, Language, LexerKind, StringSyntax,
};

pub(super) const ALL: &[&Language] = &[&HASKELL, &ELIXIR];

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
