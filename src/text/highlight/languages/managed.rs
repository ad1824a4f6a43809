//! Languages with braces that usually run in a virtual machine or interpreter: JavaScript, C#, PHP,
//! Dart and the Java family.

use crate::text::highlight::Token;
use crate::text::highlight::keywords::words;
use crate::text::highlight::language::{
    BRACE, BlockComment, CapitalizedNames, CodeSyntax, DOLLAR_BRACE, Language, LexerKind,
    StringSyntax,
};

pub(super) const ALL: &[&Language] = &[&JAVASCRIPT, &TYPESCRIPT, &JAVA, &KOTLIN, &CSHARP, &PHP];

const TEMPLATE: StringSyntax = StringSyntax::new("`", "`")
    .with_backslash_escapes()
    .multiline()
    .with_interpolation(DOLLAR_BRACE);
const DECORATOR: &[(&str, Token)] = &[("@", Token::Function)];

const JS_KEYWORDS: &str = "as async await break case catch const continue debugger default delete \
    do else export finally for from get if import in instanceof let new of return set static \
    super switch this throw try typeof var void while with yield";
const JS_CONSTANTS: &str = "true false null undefined NaN Infinity";
const JS_CODE: CodeSyntax = CodeSyntax {
    strings: &[StringSyntax::DOUBLE, StringSyntax::SINGLE, TEMPLATE],
    extra_word_starts: "$",
    extra_word_chars: "$",
    has_apostrophes_in_words: true,
    has_regex_literals: true,
    sigils: &[
        ("@", Token::Function),
        // JSX tags. After a value, as in `a<b`, `<` compares.
        ("</", Token::Keyword),
        ("<", Token::Keyword),
    ],
    ..CodeSyntax::C_LIKE
};

pub(in super::super) static JAVASCRIPT: Language = Language {
    name: "javascript",
    aliases: "js jsx mjs cjs node nodejs es6",
    lexer: LexerKind::Code(
        &CodeSyntax {
            keywords: words!(Keyword: JS_KEYWORDS, Constant: JS_CONSTANTS, NamesFunction: "function",
                NamesType: "class extends"),
            ..JS_CODE
        }
        .with_special_bytes(),
    ),
};

static TYPESCRIPT: Language = Language {
    name: "typescript",
    aliases: "ts tsx mts cts deno",
    lexer: LexerKind::Code(
        &CodeSyntax {
            keywords: words!(Keyword: JS_KEYWORDS, Constant: JS_CONSTANTS, NamesFunction: "function",
                NamesType: "class extends interface enum type namespace implements",
                Keyword: "abstract asserts declare infer is keyof module override private \
                    protected public readonly satisfies unique",
                Type: "any bigint boolean never number object string symbol unknown"),
            ..JS_CODE
        }
        .with_special_bytes(),
    ),
};

const JAVA_KEYWORDS: &str = "abstract assert break case catch const continue default do else \
    exports final finally for goto if import instanceof module native new package permits private \
    protected public requires return sealed static strictfp super switch synchronized this throw \
    transient try var volatile when while yield";
const JAVA_TYPES: &str = "boolean byte char double float int long short void";

static JAVA: Language = Language {
    name: "java",
    aliases: "jsh jshell",
    lexer: LexerKind::Code(
        &CodeSyntax {
            strings: &[
                StringSyntax::TRIPLE_DOUBLE,
                StringSyntax::DOUBLE,
                StringSyntax::SINGLE,
            ],
            keywords: words!(Keyword: JAVA_KEYWORDS, Type: JAVA_TYPES, Constant: "true false null",
                NamesType: "class interface enum record extends implements throws"),
            sigils: DECORATOR,
            ..CodeSyntax::C_LIKE
        }
        .with_special_bytes(),
    ),
};

