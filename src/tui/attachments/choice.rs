//! The list of the attached files, to remove one.

use crate::commands::{PickRow, Wanted};
use crate::tui::layer::UiContext;
use crate::tui::widgets::list_layer::ListSource;
use crate::tui::widgets::picker::{Picker, PickerRow};

/// Opens a list of the attached files. The chosen one is removed.
pub fn choose_file(cx: &mut UiContext) {
    let files = cx.shared.attached_files.iter().zip(1_usize..);
    let rows = files.map(|(file, number)| {
        let removal = Wanted::Detachment(number.to_string());
        PickerRow::from(PickRow::asking(removal, &file.name, ""))
    });
    Picker::new("Remove a file", "Keep all files", rows).open(cx);
}
