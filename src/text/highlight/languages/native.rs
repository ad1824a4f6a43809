//! Other languages with braces: those that are compiled, and schema and configuration languages.

use crate::text::highlight::Token;
use crate::text::highlight::keywords::words;
use crate::text::highlight::language::{
    BlockComment, CapitalizedNames, CodeSyntax, DOLLAR_BRACE, Interpolation, Language, LexerKind,
    StringDelimiter, StringSyntax, interpolation,
};

pub(super) const ALL: &[&Language] = &[&RUST, &C, &CPP, &GO, &SWIFT, &HCL];

static RUST: Language = Language {
    name: "rust",
    aliases: "rs ron",
    lexer: LexerKind::Code(
        &CodeSyntax {
            block_comments: &[BlockComment::C.nestable()],
            strings: &[
                StringSyntax::new("\"", "\"")
                    .with_prefixes(&["r", "br", "cr"])
                    .multiline()
                    .with_delimiter(StringDelimiter::Hashes(0)),
                StringSyntax::DOUBLE.with_prefixes(&["", "b", "c"]).multiline(),
            ],
            keywords: words!(Keyword: "as async await break const continue crate dyn else extern for if \
                    impl in let loop match mod move mut pub ref return self static super unsafe use \
                    where while yield",
                NamesFunction: "fn", NamesType: "struct enum trait type union",
                Type: "Self bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize",
                Constant: "true false None"),
            has_char_literals: true,
            has_bang_calls: true,
            sigils: &[("#![", Token::Function), ("#[", Token::Function)],
            ..CodeSyntax::C_LIKE
        }
        .with_special_bytes(),
    ),
};

const C_KEYWORDS: &str = "alignas alignof auto break case const continue default do else extern for \
    goto if inline register restrict return sizeof static switch typedef volatile while constexpr \
    static_assert thread_local typeof";
const C_TYPES: &str = "bool char double float int long short signed unsigned void size_t ssize_t \
    int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t uintptr_t ptrdiff_t \
    wchar_t FILE";

const C_CODE: CodeSyntax = CodeSyntax {
    capitals: CapitalizedNames::TypesUnlessCalled,
    has_preprocessor: true,
    ..CodeSyntax::C_LIKE
};

static C: Language = Language {
    name: "c",
    aliases: "h cuda-c opencl",
    lexer: LexerKind::Code(
        &CodeSyntax {
            keywords: words!(Keyword: C_KEYWORDS, Type: C_TYPES, NamesType: "struct enum union",
                Constant: "true false NULL nullptr"),
            ..C_CODE
        }
        .with_special_bytes(),
    ),
};

static CPP: Language = Language {
    name: "cpp",
    aliases: "c++ cc cxx hpp h++ hh hxx cu cuda arduino ino glsl hlsl",
    lexer: LexerKind::Code(
        &CodeSyntax {
            strings: &[
                StringSyntax::new("\"", ")").with_prefixes(&["r", "lr", "ur", "u8r"]).multiline().with_delimiter(StringDelimiter::Tagged),
                StringSyntax::DOUBLE.with_prefixes(&["", "l", "u", "u8"]),
                StringSyntax::SINGLE.with_prefixes(&["", "l", "u", "u8"]),
            ],
            keywords: words!(Keyword: C_KEYWORDS, Type: C_TYPES,
                NamesType: "class struct enum union concept typename",
                Keyword: "and asm catch co_await co_return co_yield const_cast consteval constinit \
                    decltype delete dynamic_cast explicit export final friend import module mutable \
                    namespace new noexcept not operator or override private protected public \
                    reinterpret_cast requires static_cast template this throw try typeid using \
                    virtual",
                Type: "string string_view vector map set unordered_map unordered_set unique_ptr \
                    shared_ptr optional variant pair tuple array span char8_t char16_t char32_t",
                Constant: "true false NULL nullptr"),
            ..C_CODE
        }
        .with_special_bytes(),
    ),
};

static GO: Language = Language {
    name: "go",
    aliases: "golang",
    lexer: LexerKind::Code(
        &CodeSyntax {
            strings: &[StringSyntax::DOUBLE, StringSyntax::SINGLE, StringSyntax::new("`", "`").multiline()],
            keywords: words!(Keyword: "break case chan const continue default defer else fallthrough for \
                    go goto if import interface map package range return select struct switch var",
                NamesFunction: "func", NamesType: "type",
                Type: "any bool byte comparable complex64 complex128 error float32 float64 int int8 \
                    int16 int32 int64 rune string uint uint8 uint16 uint32 uint64 uintptr",
                Function: "append cap clear close copy delete len make max min new panic print \
                    println recover",
                Constant: "true false nil iota"),
            capitals: CapitalizedNames::TypesUnlessCalled,
            ..CodeSyntax::C_LIKE
        }
        .with_special_bytes(),
    ),
};

static SWIFT: Language = Language {
    name: "swift",
    aliases: "swiftui",
    lexer: LexerKind::Code(
        &CodeSyntax {
            block_comments: &[BlockComment::C.nestable()],
            strings: &[
                StringSyntax::new("\"\"\"", "\"\"\"").multiline().with_delimiter(StringDelimiter::Hashes(1)),
                StringSyntax::new("\"", "\"").with_delimiter(StringDelimiter::Hashes(1)),
                StringSyntax::TRIPLE_DOUBLE.with_interpolation(BACKSLASH_PAREN),
                StringSyntax::DOUBLE.with_interpolation(BACKSLASH_PAREN),
            ],
            keywords: words!(Keyword: "actor any as associatedtype async await break case catch continue \
                    convenience default defer deinit didSet do dynamic else fallthrough fileprivate \
                    final for get guard if import in indirect infix init inout internal is lazy let \
                    mutating nonisolated nonmutating open operator optional override postfix prefix \
                    private public repeat required rethrows return self set some static subscript \
                    super switch throw throws try unowned var weak where while willSet",
                NamesFunction: "func", NamesType: "class struct enum protocol extension typealias",
                Constant: "true false nil"),
            sigils: &[("@", Token::Function), ("#", Token::Keyword)],
            ..CodeSyntax::C_LIKE
        }
        .with_special_bytes(),
    ),
};
const BACKSLASH_PAREN: Option<Interpolation> = interpolation("\\(", b'(', b')');

static HCL: Language = Language {
    name: "hcl",
    aliases: "terraform tf tfvars opentofu nomad",
    lexer: LexerKind::Code(
        &CodeSyntax {
            line_comments: &["#", "//"],
            strings: &[StringSyntax::DOUBLE.with_interpolation(DOLLAR_BRACE)],
            keywords: words!(Keyword: "data else endfor endif for if in locals module moved output provider \
                    resource terraform variable dynamic lifecycle backend",
                Type: "any bool list map number object set string tuple",
                Constant: "true false null"),
            extra_word_chars: "-",
            capitals: CapitalizedNames::Plain,
            has_assigned_keys: true,
            heredoc_start: "<<",
            ..CodeSyntax::C_LIKE
        }
        .with_special_bytes(),
    ),
};
