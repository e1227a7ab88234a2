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

#[test]
fn a_target_that_floods_the_record_is_bounded_and_what_is_lost_is_counted() {
    // Each message is kept up to 512 bytes, sixteen of them at a time: this many do not fit.
    const SENDS: u64 = 4_000;
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let text = [u8::MAX; 512];
    let mut piece = libc::iovec { iov_base: text.as_ptr().cast_mut().cast(), iov_len: text.len() };
    let (request, mut ask) = pipe().unwrap();
    let running = start(Options::default(), None, || {
        // SAFETY: the headers are zero but for the one piece, which is there; the socket has no peer, so all fail.
        unsafe {
            libc::read(request.as_raw_fd(), [0_u8].as_mut_ptr().cast(), 1);
            let mut headers = [std::mem::zeroed::<libc::mmsghdr>(); 16];
            for header in &mut headers {
                header.msg_hdr.msg_iov = &raw mut piece;
                header.msg_hdr.msg_iovlen = 1;
            }
            for _ in 0..SENDS {
                libc::sendmmsg(socket.as_raw_fd(), headers.as_mut_ptr(), 16, 0);
            }
        }
        0
    });
    running.in_flight.store(3, Ordering::SeqCst);
    ask.write_all(&[1]).unwrap();
    let recording = running.finish();
    let kept = recording.events.len() as u64;
    let lost = recording.lost.calls[&3];
    assert!(kept > 0 && recording.lost.background == 0);
    // The exit, too, comes after the flood.
    assert_eq!(kept + lost, SENDS + 1);
}
