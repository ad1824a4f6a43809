//! What the files say when the program starts.

use crate::config::{Home, Read};

pub(super) async fn read_files(home: Home) -> Read {
    tokio::task::spawn_blocking(move || Read::files(&home))
        .await
        .expect("reading files does not panic, and nobody aborts it")
}