static KOTLIN: Language = Language {
    name: "kotlin",
    aliases: "kt kts",
    lexer: LexerKind::Code(
        &CodeSyntax {
            block_comments: &[BlockComment::C.nestable()],
            strings: &[
                StringSyntax::TRIPLE_DOUBLE.without_escapes().with_interpolation(DOLLAR_BRACE).with_variables(),
                StringSyntax::DOUBLE.with_interpolation(DOLLAR_BRACE).with_variables(),
                StringSyntax::SINGLE,
            ],
            keywords: words!(Keyword: "abstract actual annotation as break by catch companion const \
                    constructor continue crossinline data do else expect external final finally \
                    for get if import in infix init inline inner internal is lateinit noinline \
                    open operator out override package private protected public reified return \
                    sealed set super suspend tailrec this throw try val value var vararg when \
                    where while",
                NamesFunction: "fun", NamesType: "class interface object enum typealias",
                Constant: "true false null"),
            sigils: DECORATOR,
            ..CodeSyntax::C_LIKE
        }
        .with_special_bytes(),
    ),
};

static CSHARP: Language = Language {
    name: "csharp",
    aliases: "cs c# csx dotnet",
    lexer: LexerKind::Code(
        &CodeSyntax {
            strings: &[
                StringSyntax::new("$\"\"\"", "\"\"\"").multiline().with_interpolation(BRACE),
                StringSyntax::TRIPLE_DOUBLE.without_escapes(),
                StringSyntax::new("$@\"", "\"").multiline().with_interpolation(BRACE),
                StringSyntax::new("@$\"", "\"").multiline().with_interpolation(BRACE),
                StringSyntax::new("@\"", "\"").multiline(),
                StringSyntax::new("$\"", "\"").with_backslash_escapes().with_interpolation(BRACE),
                StringSyntax::DOUBLE,
                StringSyntax::SINGLE,
            ],
            keywords: words!(Keyword: "abstract add as async await base break case catch checked const \
                    continue default delegate do else event explicit extern finally fixed for \
                    foreach from get global goto if implicit in init internal is join let lock nameof \
                    not operator or orderby out override params partial private protected public \
                    readonly ref remove required return sealed select set sizeof stackalloc static \
                    switch this throw try typeof unchecked unsafe using value var virtual volatile \
                    when where while with yield and",
                NamesType: "class interface struct enum record namespace new",
                Type: "bool byte char decimal double dynamic float int long nint nuint object sbyte \
                    short string uint ulong ushort void",
                Constant: "true false null"),
            capitals: CapitalizedNames::TypesUnlessCalled,
            has_preprocessor: true,
            ..CodeSyntax::C_LIKE
        }
        .with_special_bytes(),
    ),
};

static PHP: Language = Language {
    name: "php",
    aliases: "php3 php7 php8 phtml blade laravel",
    lexer: LexerKind::Page(&PHP_CODE),
};

static PHP_CODE: Language = Language {
    name: "php code",
    aliases: "",
    lexer: LexerKind::Code(
        &CodeSyntax {
            line_comments: &["//", "#"],
            strings: &[
                StringSyntax::DOUBLE.multiline().with_variables(),
                StringSyntax::SINGLE.multiline(),
            ],
            keywords: words!(Keyword: "abstract and array as break callable case catch clone const \
                    continue declare default do echo else elseif empty enddeclare endfor \
                    endforeach endif endswitch endwhile exit final finally for foreach from global \
                    goto if include include_once insteadof isset list match or parent print \
                    private protected public readonly require require_once return self static \
                    switch throw try unset use var while xor yield",
                NamesFunction: "function fn",
                NamesType: "class interface trait enum namespace new extends implements instanceof",
                Type: "bool float int iterable mixed never object string void",
                Constant: "true false null TRUE FALSE NULL"),
            sigils: &[("$", Token::Key), ("#[", Token::Function)],
            heredoc_start: "<<<",
            ..CodeSyntax::C_LIKE
        }
        .with_special_bytes(),
    ),
};
