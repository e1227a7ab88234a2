//! Serves over standard input and output, one message a line.

use crate::outlet::Outlet;
use crate::server::Server;
use crate::session::{Session, lock};
use std::io::{self, BufRead, Read, Stdout, Write};
use std::sync::{Arc, Mutex};

/// A client may send large payloads, but not without end.
const LONGEST_LINE: u64 = 128 << 20;

/// Serves until standard input ends.
pub fn serve(server: &Arc<Server>) -> io::Result<()> {
    let session = Arc::new(Session::default());
    let outlet: Arc<dyn Outlet> = Arc::new(StandardOutput { stdout: Mutex::new(io::stdout()) });
    let mut input = io::stdin().lock();
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)? == 0 {
            server.end();
            return Ok(());
        }
        if !line.trim_ascii().is_empty() {
            server.receive(&line, &session, &outlet);
        }
    }
}

struct StandardOutput {
    stdout: Mutex<Stdout>,
}

impl StandardOutput {
    /// A client that stopped reading is no fault of ours: what it does not want is dropped.
    fn write(&self, pieces: &mut dyn Iterator<Item = &[u8]>) {
        let mut stdout = lock(&self.stdout);
        for piece in pieces {
            let _ = stdout.write_all(piece).and_then(|()| stdout.flush());
        }
    }
}

impl Outlet for StandardOutput {
    fn line(&self, bytes: &[u8]) {
        let line = [bytes, b"\n"].concat();
        self.write(&mut std::iter::once(line.as_slice()));
    }

    fn dribble(&self, bytes: &[u8]) {
        self.write(&mut bytes.chunks(1).chain(std::iter::once(b"\n".as_slice())));
    }

    fn is_shared(&self) -> bool {
        true
    }
}
