//! Draws the rows of `/tasks`.

use super::text::{age_text, status_text};
use crate::domain::{LeftTask, LeftTaskState};
use crate::text::Clean;
use crate::text::grapheme::width;
use crate::tui::widgets::list::{ListRow, column_width};
use crate::tui::widgets::painter::Painter;

/// Blank columns between two columns.
const GAP_COLUMNS: u16 = 2;
const AGE_COLUMNS: u16 = 6;
/// Narrower lists show no age.
const AGE_LIST_COLUMNS_MIN: u16 = 40;

/// The sanitized texts of a row.
pub struct TaskRow<'a> {
    pub task: &'a LeftTask,
    tool: Clean,
    server: Clean,
    status: Clean,
    age: String,
}

/// The rows whose tool, server or status contains the filter.
pub fn matching_rows<'a>(tasks: &'a [LeftTask], filter: &str) -> Vec<TaskRow<'a>> {
    let filter = filter.trim().to_lowercase();
    let rows = tasks.iter().map(|task| TaskRow {
        task,
        tool: Clean::name(&task.tool),
        server: Clean::name(task.server.as_str()),
        status: Clean::single_line(&status_text(task)),
        age: age_text(task.age),
    });
    let matches = |text: &Clean| text.as_str().to_lowercase().contains(&filter);
    rows.filter(|row| {
        [&row.tool, &row.server, &row.status]
            .into_iter()
            .any(matches)
    })
    .collect()
}

/// Widths of the columns for names, the same for each row.
pub struct TaskColumns {
    tool: u16,
    server: u16,
}

impl TaskColumns {
    pub fn new(rows: &[TaskRow]) -> Self {
        Self {
            tool: column_width(rows.iter().map(|row| row.tool.as_str()), u16::MAX),
            server: column_width(rows.iter().map(|row| row.server.as_str()), u16::MAX),
        }
    }

    pub fn draw(&self, shown: &TaskRow, row: &ListRow, pen: &mut Painter) {
        let (area, y, dim) = (row.text_area(), row.line.y, pen.theme.dim);
        let age_columns = match area.width >= AGE_LIST_COLUMNS_MIN {
            true => AGE_COLUMNS,
            false => 0,
        };
        if age_columns > 0 {
            let start = area.right().saturating_sub(width(&shown.age) as u16);
            pen.put(start, y, &shown.age, dim, age_columns);
        }
        let room = area.width.saturating_sub(age_columns + GAP_COLUMNS);
        // The status needs half of the row.
        let tool = self.tool.min(room / 4);
        let server = self.server.min(room / 4);
        pen.put_truncated(area.x, y, shown.tool.as_str(), row.style, tool);
        let x = area.x + tool + GAP_COLUMNS;
        pen.put_truncated(x, y, shown.server.as_str(), dim, server);
        let used = tool + server + 2 * GAP_COLUMNS;
        let style = match shown.task.state {
            LeftTaskState::Succeeded => pen.theme.success,
            LeftTaskState::Failed { .. } => pen.theme.failure,
            LeftTaskState::NotFollowed { .. } => pen.theme.attention,
            LeftTaskState::Running { .. } | LeftTaskState::Awaited => pen.theme.plain,
        };
        let columns = room.saturating_sub(used);
        pen.put_truncated(area.x + used, y, shown.status.as_str(), style, columns);
    }
}
