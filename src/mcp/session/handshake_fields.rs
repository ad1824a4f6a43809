//! Removes fields of the wrong type from the results of `initialize` and `server/discover`, so that
//! one of them does not cost the whole server. Pure.

use serde_json::{Map, Value, json};

/// Where a result of `server/discover` names the server.
const SERVER_INFO_META_KEY: &str = "io.modelcontextprotocol/serverInfo";

type Fields = Map<String, Value>;

/// The type that a field must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FieldType {
    Text,
    Flag,
    List,
    Texts,
    Object,
    Theme,
}

impl FieldType {
    fn matches(self, value: &Value) -> bool {
        match self {
            Self::Text => value.is_string(),
            Self::Flag => value.is_boolean(),
            Self::List => value.is_array(),
            Self::Texts => value
                .as_array()
                .is_some_and(|items| items.iter().all(Value::is_string)),
            Self::Object => value.is_object(),
            Self::Theme => matches!(value.as_str(), Some("light" | "dark")),
        }
    }

    fn label(self) -> &'static str {
        match self {
            Self::Text => "not text",
            Self::Flag => "neither true nor false",
            Self::List => "not a list",
            Self::Texts => "not a list of texts",
            Self::Object => "not an object",
            Self::Theme => "neither `light` nor `dark`",
        }
    }
}

/// Makes a handshake result acceptable to rmcp, except for its protocol versions. Returns one line
/// for each field that was removed or replaced.
pub fn normalize_handshake(result: &mut Fields) -> Vec<String> {
    let mut normalizer = Normalizer::default();
    normalizer.check(result, "", "instructions", FieldType::Text);
    normalizer.check(result, "", "_meta", FieldType::Object);
    normalizer.check(result, "", "capabilities", FieldType::Object);
    normalizer.check(result, "", "serverInfo", FieldType::Object);
    let capabilities = result.entry("capabilities").or_insert_with(|| json!({}));
    if let Some(capabilities) = capabilities.as_object_mut() {
        normalizer.check_capabilities(capabilities);
    }
    // Many servers omit it, and nothing here depends on it.
    let server_info = result.entry("serverInfo").or_insert_with(|| json!({}));
    if let Some(server_info) = server_info.as_object_mut() {
        normalizer.check_server_info(server_info);
    }
    let meta = result.get_mut("_meta");
    let server_info = meta.and_then(|meta| meta.get_mut(SERVER_INFO_META_KEY));
    if let Some(server_info) = server_info.and_then(Value::as_object_mut) {
        normalizer.check_server_info(server_info);
    }
    normalizer.omitted
}

#[derive(Default)]
struct Normalizer {
    /// One line for each kind of removed field. Their keys are not chosen by the server, so there are
    /// only a few.
    omitted: Vec<String>,
}

impl Normalizer {
    /// Removes the field `key` if it does not have this type. A null field counts as missing.
    fn check(&mut self, fields: &mut Fields, parent: &str, key: &str, field_type: FieldType) {
        let Some(value) = fields.get(key) else {
            return;
        };
        if field_type.matches(value) {
            return;
        }
        if !value.is_null() {
            self.omit(parent, key, field_type);
        }
        fields.remove(key);
    }

    fn check_server_info(&mut self, server_info: &mut Fields) {
        for key in ["name", "version", "title", "description", "websiteUrl"] {
            self.check(server_info, "serverInfo.", key, FieldType::Text);
        }
        for required in ["name", "version"] {
            server_info.entry(required).or_insert_with(|| json!(""));
        }
        self.check(server_info, "serverInfo.", "icons", FieldType::List);
        let icons = server_info.get_mut("icons").and_then(Value::as_array_mut);
        if let Some(icons) = icons {
            icons.retain_mut(|icon| self.check_icon(icon));
        }
    }

    /// Returns whether the icon is valid without the fields that were removed.
    fn check_icon(&mut self, icon: &mut Value) -> bool {
        let Some(icon) = icon.as_object_mut() else {
            self.omit("serverInfo.", "icons[]", FieldType::Object);
            return false;
        };
        let parent = "serverInfo.icons[].";
        self.check(icon, parent, "src", FieldType::Text);
        self.check(icon, parent, "mimeType", FieldType::Text);
        // The SDKs of September 2025 sent a text.
        self.check(icon, parent, "sizes", FieldType::Texts);
        self.check(icon, parent, "theme", FieldType::Theme);
        icon.contains_key("src")
    }

