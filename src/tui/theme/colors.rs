//! The fixed colors of the themes `dark` and `light`, and how a color is shown with 256 colors.

use crate::domain::theme::{ThemeBase, ThemeColor, ThemeFile, ThemeRole};
use ratatui::style::Color;

/// The levels of the color cube in the palette of 256 colors (xterm).
const CUBE_LEVELS: [u8; 6] = [0, 0x5f, 0x87, 0xaf, 0xd7, 0xff];
const CUBE_START: u8 = 16;
const GRAY_START: u8 = 232;
const GRAY_COUNT: u8 = 24;

/// The color of a role. Each is one of the palette of 256 colors, and has a contrast of at least
/// 4.5:1 (WCAG 2.2, 1.4.3) to the backgrounds of its theme.
fn base_color(base: ThemeBase, role: ThemeRole) -> [u8; 3] {
    use ThemeRole as R;
    match (base, role) {
        (ThemeBase::Dark, R::Text) => [0xe4, 0xe4, 0xe4],
        (ThemeBase::Dark, R::Dim) => [0xa8, 0xa8, 0xa8],
        (ThemeBase::Dark, R::Accent | R::Search) => [0x5f, 0xd7, 0xd7],
        (ThemeBase::Dark, R::Success) => [0x87, 0xd7, 0x87],
        (ThemeBase::Dark, R::Failure) => [0xff, 0x87, 0x87],
        (ThemeBase::Dark, R::Attention) => [0xd7, 0xaf, 0xff],
        (ThemeBase::Dark, R::Refused) => [0xff, 0xd7, 0x5f],
        (ThemeBase::Dark, R::Number) => [0xff, 0xaf, 0x5f],
        (ThemeBase::Dark, R::Function) => [0x87, 0xaf, 0xff],
        (ThemeBase::Light, R::Text) => [0x1c, 0x1c, 0x1c],
        (ThemeBase::Light, R::Dim) => [0x58, 0x58, 0x58],
        (ThemeBase::Light, R::Accent | R::Search) => [0x00, 0x5f, 0xaf],
        (ThemeBase::Light, R::Success) => [0x00, 0x5f, 0x00],
        (ThemeBase::Light, R::Failure) => [0xaf, 0x00, 0x00],
        (ThemeBase::Light, R::Attention) => [0x87, 0x00, 0xaf],
        (ThemeBase::Light, R::Refused | R::Number) => [0x87, 0x5f, 0x00],
        (ThemeBase::Light, R::Function) => [0x00, 0x00, 0xaf],
    }
}

/// The colors of a theme: those of its base, except where a file names others.
#[derive(Debug, Clone, Copy)]
pub(super) struct ThemeColors<'a> {
    pub base: ThemeBase,
    pub file: Option<&'a ThemeFile>,
    /// Otherwise the nearest of 256 colors is used.
    pub has_true_color: bool,
}

impl ThemeColors<'_> {
    pub fn color(&self, role: ThemeRole) -> Color {
        let own = self.file.into_iter().flat_map(|file| &file.colors);
        // If a file names a role twice, the last one counts, as in JSON.
        let own = own.rev().find(|(named, _)| *named == role);
        match own.map(|(_, color)| *color) {
            Some(ThemeColor::Indexed(index)) => Color::Indexed(index),
            Some(ThemeColor::Rgb(red, green, blue)) => self.rgb([red, green, blue]),
            None => self.rgb(base_color(self.base, role)),
        }
    }

    fn rgb(&self, rgb: [u8; 3]) -> Color {
        let [red, green, blue] = rgb;
        match self.has_true_color {
            true => Color::Rgb(red, green, blue),
            false => Color::Indexed(nearest_index(rgb)),
        }
    }
}

/// The nearest color of the cube or the grays. The first 16 are the user's own and unknown.
fn nearest_index(rgb: [u8; 3]) -> u8 {
    let candidates = CUBE_START..=GRAY_START + (GRAY_COUNT - 1);
    let nearest = candidates.min_by_key(|index| distance(indexed_rgb(*index), rgb));
    nearest.unwrap_or(CUBE_START)
}

fn indexed_rgb(index: u8) -> [u8; 3] {
    if index >= GRAY_START {
        return [8 + 10 * (index - GRAY_START); 3];
    }
    let index = index - CUBE_START;
    [index / 36, index / 6 % 6, index % 6].map(|level| CUBE_LEVELS[usize::from(level)])
}

fn distance(a: [u8; 3], b: [u8; 3]) -> u32 {
    let squares = a.into_iter().zip(b).map(|(a, b)| {
        let difference = u32::from(a.abs_diff(b));
        difference * difference
    });
    squares.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance (WCAG 2.2).
    fn luminance(rgb: [u8; 3]) -> f64 {
        let [red, green, blue] = rgb.map(|channel| {
            let value = f64::from(channel) / 255.0;
            match value <= 0.04045 {
                true => value / 12.92,
                false => ((value + 0.055) / 1.055).powf(2.4),
            }
        });
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    fn contrast(a: [u8; 3], b: [u8; 3]) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn every_color_has_enough_contrast_to_usual_backgrounds() {
        let backgrounds = [
            (ThemeBase::Dark, [[0; 3], [0x1e; 3], [0x28, 0x2c, 0x34]]),
            (ThemeBase::Light, [[0xff; 3], [0xfa; 3], [0xf5, 0xf5, 0xf0]]),
        ];
        for (base, backgrounds) in backgrounds {
            for (name, role) in ThemeRole::ALL {
                let color = base_color(base, role);
                for background in backgrounds {
                    let contrast = contrast(color, background);
                    assert!(contrast >= 4.5, "{base:?} {name}: {contrast:.2}");
                }
                assert_eq!(indexed_rgb(nearest_index(color)), color, "{base:?} {name}");
            }
        }
    }

    #[test]
    fn file_overrides_its_base_and_256_colors_come_near() {
        let file = ThemeFile {
            name: "own".into(),
            base: ThemeBase::Light,
            colors: vec![
                (ThemeRole::Accent, ThemeColor::Rgb(0xfe, 0x88, 0x01)),
                (ThemeRole::Dim, ThemeColor::Indexed(8)),
            ],
        };
        let mut colors = ThemeColors {
            base: file.base,
            file: Some(&file),
            has_true_color: true,
        };
        assert_eq!(
            colors.color(ThemeRole::Accent),
            Color::Rgb(0xfe, 0x88, 0x01)
        );
        assert_eq!(colors.color(ThemeRole::Dim), Color::Indexed(8));
        assert_eq!(colors.color(ThemeRole::Failure), Color::Rgb(0xaf, 0, 0));
        colors.has_true_color = false;
        assert_eq!(colors.color(ThemeRole::Accent), Color::Indexed(208));
    }
}
