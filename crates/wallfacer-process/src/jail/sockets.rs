//! Which sockets a confined server may make: a seccomp program, made before the fork and put on after it.
//!
//! A network namespace holds no sockets to the machine that this one is a guest of, nor those of other odd families;
//! and `io_uring` makes sockets and opens files without a call that anybody could see.

/// Where the kernel puts what a filter is asked about; of an argument the lower half.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const FAMILY: u32 = 16;
const KIND: u32 = 24;

const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
const NO_SUCH_CALL: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;
const NO_SUCH_FAMILY: u32 = libc::SECCOMP_RET_ERRNO | libc::EAFNOSUPPORT as u32;
const REFUSED: u32 = libc::SECCOMP_RET_ERRNO | libc::EACCES as u32;

/// Has the same number everywhere, as all new calls have.
const IO_URING_SETUP: u32 = libc::SYS_io_uring_setup as u32;

/// Makes sockets too, in the 32-bit flavours, which share this number.
const SOCKETCALL: u32 = 102;

/// The flavour of the 64-bit calls, from this number on.
const FIRST_X32_NUMBER: u32 = 0x4000_0000;

#[derive(Debug)]
pub(crate) struct Sockets(Vec<libc::sock_filter>);

impl Sockets {
    /// Those of the internet, of Unix and of the kernel itself. Without a namespace, `fenced`, of the internet only TCP,
    /// which Landlock keeps from connecting. `None` on machines whose calls are not known here.
    pub(crate) fn new(fenced: bool) -> Option<Self> {
        let (native, foreign_socket) = match () {
            () if cfg!(target_arch = "x86_64") => (0xc000_003e, 359),
            () if cfg!(target_arch = "aarch64") => (0xc000_00b7, 281),
            () => return None,
        };
        let foreign = [
            vec![load(NUMBER)],
            when(SOCKETCALL, NO_SUCH_CALL),
            when(foreign_socket, NO_SUCH_CALL),
            when(IO_URING_SETUP, NO_SUCH_CALL),
            vec![give(ALLOW)],
        ]
        .concat();
        let mut program = vec![load(ARCHITECTURE), jump(libc::BPF_JEQ, native, foreign.len() as u8, 0)];
        program.extend(foreign);
        program.push(load(NUMBER));
        if cfg!(target_arch = "x86_64") {
            program.extend([jump(libc::BPF_JGE, FIRST_X32_NUMBER, 0, 1), give(NO_SUCH_CALL)]);
        }
        program.extend(when(IO_URING_SETUP, NO_SUCH_CALL));
        program.extend([jump(libc::BPF_JEQ, libc::SYS_socket as u32, 1, 0), give(ALLOW)]);
        program.push(load(FAMILY));
        for family in [libc::AF_UNIX, libc::AF_NETLINK] {
            program.extend(when(family as u32, ALLOW));
        }
        program.extend([
            jump(libc::BPF_JEQ, libc::AF_INET as u32, 2, 0),
            jump(libc::BPF_JEQ, libc::AF_INET6 as u32, 1, 0),
            give(NO_SUCH_FAMILY),
        ]);
        if fenced {
            program.extend([load(KIND), statement(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, 0xf)]);
            program.extend(when(libc::SOCK_STREAM as u32, ALLOW));
        }
        program.push(give(if fenced { REFUSED } else { ALLOW }));
        Some(Self(program))
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

fn statement(code: u32, value: u32) -> libc::sock_filter {
    libc::sock_filter { code: code as u16, jt: 0, jf: 0, k: value }
}

fn load(offset: u32) -> libc::sock_filter {
    statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset)
}

fn give(action: u32) -> libc::sock_filter {
    statement(libc::BPF_RET | libc::BPF_K, action)
}

fn jump(condition: u32, value: u32, if_so: u8, if_not: u8) -> libc::sock_filter {
    let code = (libc::BPF_JMP | condition | libc::BPF_K) as u16;
    libc::sock_filter { code, jt: if_so, jf: if_not, k: value }
}

fn when(value: u32, action: u32) -> Vec<libc::sock_filter> {
    vec![jump(libc::BPF_JEQ, value, 0, 1), give(action)]
}
