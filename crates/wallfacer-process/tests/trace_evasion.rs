//! Ways around a tracer, each tried from inside: what they reach is seen, or they are refused and that is seen.

#![cfg(target_os = "linux")]
#![allow(unsafe_code)]

mod watched;

use std::fs;

use tempfile::TempDir;
use wallfacer_process::trace::{Kind, Outcome};
use watched::{c, errno, open, watch};

/// Makes a call that is expected to fail; gives its `errno`, or 0.
fn refusal(number: libc::c_long, arguments: [usize; 5]) -> i32 {
    let [first, second, third, fourth, fifth] = arguments;
    // SAFETY: each call here takes numbers, or pointers that are there.
    match unsafe { libc::syscall(number, first, second, third, fourth, fifth) } {
        -1 => errno(),
        _ => 0,
    }
}

#[test]
fn io_uring_is_not_there() {
    let parameters = [0_u8; 120];
    let watched = watch(|| {
        i32::from(refusal(libc::SYS_io_uring_setup, [8, parameters.as_ptr().addr(), 0, 0, 0]) != libc::ENOSYS)
    });
    assert_eq!(watched.exit_code(), Some(0));
    assert_eq!(watched.system("io_uring_setup"), [Outcome::Refused(libc::ENOSYS)]);
}

/// Lets every call through, or hands it to a listener.
fn filter(action: u32) -> [libc::sock_filter; 1] {
    [libc::sock_filter { code: (libc::BPF_RET | libc::BPF_K) as u16, jt: 0, jf: 0, k: action }]
}

fn install(action: u32, flags: libc::c_ulong) -> i32 {
    let filter = filter(action);
    let program = libc::sock_fprog { len: 1, filter: filter.as_ptr().cast_mut() };
    let mode = libc::SECCOMP_SET_MODE_FILTER as usize;
    refusal(libc::SYS_seccomp, [mode, flags as usize, (&raw const program).addr(), 0, 0])
}

#[test]
fn a_listener_of_the_targets_own_cannot_outrank_ours() {
    let watched = watch(|| {
        let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
        i32::from(install(libc::SECCOMP_RET_USER_NOTIF, flags) != libc::EINVAL)
    });
    assert_eq!(watched.exit_code(), Some(0));
    assert_eq!(watched.system("seccomp listener"), [Outcome::Refused(libc::EINVAL)]);
}

#[test]
fn a_filter_of_the_targets_own_hides_nothing() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().canonicalize().unwrap().join("file");
    fs::write(&path, "").unwrap();
    let text = c(&path);
    // The second stops every call, with data that claims another number.
    for action in [libc::SECCOMP_RET_ALLOW, libc::SECCOMP_RET_TRACE | 1] {
        let watched = watch(|| install(action, 0) + open(&text, libc::O_RDONLY).min(0));
        assert_eq!(watched.exit_code(), Some(0));
        assert_eq!(watched.opens(&path).len(), 1);
    }
}

#[test]
fn a_child_out_of_sight_can_open_nothing_and_cannot_be_traced_by_another() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, "").unwrap();
    let text = c(&path);
    let watched = watch(|| {
        // SAFETY: as `fork`; the child opens and ends.
        unsafe {
            let flags = libc::CLONE_UNTRACED | libc::SIGCHLD;
            let child = libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) as libc::pid_t;
            if child == 0 {
                let opened = open(&text, libc::O_RDONLY);
                libc::_exit(if opened < 0 { errno() } else { 0 });
            }
            let attached =
                refusal(libc::SYS_ptrace, [libc::PTRACE_SEIZE as usize, child as usize, 0, 0x80, 0]);
            let mut status = 0;
            libc::waitpid(child, &mut status, 0);
            i32::from(attached != libc::EPERM) + i32::from(libc::WEXITSTATUS(status) != libc::ENOSYS)
        }
    });
    assert_eq!(watched.exit_code(), Some(0));
    assert_eq!(watched.system("ptrace"), [Outcome::Refused(libc::EPERM)]);
}

/// Debuggers, and browsers that build a sandbox of their own, want what we have: they are told no, and go on without.
#[test]
fn a_target_that_wants_to_trace_its_own_child_goes_on_without() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().canonicalize().unwrap().join("file");
    fs::write(&path, "").unwrap();
    let text = c(&path);
    let watched = watch(|| {
        // SAFETY: the child makes two calls and ends.
        unsafe {
            let child = libc::fork();
            if child == 0 {
                let traced = refusal(libc::SYS_ptrace, [libc::PTRACE_TRACEME as usize, 0, 0, 0, 0]);
                let opened = open(&text, libc::O_RDONLY);
                libc::_exit(i32::from(traced != libc::EPERM || opened < 0));
            }
            // Whether there may be such a namespace is for the machine to say; what counts is that both live on.
            let _as_the_machine_likes = libc::unshare(libc::CLONE_NEWUSER);
            let mut status = 0;
            libc::waitpid(child, &mut status, 0);
            i32::from(status != 0)
        }
    });
    assert_eq!(watched.exit_code(), Some(0));
    assert_eq!(watched.system("ptrace"), [Outcome::Refused(libc::EPERM)]);
    assert_eq!(watched.opens(&path).len(), 1);
}

