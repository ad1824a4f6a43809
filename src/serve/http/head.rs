//! The head of a request: its size, and the media types that the client accepts. Pure.

use super::response::{self, Response};
use http::header::ACCEPT;
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};

/// The two types that MCP requires, each with the wildcards that include it.
const MEDIA_TYPES: [(HeaderValue, [&str; 2]); 2] = [
    (
        HeaderValue::from_static("application/json"),
        ["application/*", "*/*"],
    ),
    (
        HeaderValue::from_static("text/event-stream"),
        ["text/*", "*/*"],
    ),
];

/// The size of a head as sent over HTTP/1.1, not counting optional whitespace.
pub fn bytes(method: &Method, uri: &Uri, headers: &HeaderMap) -> usize {
    let line = method.as_str().len() + uri_bytes(uri) + "  HTTP/1.1\r\n".len();
    let fields = headers
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len() + ": \r\n".len());
    line + fields.sum::<usize>() + "\r\n".len()
}

fn uri_bytes(uri: &Uri) -> usize {
    let path = uri.path_and_query().map_or(0, |path| path.as_str().len());
    path + uri
        .authority()
        .map_or(0, |authority| authority.as_str().len())
}

pub fn too_large(bytes_max: usize) -> Response {
    let sentence = format!("The request head is larger than {bytes_max} bytes.");
    response::text(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, &sentence)
}

/// Adds the types that MCP requires to `Accept` if a wildcard includes them, because `rmcp` does
/// not support wildcards.
pub fn expand_wildcards(headers: &mut HeaderMap) {
    let ranges: Vec<String> = headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|range| range.trim().to_ascii_lowercase())
        .collect();
    for (media_type, wildcards) in MEDIA_TYPES {
        let is_named = ranges
            .iter()
            .any(|range| essence(range).as_bytes() == media_type.as_bytes());
        // The most specific range decides (RFC 9110, section 12.5.1).
        let included = wildcards
            .iter()
            .find_map(|wildcard| ranges.iter().find(|range| essence(range) == *wildcard));
        if !is_named && included.is_some_and(|range| !is_excluded(range)) {
            headers.append(ACCEPT, media_type);
        }
    }
}

fn essence(range: &str) -> &str {
    range.split(';').next().unwrap_or_default().trim()
}

/// Whether the weight of a media range is zero.
fn is_excluded(range: &str) -> bool {
    let mut parameters = range.split(';').skip(1);
    let weight = parameters.find_map(|parameter| parameter.trim().strip_prefix("q="));
    weight.is_some_and(|weight| weight.trim().parse() == Ok(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of `Accept` that are added to the given ones.
    fn added(given: &[&str]) -> Vec<String> {
        let mut headers = HeaderMap::new();
        for value in given {
            headers.append(ACCEPT, value.parse().expect("a header value"));
        }
        expand_wildcards(&mut headers);
        let values = headers.get_all(ACCEPT).iter().skip(given.len());
        values
            .map(|value| value.to_str().expect("ASCII").to_owned())
            .collect()
    }

    #[test]
    fn wildcards_in_accept_add_the_media_types_of_mcp() {
        let (json, events) = ("application/json", "text/event-stream");
        assert_eq!(added(&["*/*"]), [json, events]);
        assert_eq!(added(&["text/html, */*;q=0.8"]), [json, events]);
        assert_eq!(added(&["Application/*", "text/*"]), [json, events]);
        assert_eq!(added(&["application/*, text/event-stream"]), [json]);
        assert_eq!(added(&["application/json", "*/*"]), [events]);
    }

    #[test]
    fn types_that_the_client_does_not_accept_are_not_added() {
        for given in [
            &[][..],
            &["text/html"],
            &["*/*;q=0"],
            &["*/*; q=0.000"],
            &["application/json;q=0, text/event-stream;q=0, */*"],
            &["application/*;q=0, text/*;q=0, */*"],
        ] {
            assert_eq!(added(given), [] as [&str; 0], "{given:?}");
        }
    }

    #[test]
    fn a_head_is_measured_as_it_was_sent() {
        let head = "GET /mcp/tools?x HTTP/1.1\r\nhost: a\r\nx: yz\r\n\r\n";
        let mut headers = HeaderMap::new();
        headers.append("host", HeaderValue::from_static("a"));
        headers.append("x", HeaderValue::from_static("yz"));
        let uri = Uri::from_static("/mcp/tools?x");
        assert_eq!(bytes(&Method::GET, &uri, &headers), head.len());
    }
}
