//! Chooses the role in which tool results are sent.

use crate::domain::model::ToolRole;
use crate::domain::{Dialect, ModelConfig, ModelInfo};
use std::sync::Arc;

/// Configures tool results to be sent in the role `user` if the model's template does not
/// support tools, because it would silently drop messages of the role `tool`.
pub fn with_tool_role(model: &Arc<ModelConfig>, model_info: &ModelInfo) -> Arc<ModelConfig> {
    let drops_tool_role =
        model_info.template_supports_tools == Some(false) && model.dialect != Dialect::Native;
    if model.tool_role.is_some() || !drops_tool_role {
        return Arc::clone(model);
    }
    let mut model = ModelConfig::clone(model);
    model.tool_role = Some(ToolRole::User);
    Arc::new(model)
}
