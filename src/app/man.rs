//! `humble man`.

use crate::app::output::print;
use crate::cli::Cli;
use crate::headless::EXIT_SUCCESS;
use anyhow::{Context, Result};
use clap::{Command, CommandFactory};
use clap_mangen::{Man, roff};

pub(super) fn run() -> Result<u8> {
    print(page()?).context("could not write the manual page")?;
    Ok(EXIT_SUCCESS)
}

/// The manual page as roff: the program, then a section for each command with its own options.
fn page() -> Result<String> {
    let mut program = Cli::command();
    // Fills in the usage of the subcommands, with the whole name.
    program.build();
    let page = Man::new(program.clone()).manual("humble manual");
    let mut out = Vec::new();
    page.render_title(&mut out)?;
    page.render_name_section(&mut out)?;
    page.render_synopsis_section(&mut out)?;
    page.render_description_section(&mut out)?;
    page.render_options_section(&mut out)?;
    for command in visible_subcommands(&program) {
        render_command(command, &mut out)?;
    }
    page.render_version_section(&mut out)?;
    String::from_utf8(out).context("the manual page is not UTF-8")
}

fn render_command(command: &Command, out: &mut Vec<u8>) -> Result<()> {
    let name = command.get_bin_name().unwrap_or(command.get_name());
    let mut heading = roff::Roff::new();
    heading.control("SH", [name.to_uppercase().as_str()]);
    heading.to_writer(out)?;
    // The global options are described once, at the top.
    let own = command.clone().mut_args(|arg| match arg.is_global_set() {
        true => arg.hide(true),
        false => arg,
    });
    let page = Man::new(own);
    for render in [
        Man::render_synopsis_section,
        Man::render_description_section,
        Man::render_options_section,
        Man::render_extra_section,
    ] {
        let mut section = Vec::new();
        render(&page, &mut section)?;
        let section = String::from_utf8(section).context("the manual page is not UTF-8")?;
        // The parts of a command are subsections of its section.
        out.extend(section.replace("\n.SH ", "\n.SS ").into_bytes());
    }
    for subcommand in visible_subcommands(command) {
        render_command(subcommand, out)?;
    }
    Ok(())
}

fn visible_subcommands(command: &Command) -> impl Iterator<Item = &Command> {
    let subcommands = command.get_subcommands();
    subcommands.filter(|command| !command.is_hide_set() && command.get_name() != "help")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manual_page_describes_every_command_and_option() {
        let page = page().expect("a page");
        assert!(page.contains(".TH humble 1"), "{page}");
        for heading in [
            ".SH NAME",
            ".SH \"HUMBLE ASK\"",
            ".SH \"HUMBLE MODELS PULL\"",
            ".SH \"HUMBLE MAN\"",
        ] {
            assert!(page.contains(heading), "{heading}\n{page}");
        }
        assert!(page.contains(r"\-\-no\-save"), "{page}");
    }
}
