//! Reviews edits to `builtIn`. Its addresses receive the arguments of tool calls, and `fetchHosts`
//! opens private addresses, so only removing such a host is harmless.

use super::super::BuiltInSection;
use super::describe::redact_url;
use super::{CONFIG, ChangeReviewer};
use crate::domain::FetchHost;
use crate::domain::secrets::is_secret_name;
use url::Url;

impl ChangeReviewer {
    pub(super) fn review_built_in(
        &mut self,
        before: &BuiltInSection,
        after: &BuiltInSection,
    ) -> BuiltInSection {
        let BuiltInSection {
            geocoding_url,
            forecast_url,
            cat_fact_url,
            ollama_url,
            ollama_model,
            fetch_hosts,
        } = after;
        let texts = |before: &Option<Url>, after: &Option<Url>| {
            [before, after].map(|url| url.as_ref().map(Url::to_string))
        };
        self.review_address("geocodingUrl", texts(&before.geocoding_url, geocoding_url));
        self.review_address("forecastUrl", texts(&before.forecast_url, forecast_url));
        self.review_address("catFactUrl", texts(&before.cat_fact_url, cat_fact_url));
        let urls = [before.ollama_url.clone(), ollama_url.clone()];
        self.review_address("ollamaUrl", urls);
        if before.ollama_model != *ollama_model {
            self.add_needing_consent(
                (CONFIG, "builtIn"),
                "`builtIn.ollamaModel`: tools would use a different model",
                before.ollama_model.clone(),
                ollama_model.clone(),
            );
        }
        let mut reviewed = before.clone();
        reviewed.fetch_hosts = self.review_fetch_hosts(&before.fetch_hosts, fetch_hosts);
        reviewed
    }

    fn review_address(&mut self, key: &str, urls: [Option<String>; 2]) {
        let [before, after] = &urls;
        if before == after {
            return;
        }
        let what = format!("`builtIn.{key}`: arguments of tools would go to a different address");
        let describe = |url: &Option<String>| {
            let url = url.as_ref().map(|url| redact_url(url, is_secret_name));
            Some(url.unwrap_or_else(|| "(default)".to_owned()))
        };
        self.add_needing_consent((CONFIG, "builtIn"), what, describe(before), describe(after));
    }

    fn review_fetch_hosts(&mut self, before: &[FetchHost], after: &[FetchHost]) -> Vec<FetchHost> {
        let names = |hosts: Vec<&FetchHost>| {
            let names: Vec<String> = hosts.into_iter().map(ToString::to_string).collect();
            names.join(", ")
        };
        let added: Vec<_> = after.iter().filter(|host| !before.contains(host)).collect();
        if !added.is_empty() {
            let what = "`builtIn.fetchHosts`: fetch_page could reach more private addresses";
            self.add_needing_consent((CONFIG, "builtIn"), what, None, Some(names(added)));
        }
        let removed: Vec<_> = before.iter().filter(|host| !after.contains(host)).collect();
        if !removed.is_empty() {
            let what = format!("builtIn.fetchHosts no longer contains {}", names(removed));
            self.add_harmless(CONFIG, what);
        }
        let kept = before.iter().filter(|host| after.contains(host));
        kept.cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::config::review::tests::{config, described_changes};
    use serde_json::json;

    #[test]
    fn different_services_for_the_built_in_tools_need_consent() {
        let defaults = config(&json!({}));
        let edited = config(&json!({ "builtIn": {
            "geocodingUrl": "https://me:secret@evil.example/search",
            "forecastUrl": "https://evil.example/forecast",
            "catFactUrl": "https://evil.example/fact",
            "ollamaUrl": "https://evil.example",
            "ollamaModel": "gpt-oss:120b-cloud",
            "fetchHosts": ["169.254.169.254:80", "nas:80"],
        }}));
        let redirected = "arguments of tools would go to a different address";
        let expected = [
            format!(
                "? `builtIn.geocodingUrl`: {redirected}: (default) -> https://me:(hidden,%206%20characters)@evil.example/search"
            ),
            format!(
                "? `builtIn.forecastUrl`: {redirected}: (default) -> https://evil.example/forecast"
            ),
            format!("? `builtIn.catFactUrl`: {redirected}: (default) -> https://evil.example/fact"),
            format!("? `builtIn.ollamaUrl`: {redirected}: (default) -> https://evil.example"),
            "? `builtIn.ollamaModel`: tools would use a different model: (none) -> gpt-oss:120b-cloud"
                .to_owned(),
            "? `builtIn.fetchHosts`: fetch_page could reach more private addresses: (none) -> \
             169.254.169.254:80, nas:80"
                .to_owned(),
        ];
        assert_eq!(described_changes(&defaults, &edited), expected);
        let back = described_changes(&edited, &defaults);
        assert!(
            back[..5].iter().all(|change| change.starts_with("? ")),
            "{back:?}"
        );
        assert_eq!(
            back[5..],
            ["= builtIn.fetchHosts no longer contains 169.254.169.254:80, nas:80"]
        );
    }
}
