//! Reads a file as JSON with comments, TOML or YAML. The format is recognized by the contents.

use super::error::ImportError;
use super::yaml;
use crate::files;
use jsonc_parser::ParseOptions;
use rustix::io::Errno;
use serde_json::{Map, Value};
use std::io::ErrorKind;
use std::path::Path;

/// Clients also keep histories in such a file, so it can be large.
const BYTES_MAX: u64 = 32 << 20;
/// Maximum number of commas and line breaks, at least one of which follows each value. Bounds the
/// memory for a file of the maximum size that consists of tiny values.
const SEPARATORS_MAX: usize = 2_000_000;
/// JSON and YAML that are nested deeper are refused. TOML has a limit of its own, 80.
pub(super) const DEPTH_MAX: usize = 64;

/// Line numbers start at 1.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SyntaxError {
    pub line: usize,
    pub problem: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Json,
    Toml,
    Yaml,
}

pub(super) fn read(path: &Path) -> Result<Map<String, Value>, ImportError> {
    let text = read_text(path)?;
    let is_separator = |byte: &u8| matches!(byte, b',' | b'\n');
    if text.bytes().filter(|byte| is_separator(byte)).count() > SEPARATORS_MAX {
        return Err(ImportError::TooManyValues {
            path: path.to_owned(),
            count_max: SEPARATORS_MAX,
        });
    }
    let is_json_file = path
        .extension()
        .is_some_and(|extension| extension == "json");
    let format = match recognize(&text) {
        // A table header of TOML, or the list of a JSON file.
        Format::Toml if is_json_file && text.trim_start().starts_with('[') => Format::Json,
        format => format,
    };
    let (format, name, parsed) = match format {
        format @ Format::Json => (format, "JSON", parse_json(&text)),
        format @ Format::Toml => (format, "TOML", parse_toml(&text)),
        format @ Format::Yaml => (format, "YAML", yaml::parse(&text)),
    };
    match parsed {
        Ok(Value::Object(root)) => Ok(root),
        // A single word is valid YAML.
        Ok(_) if format == Format::Yaml => Err(ImportError::NoServers {
            path: path.to_owned(),
        }),
        Ok(_) => Err(malformed(path, name, 1, "the file is not an object")),
        Err(SyntaxError { line, problem }) => Err(malformed(path, name, line, &problem)),
    }
}

fn malformed(path: &Path, format: &'static str, line: usize, problem: &str) -> ImportError {
    ImportError::Malformed {
        path: path.to_owned(),
        line,
        format,
        problem: problem.to_owned(),
    }
}

fn read_text(path: &Path) -> Result<String, ImportError> {
    let owned_path = || path.to_owned();
    let bytes = files::read(path, BYTES_MAX).map_err(|error| match error.kind() {
        ErrorKind::FileTooLarge => ImportError::TooLarge {
            path: owned_path(),
            bytes_max: BYTES_MAX,
        },
        _ => ImportError::Unreadable {
            path: owned_path(),
            why: match error.kind() {
                _ if Errno::from_io_error(&error) == Some(Errno::LOOP) => {
                    "its symbolic links form a cycle".to_owned()
                }
                ErrorKind::InvalidInput => "the path is not valid".to_owned(),
                _ => files::describe_io_error(&error),
            },
        },
    })?;
    let bytes = bytes.ok_or_else(|| ImportError::Missing { path: owned_path() })?;
    let text = String::from_utf8(bytes).map_err(|_| ImportError::NotText { path: owned_path() })?;
    if text.contains('\0') {
        return Err(ImportError::NotText { path: owned_path() });
    }
    Ok(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    })
}

/// JSON begins with a brace, perhaps after comments. In TOML the first line is a table header or
/// has an `=` before any `:`.
fn recognize(text: &str) -> Format {
    let mut lines = text.lines().map(str::trim_start);
    let is_content = |line: &&str| !line.is_empty() && !line.starts_with('#');
    let first = lines.find(is_content).unwrap_or_default();
    let position = |c: char| first.find(c).unwrap_or(usize::MAX);
    if first.starts_with('{') || first.starts_with("//") || first.starts_with("/*") {
        Format::Json
    } else if first.starts_with('[') || position('=') < position(':') {
        Format::Toml
    } else {
        Format::Yaml
    }
}

