//! Selecting with the mouse: counts clicks, follows the pointer, and scrolls while the pointer is
//! held at the edge of the pane. Time arrives as an argument.

use super::SelectionUnit;
use crate::tui::panes::Focus;
use ratatui::layout::{Position, Rect};
use std::time::Duration;

/// Clicks on the same cell within this time count as one multiple click.
const MULTIPLE_CLICK_TIME: Duration = Duration::from_millis(400);
/// Time between two steps while the pointer is held at or beyond the edge.
const SCROLL_INTERVAL: Duration = Duration::from_millis(50);
/// Maximum number of steps to catch up on after a delay.
const SCROLL_STEPS_MAX: u32 = 10;

#[derive(Debug, Default)]
pub struct MouseSelection {
    last_press: Option<MousePress>,
    pub drag: Option<Drag>,
}

#[derive(Debug, Clone, Copy)]
struct MousePress {
    at: Position,
    time: Duration,
    unit: SelectionUnit,
}

/// A press of the left button that has not been released yet.
#[derive(Debug, Clone)]
pub struct Drag {
    /// The pane in which the button was pressed.
    pub pane: Focus,
    pub unit: SelectionUnit,
    pub press_position: Position,
    pub pointer: Position,
    /// The pointer has left the cell in which the button was pressed.
    pub has_moved: bool,
    pub focus_before: Focus,
    /// The view followed new text before the selection held it still.
    pub resumes_following: bool,
    scroll_due_at: Option<Duration>,
}

impl MouseSelection {
    /// Starts a drag. Repeated clicks select words, then lines.
    pub fn press(&mut self, pane: Focus, focus_before: Focus, at: Position, now: Duration) {
        let repeated = self
            .last_press
            .filter(|last| last.at == at && now.saturating_sub(last.time) <= MULTIPLE_CLICK_TIME);
        let unit = match repeated.map(|last| last.unit) {
            Some(SelectionUnit::Cluster) => SelectionUnit::Word,
            Some(SelectionUnit::Word) => SelectionUnit::Line,
            _ => SelectionUnit::Cluster,
        };
        self.last_press = Some(MousePress {
            at,
            time: now,
            unit,
        });
        self.drag = Some(Drag {
            pane,
            unit,
            press_position: at,
            pointer: at,
            has_moved: false,
            focus_before,
            resumes_following: false,
            scroll_due_at: None,
        });
    }

    /// When the view has to scroll next.
    pub fn scroll_due_at(&self) -> Option<Duration> {
        self.drag.as_ref()?.scroll_due_at
    }
}

impl Drag {
    pub fn move_to(&mut self, at: Position, area: Rect, now: Duration) {
        self.has_moved |= at != self.press_position;
        self.pointer = at;
        self.scroll_due_at = match self.scroll_speed(area) {
            0 => None,
            _ => self.scroll_due_at.or(Some(now + SCROLL_INTERVAL)),
        };
    }

    /// Rows per step, negative for up: the number grows with the distance beyond the edge. At the
    /// edge itself it is one, unless the drag began there.
    fn scroll_speed(&self, area: Rect) -> isize {
        let (y, top, bottom) = (self.pointer.y, area.y, area.bottom());
        let has_left_row = y != self.press_position.y;
        if y < top {
            -isize::from(u8::try_from(top - y).unwrap_or(u8::MAX))
        } else if y >= bottom {
            isize::from(u8::try_from(y - bottom).unwrap_or(u8::MAX)) + 1
        } else if y == top && has_left_row {
            -1
        } else if y + 1 == bottom && has_left_row {
            1
        } else {
            0
        }
    }

    /// Takes the number of rows that are due to be scrolled, negative for up.
    pub fn due_rows(&mut self, area: Rect, now: Duration) -> isize {
        let speed = self.scroll_speed(area);
        let Some(due) = self.scroll_due_at.filter(|due| speed != 0 && now >= *due) else {
            return 0;
        };
        let late = now.saturating_sub(due).as_millis() / SCROLL_INTERVAL.as_millis();
        let steps = u32::try_from(late).unwrap_or(u32::MAX).saturating_add(1);
        self.scroll_due_at = Some(match steps {
            ..=SCROLL_STEPS_MAX => due + SCROLL_INTERVAL * steps,
            _ => now + SCROLL_INTERVAL,
        });
        speed * steps.min(SCROLL_STEPS_MAX) as isize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AREA: Rect = Rect::new(1, 2, 40, 10);

    fn at(x: u16, y: u16) -> Position {
        Position::new(x, y)
    }

    fn millis(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    #[test]
    fn only_quick_clicks_on_the_same_cell_count_as_multiple_clicks() {
        let mut mouse = MouseSelection::default();
        let mut unit_of = |x, time| {
            mouse.press(Focus::Chat, Focus::Message, at(x, 3), millis(time));
            mouse.drag.as_ref().map(|drag| drag.unit)
        };
        let times = [(5, 0), (5, 300), (5, 600), (5, 900), (6, 1_000), (6, 1_500)];
        let units = times.map(|(x, time)| unit_of(x, time).expect("a drag"));
        use SelectionUnit::{Cluster, Line, Word};
        assert_eq!(units, [Cluster, Word, Line, Cluster, Cluster, Cluster]);
    }

    #[test]
    fn view_scrolls_at_a_steady_rate_while_the_pointer_is_beyond_the_edge() {
        let mut mouse = MouseSelection::default();
        mouse.press(Focus::Chat, Focus::Message, at(5, 5), millis(0));
        let drag = mouse.drag.as_mut().expect("a drag");
        drag.move_to(at(5, 0), AREA, millis(100));
        assert_eq!(drag.due_rows(AREA, millis(149)), 0);
        assert_eq!(drag.due_rows(AREA, millis(150)), -2);
        assert_eq!(drag.due_rows(AREA, millis(160)), 0);
        assert_eq!(drag.due_rows(AREA, millis(260)), -4, "two steps");
        assert_eq!(
            drag.due_rows(AREA, millis(60_000)),
            -20,
            "at most ten steps"
        );
        drag.move_to(at(5, 6), AREA, millis(60_010));
        assert_eq!(drag.due_rows(AREA, millis(70_000)), 0);
    }

    #[test]
    fn the_edge_row_scrolls_only_if_the_drag_came_from_elsewhere() {
        let mut mouse = MouseSelection::default();
        mouse.press(Focus::Chat, Focus::Message, at(5, 11), millis(0));
        let drag = mouse.drag.as_mut().expect("a drag");
        drag.move_to(at(9, 11), AREA, millis(10));
        assert_eq!(drag.due_rows(AREA, millis(500)), 0);
        drag.move_to(at(9, 2), AREA, millis(510));
        assert_eq!(drag.due_rows(AREA, millis(560)), -1);
    }
}
