//! Starts a program on a machine that seems to lack something: the system calls for it fail, for the program and for
//! all that it starts. So tests reach the lower rungs of the sandbox.
//!
//! `wallfacer-lacks user-namespaces,overlay,landlock,new-landlock,ptrace PROGRAM ARGS…`

// The filter has no safe interface. This program is a part of the tests alone.
#![allow(unsafe_code)]

mod answered;

use std::env;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

/// Where the kernel puts what a filter is asked about; of an argument the lower half.
const NUMBER: u32 = 0;
const FIRST_ARGUMENT: u32 = 16;

fn main() -> ExitCode {
    let mut words = env::args_os().skip(1);
    let (Some(what), Some(program)) = (words.next(), words.next()) else { return ExitCode::from(2) };
    let what = what.to_string_lossy();
    let filter: Vec<_> = what.split(',').flat_map(refusing).collect();
    let mut program = Command::new(program);
    program.args(words);
    if what.split(',').any(|name| matches!(name, "overlay" | "new-landlock")) {
        return answered::run(filter, program).unwrap_or(ExitCode::from(2));
    }
    if put_on(filter, 0).is_err() {
        return ExitCode::from(2);
    }
    let _why = program.exec();
    ExitCode::from(127)
}

/// The part of the filter that lets one thing be missing.
fn refusing(what: &str) -> Vec<libc::sock_filter> {
    match what {
        "user-namespaces" => [
            when(libc::SYS_unshare, &[give(libc::EPERM)]),
            // The library falls back to `clone`, whose flags can be seen.
            when(libc::SYS_clone3, &[give(libc::ENOSYS)]),
            when(
                libc::SYS_clone,
                &[load(FIRST_ARGUMENT), unless_any(libc::CLONE_NEWUSER as u32), give(libc::EPERM)],
            ),
        ]
        .concat(),
        // What kind of mount it is stands in memory, which a filter cannot see: somebody else decides.
        "overlay" => when(libc::SYS_mount, &[ask()]),
        "new-landlock" => when(libc::SYS_landlock_create_ruleset, &[ask()]),
        "landlock" => when(libc::SYS_landlock_create_ruleset, &[give(libc::EOPNOTSUPP)]),
        "ptrace" => when(libc::SYS_ptrace, &[give(libc::EPERM)]),
        other => panic!("`{other}` cannot be made to be missing"),
    }
}

/// For one system call, these statements; they end in a refusal or at the end of the block.
fn when(call: libc::c_long, then: &[libc::sock_filter]) -> Vec<libc::sock_filter> {
    let mut block = vec![load(NUMBER), jump(libc::BPF_JEQ, call as u32, 0, then.len() as u8)];
    block.extend(then);
    block
}

fn load(offset: u32) -> libc::sock_filter {
    statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset)
}

fn give(error: libc::c_int) -> libc::sock_filter {
    statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ERRNO | error as u32)
}

/// Leaves it to whoever answers from outside.
fn ask() -> libc::sock_filter {
    statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_USER_NOTIF)
}

/// Leaves out the next statement unless one of the bits is set.
fn unless_any(bits: u32) -> libc::sock_filter {
    jump(libc::BPF_JSET, bits, 0, 1)
}

fn jump(condition: u32, value: u32, if_so: u8, if_not: u8) -> libc::sock_filter {
    let code = (libc::BPF_JMP | condition | libc::BPF_K) as u16;
    libc::sock_filter { code, jt: if_so, jf: if_not, k: value }
}

fn statement(code: u32, value: u32) -> libc::sock_filter {
    libc::sock_filter { code: code as u16, jt: 0, jf: 0, k: value }
}

/// Puts the filter on; gives what the kernel gives for these flags.
fn put_on(mut filter: Vec<libc::sock_filter>, flags: libc::c_ulong) -> io::Result<libc::c_long> {
    filter.push(statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW));
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the program lives until the call is over; the kernel takes a copy of it.
    let put = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program)
    };
    if put >= 0 { Ok(put) } else { Err(io::Error::last_os_error()) }
}
