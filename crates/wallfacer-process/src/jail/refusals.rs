//! Which calls into the system are refused to a confined server: a seccomp program, made before the fork and put on after
//! it.
//!
//! A network namespace holds no sockets to the machine that this one is a guest of, nor those of other odd families;
//! and `io_uring` makes sockets and opens files without a call that anybody could see. Neither namespaces nor Landlock
//! keep a server from Unix sockets that have a path, where it sees the directory itself and not an overlay of it. The keys
//! that the kernel holds for a session of the user go with it into every namespace. And Landlock leaves open what has no
//! path: System V memory, the scheduling and limits of other processes; and the modes, owners and times of files.

use std::io;

/// Where the kernel puts what a filter is asked about; of an argument the lower half.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const FIRST: u32 = 16;
const SECOND: u32 = 24;

const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
const NO_SUCH_CALL: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;
const NO_SUCH_FAMILY: u32 = libc::SECCOMP_RET_ERRNO | libc::EAFNOSUPPORT as u32;
const REFUSED: u32 = libc::SECCOMP_RET_ERRNO | libc::EACCES as u32;
const NOT_PERMITTED: u32 = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
/// Comes back as if it had been done.
const PRETENDED: u32 = libc::SECCOMP_RET_ERRNO;

/// The type of a socket, without its flags.
const KIND_MASK: u32 = 0xf;

/// Has the same number everywhere, as all new calls have.
const IO_URING_SETUP: libc::c_long = libc::SYS_io_uring_setup;
const FCHMODAT2: libc::c_long = 452;
const SETXATTRAT: libc::c_long = 463;
const REMOVEXATTRAT: libc::c_long = 466;
const FILE_SETATTR: libc::c_long = 469;

/// Makes sockets too, in the 32-bit flavours, which share this number.
const SOCKETCALL: u32 = 102;

/// The flavour of the 64-bit calls, from this number on.
const FIRST_X32_NUMBER: u32 = 0x4000_0000;

/// Read and change the keys of the user's session.
const OF_KEYS: [libc::c_long; 3] = [libc::SYS_add_key, libc::SYS_request_key, libc::SYS_keyctl];
/// The same in the 32-bit flavours.
const OF_KEYS_IN_32_BITS: [u32; 3] =
    if cfg!(target_arch = "x86_64") { [286, 287, 288] } else { [309, 310, 311] };

/// Reach objects that have no path, and that belong to others of the same user.
const WITHOUT_PATH: [libc::c_long; 7] = [
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_semget,
    libc::SYS_semctl,
    libc::SYS_msgget,
    libc::SYS_mq_open,
];

/// Change what is known of a file, which Landlock does not keep anybody from.
const OF_FILES: [libc::c_long; 16] = [
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    SETXATTRAT,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    REMOVEXATTRAT,
    FILE_SETATTR,
    libc::SYS_quotactl,
];

#[cfg(target_arch = "x86_64")]
const OF_FILES_OF_OLD: [libc::c_long; 6] = [
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
];
#[cfg(not(target_arch = "x86_64"))]
const OF_FILES_OF_OLD: [libc::c_long; 0] = [];

/// Take the number of a process first, or second; zero is the caller.
const OF_OTHERS: [(libc::c_long, u32); 7] = [
    (libc::SYS_prlimit64, FIRST),
    (libc::SYS_sched_setaffinity, FIRST),
    (libc::SYS_sched_setscheduler, FIRST),
    (libc::SYS_sched_setparam, FIRST),
    (libc::SYS_sched_setattr, FIRST),
    (libc::SYS_setpriority, SECOND),
    (libc::SYS_ioprio_set, SECOND),
];

/// How far the internet is open to a server that has no network namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Internet {
    Open,
    /// TCP only, which Landlock keeps from connecting.
    StreamsOnly,
    Refused,
}

/// Whether a server behind a fence really changes the modes, owners and times of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Modes {
    Changed,
    Kept,
}

#[derive(Debug)]
pub(crate) struct Refusals(Vec<libc::sock_filter>);

impl Refusals {
    /// For a server in namespaces of its own; `closed` says that it has a network of its own too.
    pub(crate) fn inside(closed: bool) -> io::Result<Option<Self>> {
        let mut body = no_keys();
        let mut foreign: Vec<u32> = OF_KEYS_IN_32_BITS.into();
        if closed {
            body.extend(when(IO_URING_SETUP as u32, NO_SUCH_CALL));
            body.extend(families(true, Internet::Open));
            let socket = if cfg!(target_arch = "x86_64") { 359 } else { 281 };
            foreign.extend([SOCKETCALL, socket, IO_URING_SETUP as u32]);
        }
        Self::of(body, without(&foreign)).map(Some)
    }

    /// The same, for one that sees directories of others as they are: no Unix sockets but those that are connected from the
    /// start.
    pub(crate) fn inside_beside_others(closed: bool) -> io::Result<Option<Self>> {
        let mut body = when(IO_URING_SETUP as u32, NO_SUCH_CALL);
        body.extend(no_keys());
        body.extend(pairs());
        body.extend(if closed { families(false, Internet::Open) } else { no_unix() });
        Self::of(body, vec![give(NO_SUCH_CALL)]).map(Some)
    }

