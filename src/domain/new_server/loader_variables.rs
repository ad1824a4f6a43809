//! Variables with which an entry can change which program or code runs, whatever its command says.

/// Names, upper case.
const NAMES: [&str; 12] = [
    "PATH",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "PYTHONHOME",
    "BASH_ENV",
    "PERL5LIB",
    "PERL5OPT",
    "RUBYLIB",
    "RUBYOPT",
    "JAVA_TOOL_OPTIONS",
];
/// Beginnings of names, upper case. `LD_PRELOAD` and `DYLD_INSERT_LIBRARIES` load a library; variables
/// with the other prefixes can change where packages or images come from.
const PREFIXES: [&str; 7] = ["LD_", "DYLD_", "NPM_", "UV_", "PIP_", "DOCKER_", "BUN_"];

/// Whether a variable can change which program or code runs.
pub fn can_change_program(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let begins_with = |prefix: &str| upper.starts_with(prefix);
    NAMES.contains(&upper.as_str()) || PREFIXES.iter().any(|prefix| begins_with(prefix))
}
