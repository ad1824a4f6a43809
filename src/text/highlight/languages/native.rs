//! Languages with brackets that compile to machine code.

use crate::text::highlight::Token;
use crate::text::highlight::keywords::words;
use crate::text::highlight::language::{
    Block, Capitals, Code, DOLLAR_BRACE, Family, Form, Inside, Language, Quote, inside,
};

pub(super) const ALL: &[&Language] = &[
    &RUST,
    &C,
    &CPP,
    &OBJECTIVE_C,
    &GO,
    &SWIFT,
    &ZIG,
    &SOLIDITY,
    &PROTOBUF,
    &GRAPHQL,
    &HCL,
    &NIX,
];

static RUST: Language = Language {
    name: "rust",
    aliases: &["rs", "ron"],
    family: Family::Code(
        &Code {
            blocks: &[Block::C.nesting()],
            quotes: &[
                Quote::new("\"", "\"")
                    .behind(&["r", "br", "cr"])
                    .over_lines()
                    .form(Form::Hashes(0)),
                Quote::DOUBLE.behind(&["", "b", "c"]).over_lines(),
            ],
            words: words!(Keyword: "as async await break const continue crate dyn else extern for if \
                    impl in let loop match mod move mut pub ref return self static super unsafe use \
                    where while yield",
                NamesFunction: "fn", NamesType: "struct enum trait type union",
                Type: "Self bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize",
                Constant: "true false None"),
            chars: true,
            bang_calls: true,
            sigils: &[("#![", Token::Function), ("#[", Token::Function)],
            ..Code::C_LIKE
        }
        .indexed(),
    ),
};

const C_KEYWORDS: &str = "alignas alignof auto break case const continue default do else extern for \
    goto if inline register restrict return sizeof static switch typedef volatile while constexpr \
    static_assert thread_local typeof";
const C_TYPES: &str = "bool char double float int long short signed unsigned void size_t ssize_t \
    int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t uintptr_t ptrdiff_t \
    wchar_t FILE";

const C_CODE: Code = Code {
    capitals: Capitals::TypesUnlessCalled,
    preprocessor: true,
    ..Code::C_LIKE
};

static C: Language = Language {
    name: "c",
    aliases: &["h", "cuda-c", "opencl"],
    family: Family::Code(
        &Code {
            words: words!(Keyword: C_KEYWORDS, Type: C_TYPES, NamesType: "struct enum union",
                Constant: "true false NULL nullptr"),
            ..C_CODE
        }
        .indexed(),
    ),
};