/// Parses strict JSON plus comments and trailing commas, which other clients accept.
fn parse_json(text: &str) -> Result<Value, SyntaxError> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = jsonc_parser::parse_to_serde_value::<Value>(text, &options);
    let value = parsed.map_err(|error| SyntaxError {
        line: error.line_display(),
        problem: lower_first(&error.kind().to_string()),
    })?;
    match depth_exceeds(&value, DEPTH_MAX) {
        true => Err(SyntaxError {
            line: 1,
            problem: format!("it is nested deeper than {DEPTH_MAX} levels"),
        }),
        false => Ok(value),
    }
}

fn parse_toml(text: &str) -> Result<Value, SyntaxError> {
    toml::from_str(text).map_err(|error| {
        // The error's own `Display` quotes the line, which may hold a secret.
        let offset = error.span().map_or(0, |span| span.start.min(text.len()));
        SyntaxError {
            line: text.as_bytes()[..offset]
                .iter()
                .filter(|byte| **byte == b'\n')
                .count()
                + 1,
            problem: error.message().replace('\n', ", "),
        }
    })
}

fn depth_exceeds(value: &Value, levels: usize) -> bool {
    match (value, levels.checked_sub(1)) {
        (Value::Array(_) | Value::Object(_), None) => true,
        (Value::Array(items), Some(levels)) => items.iter().any(|item| depth_exceeds(item, levels)),
        (Value::Object(map), Some(levels)) => map.values().any(|item| depth_exceeds(item, levels)),
        _ => false,
    }
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_lowercase().to_string());
    first.unwrap_or_default() + chars.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_of_an_imported_file_is_recognized_by_its_contents() {
        for (text, expected) in [
            ("// a\n{}", Format::Json),
            ("  {", Format::Json),
            ("# a\n[mcp_servers.x]", Format::Toml),
            ("model = \"a:b\"", Format::Toml),
            ("extensions:\n  a: b=c", Format::Yaml),
            ("", Format::Yaml),
        ] {
            assert_eq!(recognize(text), expected, "{text}");
        }
    }

    #[test]
    fn errors_in_an_imported_file_name_the_line_without_quoting_the_text() {
        for (text, line) in [
            ("{\n\"a\": sk-secret\n}", 2),
            ("{ \"a\": 1 /* sk-secret", 1),
            ("a = 1\nb = sk-secret", 2),
            ("a = 1\na = \"sk-secret\"", 2),
            ("a: &x sk-secret\nb: *x", 1),
            ("a: [sk-secret\nb: }", 2),
            ("a: @sk-secret", 1),
        ] {
            let error = match recognize(text) {
                Format::Json => parse_json(text),
                Format::Toml => parse_toml(text),
                Format::Yaml => yaml::parse(text),
            };
            let error = error.expect_err(text);
            assert!(!error.problem.contains("secret"), "{error:?}");
            assert_eq!(error.line, line, "{text}: {error:?}");
        }
    }

    #[test]
    fn deep_nesting_in_an_imported_file_is_refused() {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let nested =
                |levels: usize| format!("{}1{}", open.repeat(levels), close.repeat(levels));
            assert!(parse_json(&nested(DEPTH_MAX)).is_ok());
            for levels in [DEPTH_MAX + 1, 100_000] {
                assert!(parse_json(&nested(levels)).is_err());
            }
        }
        let flow = format!("a: {}", "[".repeat(100_000));
        let block = (0..2_000).map(|level| format!("{}a:\n", " ".repeat(level)));
        assert!(yaml::parse(&flow).is_err());
        assert!(yaml::parse(&block.collect::<String>()).is_err());
        assert!(parse_toml(&format!("a = {}", "[".repeat(100_000))).is_err());
    }
}