    fn check_capabilities(&mut self, capabilities: &mut Fields) {
        for key in ["tools", "prompts", "resources", "logging", "completions"] {
            Self::check_capability(capabilities, key);
            let capability = capabilities.get_mut(key).and_then(Value::as_object_mut);
            if let Some(capability) = capability {
                let parent = format!("capabilities.{key}.");
                for flag in ["listChanged", "subscribe"] {
                    self.check(capability, &parent, flag, FieldType::Flag);
                }
            }
        }
        for group in ["experimental", "extensions"] {
            self.check(capabilities, "capabilities.", group, FieldType::Object);
            let entries = capabilities.get_mut(group).and_then(Value::as_object_mut);
            if let Some(entries) = entries {
                let keys: Vec<String> = entries.keys().cloned().collect();
                for key in keys {
                    Self::check_capability(entries, &key);
                }
            }
        }
    }

    /// A capability is declared by its presence, so any value that means yes becomes an empty
    /// object, and any other is removed. PHP writes an empty object as `[]`.
    fn check_capability(fields: &mut Fields, key: &str) {
        let is_declared = match fields.get(key) {
            None | Some(Value::Object(_)) => return,
            Some(Value::Null) => false,
            Some(Value::Bool(flag)) => *flag,
            Some(Value::Number(number)) => number.as_f64() != Some(0.0),
            Some(Value::String(text)) => !text.is_empty(),
            Some(Value::Array(_)) => true,
        };
        match is_declared {
            true => fields.insert(key.to_owned(), json!({})),
            false => fields.remove(key),
        };
    }