static CPP: Language = Language {
    name: "cpp",
    aliases: &["c++", "cc", "cxx", "hpp", "h++", "hh", "hxx", "cu", "cuda", "arduino", "ino", "glsl", "hlsl"],
    family: Family::Code(
        &Code {
            quotes: &[
                Quote::new("\"", ")").behind(&["r", "lr", "ur", "u8r"]).over_lines().form(Form::Tagged),
                Quote::DOUBLE.behind(&["", "l", "u", "u8"]),
                Quote::SINGLE.behind(&["", "l", "u", "u8"]),
            ],
            words: words!(Keyword: C_KEYWORDS, Type: C_TYPES,
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
        .indexed(),
    ),
};

static OBJECTIVE_C: Language = Language {
    name: "objective-c",
    aliases: &["objc", "objectivec", "obj-c", "mm"],
    family: Family::Code(
        &Code {
            quotes: &[
                Quote::new("@\"", "\"").escaped(),
                Quote::DOUBLE,
                Quote::SINGLE,
            ],
            words: words!(Keyword: C_KEYWORDS, Type: C_TYPES, NamesType: "struct enum union",
                Keyword: "self super in", Type: "id instancetype SEL IMP BOOL",
                Constant: "true false NULL nil YES NO"),
            sigils: &[("@", Token::Keyword)],
            ..C_CODE
        }
        .indexed(),
    ),
};

static GO: Language = Language {
    name: "go",
    aliases: &["golang"],
    family: Family::Code(
        &Code {
            quotes: &[Quote::DOUBLE, Quote::SINGLE, Quote::new("`", "`").over_lines()],
            words: words!(Keyword: "break case chan const continue default defer else fallthrough for \
                    go goto if import interface map package range return select struct switch var",
                NamesFunction: "func", NamesType: "type",
                Type: "any bool byte comparable complex64 complex128 error float32 float64 int int8 \
                    int16 int32 int64 rune string uint uint8 uint16 uint32 uint64 uintptr",
                Function: "append cap clear close copy delete len make max min new panic print \
                    println recover",
                Constant: "true false nil iota"),
            capitals: Capitals::TypesUnlessCalled,
            ..Code::C_LIKE
        }
        .indexed(),
    ),
};

static SWIFT: Language = Language {
    name: "swift",
    aliases: &["swiftui"],
    family: Family::Code(
        &Code {
            blocks: &[Block::C.nesting()],
            quotes: &[
                Quote::new("\"\"\"", "\"\"\"").over_lines().form(Form::Hashes(1)),
                Quote::new("\"", "\"").form(Form::Hashes(1)),
                Quote::TRIPLE_DOUBLE.holding(BACKSLASH_PAREN),
                Quote::DOUBLE.holding(BACKSLASH_PAREN),
            ],
            words: words!(Keyword: "actor any as associatedtype async await break case catch continue \
                    convenience default defer deinit didSet do dynamic else fallthrough fileprivate \
                    final for get guard if import in indirect infix init inout internal is lazy let \
                    mutating nonisolated nonmutating open operator optional override postfix prefix \
                    private public repeat required rethrows return self set some static subscript \
                    super switch throw throws try unowned var weak where while willSet",
                NamesFunction: "func", NamesType: "class struct enum protocol extension typealias",
                Constant: "true false nil"),
            sigils: &[("@", Token::Function), ("#", Token::Keyword)],
            ..Code::C_LIKE
        }
        .indexed(),
    ),
};
const BACKSLASH_PAREN: Option<Inside> = inside("\\(", b'(', b')');

static ZIG: Language = Language {
    name: "zig",
    aliases: &["zon"],
    family: Family::Code(
        &Code {
            // A line of a string in lines starts with two backslashes and ends itself.
            quotes: &[Quote::new("\\\\", "\n"), Quote::DOUBLE, Quote::SINGLE],
            blocks: &[],
            words: words!(Keyword: "addrspace align allowzero and anyframe asm async await break \
                    callconv catch comptime const continue defer else errdefer error export extern \
                    for if inline linksection noalias noinline nosuspend opaque or orelse packed pub \
                    resume return suspend switch test threadlocal try usingnamespace var volatile \
                    while struct enum union",
                NamesFunction: "fn",
                Type: "anyerror anyopaque anytype bool comptime_float comptime_int f16 f32 f64 f80 \
                    f128 i8 i16 i32 i64 i128 isize noreturn type u8 u16 u32 u64 u128 usize void",
                Constant: "true false null undefined unreachable"),
            sigils: &[("@", Token::Function)],
            ..Code::C_LIKE
        }
        .indexed(),
    ),
};

static SOLIDITY: Language = Language {
    name: "solidity",
    aliases: &["sol"],
    family: Family::Code(
        &Code {
            words: words!(Keyword: "abstract as assembly assert break calldata catch constant \
                    constructor continue delete do else emit event external fallback final for if \
                    immutable import indexed internal is memory modifier new override payable \
                    pragma private public pure receive require return returns revert storage super \
                    this throw try unchecked using var view virtual while",
                NamesFunction: "function", NamesType: "contract interface library struct enum error",
                Type: "address bool bytes bytes32 int int256 mapping string uint uint8 uint256",
                Constant: "true false"),
            ..Code::C_LIKE
        }
        .indexed(),
    ),
};

static PROTOBUF: Language = Language {
    name: "protobuf",
    aliases: &["proto", "proto3"],
    family: Family::Code(
        &Code {
            words: words!(Keyword: "extend extensions group import map oneof option optional package \
                    public repeated required reserved returns stream syntax to",
                NamesType: "message enum service", NamesFunction: "rpc",
                Type: "bool bytes double fixed32 fixed64 float int32 int64 sfixed32 sfixed64 sint32 \
                    sint64 string uint32 uint64",
                Constant: "true false"),
            ..Code::C_LIKE
        }
        .indexed(),
    ),
};

static GRAPHQL: Language = Language {
    name: "graphql",
    aliases: &["gql", "graphqls"],
    family: Family::Code(
        &Code {
            comments: &["#"],
            blocks: &[],
            quotes: &[Quote::TRIPLE_DOUBLE, Quote::DOUBLE],
            words: words!(Keyword: "directive extend fragment implements mutation on query schema \
                    subscription",
                NamesType: "type interface union enum input scalar", Constant: "true false null"),
            sigils: &[("@", Token::Function), ("$", Token::Key)],
            colon_keys: true,
            ..Code::C_LIKE
        }
        .indexed(),
    ),
};

static HCL: Language = Language {
    name: "hcl",
    aliases: &["terraform", "tf", "tfvars", "opentofu", "nomad"],
    family: Family::Code(
        &Code {
            comments: &["#", "//"],
            quotes: &[Quote::DOUBLE.holding(DOLLAR_BRACE)],
            words: words!(Keyword: "data else endfor endif for if in locals module moved output provider \
                    resource terraform variable dynamic lifecycle backend",
                Type: "any bool list map number object set string tuple",
                Constant: "true false null"),
            word_holds: "-",
            capitals: Capitals::Plain,
            assigned_keys: true,
            heredoc: "<<",
            ..Code::C_LIKE
        }
        .indexed(),
    ),
};

static NIX: Language = Language {
    name: "nix",
    aliases: &["nixos"],
    family: Family::Code(
        &Code {
            comments: &["#"],
            quotes: &[
                Quote::new("''", "''").over_lines().holding(DOLLAR_BRACE),
                Quote::DOUBLE.over_lines().holding(DOLLAR_BRACE),
            ],
            words: words!(Keyword: "assert else if in inherit let or rec then with",
                Function: "import map toString throw abort builtins derivation",
                Constant: "true false null"),
            word_holds: "-'",
            capitals: Capitals::Plain,
            assigned_keys: true,
            ..Code::C_LIKE
        }
        .indexed(),
    ),
};
