//! Writes the HTTP/1.1 responses of the test server.

use tokio::io::AsyncWriteExt;
use tokio::net::tcp::OwnedWriteHalf;

pub async fn write_response(
    writer: &mut OwnedWriteHalf,
    status: u16,
    headers: &[String],
    body: &str,
) -> std::io::Result<()> {
    let mut text = format!(
        "HTTP/1.1 {status} Some\r\nContent-Length: {}\r\n",
        body.len()
    );
    for line in headers {
        text.push_str(line);
        text.push_str("\r\n");
    }
    text.push_str("\r\n");
    text.push_str(body);
    writer.write_all(text.as_bytes()).await
}

pub async fn begin_stream(writer: &mut OwnedWriteHalf) -> std::io::Result<()> {
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    writer.write_all(head.as_bytes()).await
}

pub async fn write_chunk(writer: &mut OwnedWriteHalf, text: &str) -> std::io::Result<()> {
    let head = format!("{:x}\r\n", text.len());
    writer.write_all(head.as_bytes()).await?;
    writer.write_all(text.as_bytes()).await?;
    writer.write_all(b"\r\n").await
}

pub async fn end_stream(writer: &mut OwnedWriteHalf) -> std::io::Result<()> {
    writer.write_all(b"0\r\n\r\n").await
}
