//! (being written)
pub struct Options {
    pub panic_report: std::path::PathBuf,
}
impl Options {
    pub fn from_environment() -> Self {
        Self {
            panic_report: Default::default(),
        }
    }
}
pub async fn run(
    _: tokio::sync::mpsc::Sender<crate::protocol::Command>,
    _: tokio::sync::mpsc::Receiver<crate::protocol::Event>,
    _: Options,
) -> Result<u8, std::io::Error> {
    Ok(0)
}