    /// For a server behind a fence, without namespaces.
    pub(crate) fn fenced(internet: Internet, modes: Modes) -> io::Result<Option<Self>> {
        let mut body = when(IO_URING_SETUP as u32, NO_SUCH_CALL);
        body.extend(no_keys());
        for number in WITHOUT_PATH {
            body.extend(when(number as u32, NO_SUCH_CALL));
        }
        let of_files = OF_FILES.into_iter().chain(OF_FILES_OF_OLD);
        for number in of_files.filter(|_| modes == Modes::Kept) {
            body.extend(when(number as u32, PRETENDED));
        }
        for (number, argument) in OF_OTHERS {
            body.extend(call(
                number,
                vec![load(argument), jump(libc::BPF_JEQ, 0, 1, 0), give(NOT_PERMITTED), give(ALLOW)],
            ));
        }
        body.extend(pairs());
        body.extend(families(false, internet));
        // No program of another architecture runs: its calls have other numbers.
        Self::of(body, vec![give(NO_SUCH_CALL)]).map(Some)
    }

    fn of(body: Vec<libc::sock_filter>, foreign: Vec<libc::sock_filter>) -> io::Result<Self> {
        let native = match () {
            () if cfg!(target_arch = "x86_64") => 0xc000_003e,
            () if cfg!(target_arch = "aarch64") => 0xc000_00b7,
            () => return Err(io::Error::other("the calls of this architecture are not known")),
        };
        let mut program = vec![load(ARCHITECTURE), jump(libc::BPF_JEQ, native, foreign.len() as u8, 0)];
        program.extend(foreign);
        program.push(load(NUMBER));
        if cfg!(target_arch = "x86_64") {
            program.extend([jump(libc::BPF_JGE, FIRST_X32_NUMBER, 0, 1), give(NO_SUCH_CALL)]);
        }
        program.extend(body);
        program.push(give(ALLOW));
        Ok(Self(program))
    }

    /// Puts the program on for good. Runs after a fork: no allocation, no locks.
    ///
    /// # Safety
    /// Runs in a fresh process that has given up new rights, right before `execve`.
    pub(crate) unsafe fn apply(&self) -> Result<(), i32> {
        let program = libc::sock_fprog { len: self.0.len() as u16, filter: self.0.as_ptr().cast_mut() };
        // Older kernels would else make each of the server's branches slower.
        let flags = libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW;
        // SAFETY: the program lives as long as this does; the address is that of this thread's own number.
        unsafe {
            let put =
                libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program);
            if put < 0 { Err(*libc::__errno_location()) } else { Ok(()) }
        }
    }
}

/// Sockets may be made of the internet, of the kernel itself, and of Unix if so said; no others.
fn families(unix: bool, internet: Internet) -> Vec<libc::sock_filter> {
    let mut body = vec![load(FIRST)];
    body.extend(when(libc::AF_NETLINK as u32, ALLOW));
    body.extend(when(libc::AF_UNIX as u32, if unix { ALLOW } else { REFUSED }));
    body.extend([
        jump(libc::BPF_JEQ, libc::AF_INET as u32, 2, 0),
        jump(libc::BPF_JEQ, libc::AF_INET6 as u32, 1, 0),
        give(NO_SUCH_FAMILY),
    ]);
    match internet {
        Internet::Open => body.push(give(ALLOW)),
        Internet::StreamsOnly => {
            body.extend([load(SECOND), kind()]);
            body.extend(when(libc::SOCK_STREAM as u32, ALLOW));
            body.push(give(REFUSED));
        }
        Internet::Refused => body.push(give(REFUSED)),
    }
    call(libc::SYS_socket, body)
}

fn no_unix() -> Vec<libc::sock_filter> {
    let mut body = vec![load(FIRST)];
    body.extend(when(libc::AF_UNIX as u32, REFUSED));
    body.push(give(ALLOW));
    call(libc::SYS_socket, body)
}

/// A pair is connected for good, unless it is one of datagrams, which can be sent to any path.
fn pairs() -> Vec<libc::sock_filter> {
    let mut body = vec![load(SECOND), kind()];
    for kind in [libc::SOCK_STREAM, libc::SOCK_SEQPACKET] {
        body.extend(when(kind as u32, ALLOW));
    }
    body.push(give(REFUSED));
    call(libc::SYS_socketpair, body)
}

fn no_keys() -> Vec<libc::sock_filter> {
    OF_KEYS.iter().flat_map(|number| when(*number as u32, NO_SUCH_CALL)).collect()
}

/// Refused are these calls of another architecture.
fn without(numbers: &[u32]) -> Vec<libc::sock_filter> {
    let refused = numbers.iter().flat_map(|number| when(*number, NO_SUCH_CALL));
    [load(NUMBER)].into_iter().chain(refused).chain([give(ALLOW)]).collect()
}

fn statement(code: u32, value: u32) -> libc::sock_filter {
    libc::sock_filter { code: code as u16, jt: 0, jf: 0, k: value }
}

fn load(offset: u32) -> libc::sock_filter {
    statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset)
}

fn kind() -> libc::sock_filter {
    statement(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, KIND_MASK)
}

fn give(action: u32) -> libc::sock_filter {
    statement(libc::BPF_RET | libc::BPF_K, action)
}

fn jump(condition: u32, value: u32, if_so: u8, if_not: u8) -> libc::sock_filter {
    let code = (libc::BPF_JMP | condition | libc::BPF_K) as u16;
    libc::sock_filter { code, jt: if_so, jf: if_not, k: value }
}

/// What is loaded is this: that is the end.
fn when(value: u32, action: u32) -> Vec<libc::sock_filter> {
    vec![jump(libc::BPF_JEQ, value, 0, 1), give(action)]
}

/// The call is this: the body decides, in any case.
fn call(number: libc::c_long, body: Vec<libc::sock_filter>) -> Vec<libc::sock_filter> {
    let mut whole = vec![jump(libc::BPF_JEQ, number as u32, 0, body.len() as u8)];
    whole.extend(body);
    whole
}
