//! Attacks on the guarantees of `docs/security.md`, one file for each boundary. They run the real
//! program with a scripted model and scripted servers, and check what reached whom.

#[path = "support/cli.rs"]
mod cli;
#[path = "attacks/fixture.rs"]
mod fixture;
#[path = "support/model_server/mod.rs"]
mod model_server;
#[path = "attacks/ordinary_use.rs"]
mod ordinary_use;
#[path = "attacks/output.rs"]
mod output;
#[path = "attacks/secrets.rs"]
mod secrets;
#[path = "support/test_rng.rs"]
mod test_rng;
#[path = "attacks/untrusted_text.rs"]
mod untrusted_text;