#[test]
fn mounts_are_refused_even_in_namespaces_of_the_targets_own() {
    let watched = watch(|| {
        // SAFETY: takes no pointers.
        unsafe { libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNS) };
        let [from, to] = [c"/etc".as_ptr().addr(), c"/mnt".as_ptr().addr()];
        let refused = refusal(libc::SYS_mount, [from, to, 0, libc::MS_BIND as usize, 0]);
        i32::from(refused != libc::EPERM)
    });
    assert_eq!(watched.exit_code(), Some(0));
    assert_eq!(watched.system("mount"), [Outcome::Refused(libc::EPERM)]);
}

#[test]
fn memory_cannot_be_hidden_from_us() {
    let watched = watch(|| {
        // SAFETY: takes no pointers.
        unsafe {
            let answer = libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0);
            answer + i32::from(libc::prctl(libc::PR_GET_DUMPABLE, 0, 0, 0, 0) != 1)
        }
    });
    assert_eq!(watched.exit_code(), Some(0));
    assert_eq!(watched.system("prctl PR_SET_DUMPABLE"), [Outcome::Refused(0)]);
}

#[test]
fn a_target_can_know_that_it_is_watched() {
    let watched = watch(|| {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        i32::from(status.contains("TracerPid:\t0\n") || !status.contains("Seccomp:\t2\n"))
    });
    assert_eq!(watched.exit_code(), Some(0));
}

#[cfg(target_arch = "x86_64")]
mod foreign {
    use std::arch::asm;
    use std::net::{SocketAddr, TcpListener};

    use wallfacer_process::trace::Address;

    use super::*;

    /// A page that a 32-bit pointer can name, with `bytes` at its beginning.
    fn low(bytes: &[u8]) -> u32 {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_32BIT;
        // SAFETY: the page is new.
        unsafe {
            let page =
                libc::mmap(std::ptr::null_mut(), 4096, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
            page.cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            u32::try_from(page.addr()).expect("a low address")
        }
    }

    /// A system call of 32 bits. The register of the first argument is one that the compiler keeps for itself.
    fn call(number: u32, [first, second, third]: [u32; 3]) -> i32 {
        let mut result = u64::from(number);
        // SAFETY: the call takes low pointers, which are there.
        unsafe {
            asm!(
                "xchg rbx, {first}", "int 0x80", "xchg rbx, {first}",
                first = inout(reg) u64::from(first) => _,
                inout("rax") result,
                in("rcx") u64::from(second), in("rdx") u64::from(third),
                out("r8") _, out("r9") _, out("r10") _, out("r11") _,
            );
        }
        result as i32
    }

    #[test]
    fn calls_of_32_bits_are_seen_as_what_they_are() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().canonicalize().unwrap().join("file");
        let text = c(&path).into_bytes_with_nul();
        let watched = watch(|| {
            let path = low(&text);
            let file = call(8, [path, 0o600, 0]);
            i32::from(file < 0 || call(5, [path, 0, 0]) < 0 || call(10, [path, 0, 0]) < 0)
        });
        assert_eq!(watched.exit_code(), Some(0));
        let [created, read] = &watched.opens(&path)[..] else { panic!("{:#?}", watched.events) };
        assert!(matches!(&created.kind, Kind::Open { access, .. } if access.write && access.create));
        assert!(matches!(&read.kind, Kind::Open { access, .. } if access.read && !access.write));
        let removed =
            watched.find(|kind| matches!(kind, Kind::Unlink { location } if location.path() == path));
        assert!(removed.outcome.succeeded());
    }

    #[test]
    fn a_connection_by_the_call_for_all_of_sockets_is_seen() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let SocketAddr::V4(address) = listener.local_addr().unwrap() else { unreachable!() };
        let watched = watch(|| {
            let words = |words: [u32; 3]| low(&words.map(u32::to_ne_bytes).concat());
            let socket = call(102, [1, words([2, 1, 0]), 0]) as u32;
            let family = 2_u16.to_ne_bytes();
            let name = [&family[..], &address.port().to_be_bytes(), &address.ip().octets(), &[0; 8]].concat();
            call(102, [3, words([socket, low(&name), 16]), 0]).abs()
        });
        assert_eq!(watched.exit_code(), Some(0));
        let event = watched.find(|kind| matches!(kind, Kind::Connect { .. }));
        let Kind::Connect { address: asked, socket, .. } = &event.kind else { unreachable!() };
        assert_eq!(*asked, Address::Inet(address.into()));
        assert!(socket.is_some());
    }

    #[test]
    fn what_is_refused_is_refused_in_32_bits_too() {
        let watched = watch(|| {
            let refusals = [call(425, [8, low(&[]), 0]), call(26, [0, 0, 0]), call(354, [1, 8, low(&[])])];
            i32::from(refusals != [-libc::ENOSYS, -libc::EPERM, -libc::EINVAL])
        });
        assert_eq!(watched.exit_code(), Some(0));
        assert_eq!(watched.system("io_uring_setup").len(), 1);
    }

    #[test]
    fn the_x32_flavour_of_a_call_is_not_there() {
        let watched = watch(|| {
            let path = c("/etc/hostname");
            let opened = refusal(0x4000_0002, [path.as_ptr().addr(), 0, 0, 0, 0]);
            i32::from(opened != libc::ENOSYS)
        });
        assert_eq!(watched.exit_code(), Some(0));
    }
}
