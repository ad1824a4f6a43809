//! Draws the rows of `/tasks`.

use super::text::{age_text, status_text};
use crate::domain::{LeftTask, LeftTaskState, TaskCancellation};
use crate::text::Clean;
use crate::text::grapheme::width;
use crate::tui::chat::call_summary::argument_summary;
use crate::tui::widgets::list::{ListRow, column_width};
use crate::tui::widgets::painter::Painter;

const GAP_COLUMNS: u16 = 2;
const AGE_COLUMNS: u16 = 6;
/// Narrower lists show no age.
const AGE_LIST_COLUMNS_MIN: u16 = 40;

/// The sanitized texts of a row.
pub struct TaskRow<'a> {
    pub task: &'a LeftTask,
    tool: Clean,
    /// The arguments in brief.
    arguments: Clean,
    server: Clean,
    status: Clean,
    age: String,
}

/// The rows whose tool, arguments, server or status contains the filter.
pub fn matching_rows<'a>(tasks: &'a [LeftTask], filter: &str) -> Vec<TaskRow<'a>> {
    let filter = filter.trim().to_lowercase();
    let rows = tasks.iter().map(|task| TaskRow {
        task,
        tool: Clean::name(&task.tool),
        arguments: Clean::single_line(&argument_summary(&task.arguments)),
        server: Clean::name(task.server.as_str()),
        status: Clean::single_line(&status_text(task)),
        age: age_text(task.age),
    });
    let matches = |text: &Clean| text.as_str().to_lowercase().contains(&filter);
    rows.filter(|row| {
        [&row.tool, &row.arguments, &row.server, &row.status]
            .into_iter()
            .any(matches)
    })
    .collect()
}

impl TaskRow<'_> {
    /// Width of the tool and its arguments.
    fn call_columns(&self) -> u16 {
        let arguments = match self.arguments.is_empty() {
            true => 0,
            false => usize::from(GAP_COLUMNS) + width(self.arguments.as_str()),
        };
        u16::try_from(width(self.tool.as_str()) + arguments).unwrap_or(u16::MAX)
    }
}

/// Widths of the columns, the same for each row.
pub struct TaskColumns {
    call: u16,
    server: u16,
    status: u16,
}

impl TaskColumns {
    pub fn new(rows: &[TaskRow]) -> Self {
        Self {
            call: rows.iter().map(TaskRow::call_columns).max().unwrap_or(0),
            server: column_width(rows.iter().map(|row| row.server.as_str()), u16::MAX),
            status: column_width(rows.iter().map(|row| row.status.as_str()), u16::MAX),
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
        let server = self.server.min(room / 5);
        // The status may take almost half of the row; the call gets what it leaves.
        let left = room.saturating_sub(server + 2 * GAP_COLUMNS + self.status.min(room));
        let call = self.call.min(left.max(room * 2 / 5));
        let tool = pen.put_truncated(area.x, y, shown.tool.as_str(), row.style, call);
        if tool + GAP_COLUMNS < call {
            let (x, left) = (area.x + tool + GAP_COLUMNS, call - tool - GAP_COLUMNS);
            pen.put_truncated(x, y, shown.arguments.as_str(), dim, left);
        }
        let x = area.x + call + GAP_COLUMNS;
        pen.put_truncated(x, y, shown.server.as_str(), dim, server);
        let used = call + server + 2 * GAP_COLUMNS;
        let is_refused = matches!(
            shown.task.cancellation,
            Some(TaskCancellation::Refused { .. } | TaskCancellation::Unanswered { .. })
        );
        let style = match shown.task.state {
            LeftTaskState::Succeeded => pen.theme.success,
            LeftTaskState::Failed { .. } => pen.theme.failure,
            LeftTaskState::NotFollowed { .. } => pen.theme.attention,
            LeftTaskState::Running { .. } if is_refused => pen.theme.attention,
            LeftTaskState::Running { .. } | LeftTaskState::Awaited => pen.theme.plain,
        };
        let columns = room.saturating_sub(used);
        pen.put_truncated(area.x + used, y, shown.status.as_str(), style, columns);
    }
}