    fn omit(&mut self, parent: &str, key: &str, field_type: FieldType) {
        let line = format!(
            "`{parent}{key}` in its handshake, which is {}",
            field_type.label()
        );
        if !self.omitted.contains(&line) {
            self.omitted.push(line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A result with every field that rmcp reads, all valid.
    fn valid_result() -> Value {
        let server_info = json!({
            "name": "n", "version": "1", "title": "T", "description": "d", "websiteUrl": "w",
            "icons": [{ "src": "s", "mimeType": "m", "sizes": ["1x1"], "theme": "dark" }],
        });
        json!({
            "protocolVersion": "2025-11-25",
            "supportedVersions": ["2026-07-28"],
            "serverInfo": server_info,
            "instructions": "i",
            "_meta": { SERVER_INFO_META_KEY: server_info },
            "capabilities": {
                "tools": { "listChanged": true },
                "prompts": { "listChanged": true },
                "resources": { "listChanged": true, "subscribe": true },
                "logging": {}, "completions": {},
                "experimental": { "x": {} }, "extensions": { "x": {} },
            },
        })
    }

    /// [`valid_result`] with one other value, normalized, and the lines about it.
    fn normalized(pointer: &str, value: Value) -> (Value, Vec<String>) {
        let mut result = valid_result();
        *result.pointer_mut(pointer).expect("the field exists") = value;
        let omitted = normalize_handshake(result.as_object_mut().expect("an object"));
        (result, omitted)
    }

    fn collect_pointers(value: &Value, parent: &str, pointers: &mut Vec<String>) {
        let children: Vec<(String, &Value)> = match value {
            Value::Object(fields) => fields.iter().map(|(k, v)| (k.clone(), v)).collect(),
            Value::Array(items) => {
                let items = items.iter().enumerate();
                items.map(|(index, v)| (index.to_string(), v)).collect()
            }
            _ => return,
        };
        for (key, child) in children {
            let pointer = format!("{parent}/{}", key.replace('/', "~1"));
            collect_pointers(child, &pointer, pointers);
            pointers.push(pointer);
        }
    }

    #[test]
    fn a_valid_handshake_is_unchanged() {
        assert_eq!(
            normalized("/instructions", json!("i")),
            (valid_result(), vec![])
        );
    }

    #[test]
    fn a_bad_value_of_any_field_but_the_version_does_not_fail_the_handshake() {
        let mut pointers = Vec::new();
        collect_pointers(&valid_result(), "", &mut pointers);
        assert!(pointers.len() > 40, "{pointers:?}");
        for pointer in pointers {
            if pointer.contains("ersion") && !pointer.contains("erverInfo") {
                continue;
            }
            for value in [
                json!(null),
                json!(true),
                json!(false),
                json!(0),
                json!(1.5),
                json!(""),
                json!("x"),
                json!([]),
                json!([1]),
                json!({}),
                json!({ "x": 1 }),
            ] {
                let mut result = valid_result();
                *result.pointer_mut(&pointer).expect("the field exists") = value.clone();
                let initialize = crate::mcp::session::decode::decode_initialize(result.clone());
                assert!(initialize.is_ok(), "{pointer} {value}: {initialize:?}");
                let discover = crate::mcp::session::decode::decode_discover(result);
                assert!(discover.is_ok(), "{pointer} {value}: {discover:?}");
            }
        }
    }

    #[test]
    fn only_the_invalid_field_of_a_handshake_is_dropped_and_named() {
        for (field, value, why) in [
            ("version", json!(1), "not text"),
            ("name", json!({}), "not text"),
            ("title", json!(["T"]), "not text"),
            ("description", json!(5), "not text"),
            ("websiteUrl", json!(false), "not text"),
            ("icons", json!("icon.png"), "not a list"),
        ] {
            let (result, omitted) = normalized(&format!("/serverInfo/{field}"), value);
            let line = format!("`serverInfo.{field}` in its handshake, which is {why}");
            assert_eq!(omitted, [line]);
            let mut expected = valid_result();
            let server_info = expected["serverInfo"].as_object_mut().expect("an object");
            match field {
                "name" | "version" => server_info.insert(field.to_owned(), json!("")),
                _ => server_info.remove(field),
            };
            assert_eq!(result, expected);
        }
        for (pointer, value, line) in [
            (
                "/serverInfo",
                json!(7),
                "`serverInfo` in its handshake, which is not an object",
            ),
            (
                "/instructions",
                json!(5),
                "`instructions` in its handshake, which is not text",
            ),
            (
                "/_meta",
                json!(5),
                "`_meta` in its handshake, which is not an object",
            ),
            (
                "/capabilities",
                json!(true),
                "`capabilities` in its handshake, which is not an object",
            ),
            (
                "/serverInfo/icons/0/sizes",
                json!("48x48"),
                "`serverInfo.icons[].sizes` in its handshake, which is not a list of texts",
            ),
            (
                "/serverInfo/icons/0/theme",
                json!("blue"),
                "`serverInfo.icons[].theme` in its handshake, which is neither `light` nor `dark`",
            ),
            (
                "/capabilities/tools/listChanged",
                json!("yes"),
                "`capabilities.tools.listChanged` in its handshake, which is neither true nor false",
            ),
        ] {
            assert_eq!(normalized(pointer, value).1, [line]);
        }
        let (result, omitted) = normalized("/serverInfo", json!(null));
        let nameless = json!({ "name": "", "version": "" });
        assert_eq!((&result["serverInfo"], omitted), (&nameless, vec![]));
        // The name survives in the place where `server/discover` puts it.
        let icon = format!(
            "/_meta/{}/icons/0/sizes",
            SERVER_INFO_META_KEY.replace('/', "~1")
        );
        let (result, _) = normalized(&icon, json!("48x48"));
        assert_eq!(result["_meta"][SERVER_INFO_META_KEY]["name"], "n");
    }

    #[test]
    fn a_capability_counts_as_declared_if_its_value_means_yes() {
        for pointer in [
            "tools",
            "resources",
            "logging",
            "extensions/x",
            "experimental/x",
        ] {
            let pointer = format!("/capabilities/{pointer}");
            for yes in [json!(true), json!(1), json!("yes"), json!([])] {
                let (result, omitted) = normalized(&pointer, yes.clone());
                assert_eq!(
                    result.pointer(&pointer),
                    Some(&json!({})),
                    "{pointer} {yes}"
                );
                assert_eq!(omitted, [""; 0]);
            }
            for no in [json!(false), json!(0), json!(""), json!(null)] {
                let (result, _) = normalized(&pointer, no.clone());
                assert_eq!(result.pointer(&pointer), None, "{pointer} {no}");
            }
        }
    }
}
