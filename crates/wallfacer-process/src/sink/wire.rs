//! One connection, plain or within TLS: every byte read from it or written to it is recorded on the way.

use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::time::timeout;

use super::bounds::{IDLE, MAX_READ};
use super::ledger::Recorder;

pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// What a buffered stream is like whatever lies beneath it.
pub(super) type Layer = BufReader<Box<dyn Stream>>;

pub(super) struct Wire {
    pub(super) layer: Layer,
    pub(super) recorder: Recorder,
    read: u64,
}

impl Wire {
    pub(super) fn new(stream: impl Stream + 'static, recorder: Recorder) -> Self {
        Self { layer: BufReader::new(Box::new(stream)), recorder, read: 0 }
    }

    /// Waits until something can be taken. False at the end: the client's, ours, or that of our patience.
    pub(super) async fn ready(&mut self, patience: Duration) -> bool {
        if self.read > MAX_READ {
            return false;
        }
        matches!(timeout(patience, self.layer.fill_buf()).await, Ok(Ok(bytes)) if !bytes.is_empty())
    }

    /// What can be taken.
    pub(super) fn buffer(&self) -> &[u8] {
        self.layer.buffer()
    }

    /// Takes the first `count` bytes of the buffer.
    pub(super) fn take(&mut self, count: usize) {
        self.recorder.sent(&self.layer.buffer()[..count]);
        self.skip(count);
    }

    /// Takes them off the record.
    pub(super) fn skip(&mut self, count: usize) {
        self.layer.consume(count);
        self.read += count as u64;
    }

    /// Takes all of the buffer.
    pub(super) fn take_all(&mut self) {
        self.take(self.buffer().len());
    }

    /// Takes exactly so many bytes, however long the client waits before it sends them; none where they do not come.
    pub(super) async fn take_exactly(&mut self, count: usize) -> Option<Vec<u8>> {
        let mut taken = Vec::new();
        while taken.len() < count {
            if self.read > MAX_READ || self.layer.fill_buf().await.ok()?.is_empty() {
                return None;
            }
            let step = self.buffer().len().min(count - taken.len());
            taken.extend_from_slice(&self.buffer()[..step]);
            self.take(step);
        }
        Some(taken)
    }

    /// False when the client does not take it.
    pub(super) async fn say(&mut self, bytes: &[u8]) -> bool {
        self.recorder.answered(bytes);
        let write = async {
            self.layer.write_all(bytes).await?;
            self.layer.flush().await
        };
        matches!(timeout(IDLE, write).await, Ok(Ok(())))
    }

    pub(super) async fn close(self) {
        let Self { mut layer, recorder, .. } = self;
        // Whoever sees the connection closed shall see the flow closed too.
        drop(recorder);
        // The client may be gone already, and then there is nothing to close.
        let _ = timeout(IDLE, layer.shutdown()).await;
    }
}
