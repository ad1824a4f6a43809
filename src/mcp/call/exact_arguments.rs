//! Writes the arguments of a call with digits that their values cannot hold. They travel with the
//! request as an extension, because `rmcp` has only the values.

use crate::domain::Arguments;
use rmcp::RoleClient;
use rmcp::model::{ClientRequest, JsonRpcMessage};
use rmcp::service::TxJsonRpcMessage;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};

#[derive(Clone)]
struct ExactArguments(Arguments);

/// Adds the arguments to a request that calls a tool, if they have digits.
pub fn attach(request: &mut ClientRequest, arguments: &Arguments) {
    if !arguments.has_digits() {
        return;
    }
    let exact = ExactArguments(arguments.clone());
    match request {
        ClientRequest::CallToolRequest(request) => request.extensions.insert(exact),
        ClientRequest::CustomRequest(request) => request.extensions.insert(exact),
        _ => None,
    };
}

/// The JSON of a message, or `None` if its values are exact.
pub fn exact_json(message: &TxJsonRpcMessage<RoleClient>) -> Option<Vec<u8>> {
    let JsonRpcMessage::Request(request) = message else {
        return None;
    };
    let ExactArguments(arguments) = match &request.request {
        ClientRequest::CallToolRequest(request) => request.extensions.get()?,
        ClientRequest::CustomRequest(request) => request.extensions.get()?,
        _ => return None,
    };
    let value = serde_json::to_value(message).ok()?;
    let members = value.as_object()?;
    let path = &["params", "arguments"];
    serde_json::to_vec(&WithArguments {
        members,
        path,
        arguments,
    })
    .ok()
}

/// An object in which the member at a path is written as `arguments`.
struct WithArguments<'a> {
    members: &'a Map<String, Value>,
    path: &'a [&'a str],
    arguments: &'a Arguments,
}

impl Serialize for WithArguments<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.members.len()))?;
        for (key, value) in self.members {
            match (self.path, value) {
                ([last], _) if key == last => map.serialize_entry(key, self.arguments)?,
                ([first, path @ ..], Value::Object(members)) if key == first => {
                    let arguments = self.arguments;
                    map.serialize_entry(
                        key,
                        &WithArguments {
                            members,
                            path,
                            arguments,
                        },
                    )?;
                }
                _ => map.serialize_entry(key, value)?,
            }
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::{
        CallToolRequest, CallToolRequestParams, CustomRequest, JsonRpcRequest, RequestId,
    };
    use serde_json::json;

    #[test]
    fn arguments_are_sent_with_the_digits_that_the_model_wrote() {
        let text =
            r#"{"n":123456789012345678901234567890,"m":{"x":[1e-400,18446744073709551616]}}"#;
        let arguments = Arguments::from_json(text).expect("JSON");
        let params = CallToolRequestParams::new("f").with_arguments(arguments.clone().into());
        let task = json!({ "name": "f", "arguments": arguments, "task": {} });
        for mut request in [
            ClientRequest::CallToolRequest(CallToolRequest::new(params)),
            ClientRequest::CustomRequest(CustomRequest::new("tools/call", Some(task))),
        ] {
            attach(&mut request, &arguments);
            let request = JsonRpcRequest::new(RequestId::Number(1), request);
            let json = exact_json(&JsonRpcMessage::Request(request)).expect("exact JSON");
            let json = String::from_utf8(json).expect("UTF-8");
            assert!(json.contains(&format!(r#""arguments":{text}"#)), "{json}");
            assert!(json.contains(r#""method":"tools/call""#), "{json}");
        }
    }
}
