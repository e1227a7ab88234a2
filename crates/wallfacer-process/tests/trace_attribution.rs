//! Each event belongs to the call that made the target act; and a flood of events is bounded and counted.

#![cfg(target_os = "linux")]
#![allow(unsafe_code)]

mod watched;

use std::fs;
use std::io::{Read, Write, pipe};
use std::os::fd::AsRawFd;
use std::sync::atomic::Ordering;

use tempfile::TempDir;
use wallfacer_process::trace::{Kind, Options};
use watched::{c, open, start};

const CALLS: u64 = 5_000;

/// As many files, opened in turn: an event that came a call too early or too late would have the wrong name.
const FILES: usize = 50;

#[test]
fn five_thousand_opens_belong_to_five_thousand_calls() {
    let folder = TempDir::new().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let paths: Vec<_> = (0..FILES).map(|index| root.join(format!("file{index}"))).collect();
    for path in &paths {
        fs::write(path, "").unwrap();
    }
    let texts: Vec<_> = paths.iter().map(c).collect();
    let (request, mut ask) = pipe().unwrap();
    let (mut answer, reply) = pipe().unwrap();
    let closed_in_target = ask.as_raw_fd();
    let running = start(Options::default(), None, || {
        let mut byte = 0_u8;
        // SAFETY: the buffer holds the byte; the far end must close when the test closes its own.
        unsafe {
            libc::close(closed_in_target);
            while libc::read(request.as_raw_fd(), (&raw mut byte).cast(), 1) == 1 {
                open(&texts[usize::from(byte)], libc::O_RDONLY);
                libc::write(reply.as_raw_fd(), (&raw const byte).cast(), 1);
            }
        }
        0
    });
    let mut wrong = Vec::new();
    for call in 1..=CALLS {
        let index = call as usize % FILES;
        running.in_flight.store(call, Ordering::SeqCst);
        ask.write_all(&[index as u8]).unwrap();
        answer.read_exact(&mut [0]).unwrap();
        running.in_flight.store(0, Ordering::SeqCst);
        // All that the call did is there once it has answered.
        let recording = running.recorder.take();
        let [event] = &recording.events[..] else {
            wrong.push((call, recording.events));
            continue;
        };
        let is_right = matches!(&event.kind, Kind::Open { location, .. } if location.path() == paths[index]);
        if event.call != Some(call) || !is_right {
            wrong.push((call, recording.events));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    // SAFETY: an unreaped target's number is its own. Other tests' forks may hold the pipe, so closing is not enough.
    unsafe { libc::kill(running.pid as libc::pid_t, libc::SIGKILL) };
    let rest = running.end();
    assert!(rest.events.iter().all(|event| event.call.is_none()), "{:#?}", rest.events);
}
