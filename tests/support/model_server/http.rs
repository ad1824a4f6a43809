//! HTTP/1.1 on the wire: reads requests, and writes replies step by step.

use super::{RecordedRequest, Reply, ReplyStep};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Writes a reply. Returns whether the connection may be used again, or `None` if the client is
/// gone.
pub(super) async fn write_reply(
    writer: &mut (impl AsyncWriteExt + Unpin),
    reply: Reply,
) -> Option<bool> {
    let mut head = format!("HTTP/1.1 {} Scripted\r\n", reply.status);
    for (name, value) in &reply.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("transfer-encoding: chunked\r\n\r\n");
    writer.write_all(head.as_bytes()).await.ok()?;
    let mut pace_start = tokio::time::Instant::now();
    for step in reply.steps {
        match step {
            ReplyStep::Chunk(bytes) => {
                let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
                chunk.extend(bytes);
                chunk.extend(b"\r\n");
                writer.write_all(&chunk).await.ok()?;
            }
            ReplyStep::Pause(time) => tokio::time::sleep(time).await,
            ReplyStep::Gate(gate) => {
                gate.wait_until_open().await;
                pace_start = tokio::time::Instant::now();
            }
            ReplyStep::WaitUntil(time) => tokio::time::sleep_until(pace_start + time).await,
            ReplyStep::Disconnect => return Some(false),
            ReplyStep::Hang => std::future::pending().await,
        }
    }
    writer.write_all(b"0\r\n\r\n").await.ok()?;
    Some(true)
}

pub(super) async fn read_request(socket: &mut TcpStream) -> Option<RecordedRequest> {
    let mut bytes = Vec::new();
    let head_end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        read_some(socket, &mut bytes).await?;
    };
    let text = String::from_utf8(bytes[..head_end].to_vec()).ok()?;
    let mut lines = text.split("\r\n");
    let mut request_line = lines.next()?.split(' ');
    let (method, target) = (request_line.next()?.to_owned(), request_line.next()?);
    let headers: Vec<_> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
        .collect();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length: usize = length.map_or(Some(0), |(_, value)| value.parse().ok())?;
    while bytes.len() < head_end + 4 + length {
        read_some(socket, &mut bytes).await?;
    }
    Some(RecordedRequest {
        method,
        path: path.to_owned(),
        query: query.to_owned(),
        headers,
        body: serde_json::from_slice(&bytes[head_end + 4..]).unwrap_or_default(),
    })
}

async fn read_some(socket: &mut TcpStream, bytes: &mut Vec<u8>) -> Option<()> {
    let count = socket.read_buf(bytes).await.ok()?;
    (count > 0).then_some(())
}
