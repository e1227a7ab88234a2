//! Ways for a server to end in the middle of everything, each with last words as programs of its kind have them.

use crate::flaws::process;
use std::io::{self, Write};

/// The exit code of a Rust program that panicked.
const PANICKED: i32 = 101;

/// Ends with a message of one line.
pub fn exit(code: i32, words: &str) -> ! {
    say(words);
    process::exit(code)
}

/// Ends as a Rust program does that panics in this file.
pub fn panicked(file: &str, words: &str) -> ! {
    say(&format!("thread 'main' panicked at src/{file}.rs:61:9:\n{words}"));
    process::exit(PANICKED)
}

/// Ends as a Python program does when nobody catches what this function raises.
pub fn python(caller: &str, function: &str, line: usize, words: &str) -> ! {
    exit(1, &python_trace(caller, function, line, words))
}

/// What Python prints, the innermost call last.
pub fn python_trace(caller: &str, function: &str, line: usize, words: &str) -> String {
    format!(
        "Traceback (most recent call last):\n  \
           File \"/srv/app/server.py\", line 212, in {caller}\n    \
             result = {function}(arguments)\n  \
           File \"/srv/app/tools.py\", line {line}, in {function}\n    \
             return head[0]\n\
         {words}"
    )
}

/// Ends as a Node program does when nobody catches what this function throws.
pub fn node(function: &str, line: usize, words: &str) -> ! {
    let place = format!("/srv/app/tools.js:{line}");
    exit(
        1,
        &format!(
            "{place}\n    throw error;\n    ^\n\n{}\n\nNode.js v22.11.0",
            node_trace(function, line, words)
        ),
    )
}

/// What Node prints, the innermost call first.
pub fn node_trace(function: &str, line: usize, words: &str) -> String {
    format!(
        "{words}\n    at {function} (/srv/app/tools.js:{line}:17)\n    \
         at Server.handle (/srv/app/server.js:88:21)\n    \
         at process.processTicksAndRejections (node:internal/process/task_queues:105:5)"
    )
}

/// Ends as a Go program does that panics in this function.
pub fn go(function: &str, line: usize, words: &str) -> ! {
    /// The exit code of a Go program that panicked.
    const GO_PANICKED: i32 = 2;
    let offset = line * 16;
    exit(
        GO_PANICKED,
        &format!(
            "panic: {words}\n\ngoroutine 17 [running]:\nmain.{function}(0xc000{offset:06x}, 0x{line:x})\n\
             \t/srv/app/tools.go:{line} +0x{offset:x}\nmain.serve(0xc00001c0c0)\n\t/srv/app/main.go:40 +0x1a5"
        ),
    )
}

pub fn abort() -> ! {
    say("munmap_chunk(): invalid pointer");
    std::process::abort()
}

fn say(words: &str) {
    // Whether or not anyone reads it, the end follows.
    let _ = writeln!(io::stderr(), "{words}");
}
