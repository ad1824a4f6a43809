//! Checks the home folder, the settings files and the notes folder. Changes no file.

use super::report::Check;
use crate::config::{self, ConfigLoad, Home};
use crate::domain::model_catalog::format_size;
use crate::domain::{Banner, BannerCause};
use rustix::fs::statvfs;
use std::os::unix::fs::MetadataExt;

/// With less free space, conversations may soon no longer be saved.
const FREE_BYTES_MIN: u64 = 100_000_000;
/// The mode bits that let the group and all others read a file.
const READ_BY_OTHERS: u32 = 0o044;
const REPAIR: &str = "Correct the file in an editor.";

pub fn home_check(home: &Home) -> Check {
    let subject = "home folder";
    let root = home.root();
    let path = root.display();
    if !root.exists() {
        return Check::skipped(
            subject,
            format!("{path} does not exist yet."),
            "Start `humble` to create it.",
        );
    }
    if let Some(why) = home.write_problem() {
        return Check::problem(
            subject,
            format!("{path} cannot be written: {why}."),
            format!("Give yourself write access with `chmod u+rwx {path}`, or use --home."),
        );
    }
    let free = statvfs(root).map(|volume| volume.f_bavail.saturating_mul(volume.f_frsize));
    match free {
        Ok(free) if free < FREE_BYTES_MIN => Check::warning(
            subject,
            format!("{path} has only {} left.", format_size(free)),
            "Free some disk space, or conversations may not be saved.",
        ),
        Ok(free) => Check::ok(subject, format!("{path}, {} free", format_size(free))),
        Err(_) => Check::ok(subject, path.to_string()),
    }
}

/// One check for each problem in the settings files, and one for each file without problems.
pub fn file_checks(home: &Home, load: &ConfigLoad) -> Vec<Check> {
    let banners = || load.banners.iter().filter(|banner| !is_about_vault(banner));
    let mut checks: Vec<Check> = Vec::new();
    let snapshot = &load.snapshot;
    let models = counted(snapshot.settings.models.len(), "model");
    let servers = snapshot.servers.iter();
    let servers = servers.filter(|server| server.id.as_str() != config::BUILT_IN_SERVER);
    let servers = counted(servers.count(), "server");
    for (path, finding) in [(home.config(), models), (home.servers(), servers)] {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let about = banners().filter(|banner| file_of(&banner.cause) == Some(&name));
        let about: Vec<Check> = about.map(|banner| banner_check(&name, banner)).collect();
        if !about.is_empty() {
            checks.extend(about);
        } else if path.exists() {
            checks.push(Check::ok(name, finding));
        } else {
            let advice = match path == home.config() {
                true => "Start `humble` to choose a model.",
                false => "Add servers with `humble mcp add` if you want tools.",
            };
            checks.push(Check::skipped(name, "It does not exist yet.", advice));
        }
    }
    let unused = config::unused_keys(home);
    if !unused.is_empty() && !load.banners.iter().any(is_about_unknown_keys) {
        let finding = format!("humble does not read these keys: {}.", unused.join(", "));
        checks.push(Check::warning(
            "config.json",
            finding,
            "Correct them, unless another program uses them.",
        ));
    }
    let others = banners().filter(|banner| file_of(&banner.cause).is_none());
    checks.extend(others.map(|banner| banner_check(subject_of(&banner.cause), banner)));
    let is_reported = banners().any(|banner| banner.cause == BannerCause::OpenPermissions);
    checks.extend((!is_reported).then(|| permission_check(home, load)));
    checks
}

/// For settings without a banner about their permissions. A file that could not be parsed has none,
/// whatever it contains.
fn permission_check(home: &Home, load: &ConfigLoad) -> Check {
    let subject = "permissions";
    let is_unchecked = |name: &str| {
        let mut causes = load.banners.iter().map(|banner| &banner.cause);
        causes.any(|cause| matches!(cause, BannerCause::UnreadableFile(file) if file == name))
    };
    for path in [home.config(), home.servers()] {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let mode = path.metadata().map_or(0, |metadata| metadata.mode());
        if is_unchecked(&name) && mode & READ_BY_OTHERS != 0 {
            return Check::warning(
                subject,
                format!("Other users may read {name}, which could not be checked for keys."),
                format!("Run `chmod 600 {}`.", path.display()),
            );
        }
    }
    Check::ok(subject, "Other users cannot read the keys in the settings.")
}

pub fn vault_check(load: &ConfigLoad) -> Check {
    let subject = "notes folder";
    let notes = &load.snapshot.settings.notes;
    let Some(vault) = &notes.vault else {
        let advice = "Set `notes.vault` in config.json to use notes.";
        return Check::skipped(subject, "None is configured.", advice);
    };
    match notes.vault_problem() {
        None => Check::ok(subject, vault.display().to_string()),
        Some(why) => Check::problem(
            subject,
            format!("{} cannot be used: {why}.", vault.display()),
            "Create the folder, or change `notes.vault` in config.json.",
        ),
    }
}

fn banner_check(subject: &str, banner: &Banner) -> Check {
    Check::from_notice(subject, &banner.notice, REPAIR)
}

/// The settings file that the banner is about, if it is about one.
fn file_of(cause: &BannerCause) -> Option<&str> {
    let file = match cause {
        BannerCause::UnreadableFile(file) | BannerCause::UnknownKeys(file) => file.as_str(),
        BannerCause::Setting { file, .. } => file,
        BannerCause::SeveralActiveModels => "config.json",
        _ => return None,
    };
    ["config.json", "mcp-servers.json"]
        .contains(&file)
        .then_some(file)
}

fn subject_of(cause: &BannerCause) -> &str {
    match cause {
        BannerCause::OpenPermissions => "permissions",
        BannerCause::UnreadableTrust => "trust.json",
        BannerCause::OutdatedSystemPrompt => "system_prompt.txt",
        BannerCause::IncompletePersonas => "personas",
        BannerCause::UnreadableFile(file) | BannerCause::Setting { file, .. } => file,
        _ => "settings",
    }
}

fn is_about_vault(banner: &Banner) -> bool {
    banner.cause == BannerCause::UnusableVault
}

fn is_about_unknown_keys(banner: &Banner) -> bool {
    matches!(banner.cause, BannerCause::UnknownKeys(_))
}

/// For example `2 servers`.
pub fn counted(count: usize, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    }
}
