//! Makes a seccomp program from the table of calls, before the fork, for after it nothing can be allocated.

use std::io;

use super::call::{Architecture, Call};

/// Which calls stop a task.
///
/// All that [`Kind`](super::Kind) names does. Besides, so that the record stays true, the target cannot have:
/// - `io_uring` (ENOSYS, as on a system without it): it opens and connects without a call;
/// - a seccomp listener of its own (EINVAL): it would outrank this filter;
/// - `ptrace` (EPERM): no task of the tree can have a second tracer, except one that is kept from us;
/// - mounts (EPERM): a file would be reached by a path that is not its own;
/// - memory that we cannot read: `PR_SET_DUMPABLE` 0 is answered as if it were done;
/// - the x32 flavour of calls (ENOSYS);
/// - more rights through setuid programs, which run as whoever starts them.
///
/// A task that was started out of our sight (`CLONE_UNTRACED`) gets ENOSYS from every call of the table.
#[derive(Debug, Clone)]
pub struct Filter {
    program: Vec<libc::sock_filter>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// Stop at `write` and `writev` beyond stderr too, so that what goes through a connected datagram socket is seen:
    /// some resolvers ask for names that way. Costs two stops per write; not needed where a sink answers.
    pub datagram_writes: bool,
    /// Stop at `stat`, `access`, `readlink` and their kin too, so that what is looked for in vain is seen. Programs ask so
    /// often that it is for short lives only: to find out why one does not start.
    pub lookups: bool,
}

/// From here on numbers of x86_64 mean the x32 flavour, whose arguments would be read wrongly.
const FIRST_X32_NUMBER: u32 = 0x4000_0000;

/// Where `seccomp_data` has its fields; of a 64-bit argument the lower half.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const FIRST_ARGUMENT: u32 = 16;
const SECOND_ARGUMENT: u32 = 24;

const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
const STOP: u32 = libc::SECCOMP_RET_TRACE;
const NO_SUCH_CALL: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;

impl Filter {
    /// Fails where the numbers of the calls are not known: on anything but x86_64 and aarch64.
    pub fn new(options: Options) -> io::Result<Self> {
        let native = Architecture::NATIVE.ok_or(io::ErrorKind::Unsupported)?;
        let mut program = Vec::new();
        program.extend([load(ARCHITECTURE), jump(libc::BPF_JEQ, native.audit(), 1, 0), give(STOP)]);
        program.push(load(NUMBER));
        if native == Architecture::X86_64 {
            program.extend([jump(libc::BPF_JGE, FIRST_X32_NUMBER, 0, 1), give(NO_SUCH_CALL)]);
        }
        for (number, call) in native.calls() {
            program.extend(stops(call, options).into_iter().flat_map(|condition| rule(number, condition)));
        }
        program.push(give(ALLOW));
        Ok(Self { program })
    }

    /// What `seccomp` takes; valid as long as the filter is.
    pub(super) fn program(&self) -> libc::sock_fprog {
        libc::sock_fprog { len: self.program.len() as u16, filter: self.program.as_ptr().cast_mut() }
    }
}

/// When a call stops the task.
enum Condition {
    Always,
    /// The argument at this offset compares to a value in this way.
    If(u32, u32, u32),
}

/// `None`: never.
fn stops(call: Call, options: Options) -> Option<Condition> {
    match call {
        Call::Seccomp => Some(Condition::If(
            SECOND_ARGUMENT,
            libc::BPF_JSET,
            libc::SECCOMP_FILTER_FLAG_NEW_LISTENER as u32,
        )),
        Call::ProcessControl => {
            Some(Condition::If(FIRST_ARGUMENT, libc::BPF_JEQ, libc::PR_SET_DUMPABLE as u32))
        }
        Call::Write | Call::WriteVector => options.datagram_writes.then_some(Condition::If(
            FIRST_ARGUMENT,
            libc::BPF_JGT,
            libc::STDERR_FILENO as u32,
        )),
        Call::Look | Call::LookAt => options.lookups.then_some(Condition::Always),
        _ => Some(Condition::Always),
    }
}

fn rule(number: u32, condition: Condition) -> Vec<libc::sock_filter> {
    match condition {
        Condition::Always => vec![jump(libc::BPF_JEQ, number, 0, 1), give(STOP)],
        Condition::If(argument, comparison, value) => vec![
            jump(libc::BPF_JEQ, number, 0, 4),
            load(argument),
            jump(comparison, value, 0, 1),
            give(STOP),
            give(ALLOW),
        ],
    }
}

fn load(offset: u32) -> libc::sock_filter {
    instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset, 0, 0)
}

/// Passes over `then` instructions when the comparison holds, over `otherwise` when it does not.
fn jump(comparison: u32, value: u32, then: u8, otherwise: u8) -> libc::sock_filter {
    instruction(libc::BPF_JMP | comparison | libc::BPF_K, value, then, otherwise)
}

fn give(action: u32) -> libc::sock_filter {
    instruction(libc::BPF_RET | libc::BPF_K, action, 0, 0)
}

fn instruction(code: u32, k: u32, jt: u8, jf: u8) -> libc::sock_filter {
    libc::sock_filter { code: code as u16, jt, jf, k }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the program as the kernel would, on a call with these first two arguments.
    fn action(filter: &Filter, architecture: u32, number: u32, arguments: [u32; 2]) -> u32 {
        let mut accumulator = 0;
        let mut at = 0;
        loop {
            let instruction = filter.program[at];
            at += 1;
            let code = u32::from(instruction.code);
            let holds = match code & 0xf0 {
                libc::BPF_JEQ => accumulator == instruction.k,
                libc::BPF_JGT => accumulator > instruction.k,
                libc::BPF_JGE => accumulator >= instruction.k,
                _ => accumulator & instruction.k != 0,
            };
            match code & 0x07 {
                libc::BPF_LD => {
                    accumulator = match instruction.k {
                        NUMBER => number,
                        ARCHITECTURE => architecture,
                        FIRST_ARGUMENT => arguments[0],
                        _ => arguments[1],
                    }
                }
                libc::BPF_JMP => at += usize::from(if holds { instruction.jt } else { instruction.jf }),
                _ => return instruction.k,
            }
        }
    }

    #[test]
    fn what_is_in_the_table_stops_and_nothing_else_does() {
        let native = Architecture::NATIVE.unwrap();
        let filter = Filter::new(Options::default()).unwrap();
        for number in 0..1000 {
            let stops = match native.call(number.into()) {
                None
                | Some(
                    Call::Seccomp
                    | Call::ProcessControl
                    | Call::Write
                    | Call::WriteVector
                    | Call::Look
                    | Call::LookAt,
                ) => ALLOW,
                Some(_) => STOP,
            };
            assert_eq!(action(&filter, native.audit(), number, [0, 0]), stops, "{number}");
            assert_eq!(action(&filter, 0x4000_0003, number, [0, 0]), STOP, "foreign {number}");
        }
    }

    #[test]
    fn some_calls_stop_for_some_arguments() {
        let native = Architecture::NATIVE.unwrap();
        let filter = Filter::new(Options { datagram_writes: true, lookups: true }).unwrap();
        let action = |number: libc::c_long, arguments| {
            action(&filter, native.audit(), u32::try_from(number).unwrap(), arguments)
        };
        assert_eq!(action(libc::SYS_newfstatat, [0, 0]), STOP);
        assert_eq!(action(libc::SYS_seccomp, [1, 0x28]), STOP);
        assert_eq!(action(libc::SYS_seccomp, [1, 0x20]), ALLOW);
        assert_eq!(action(libc::SYS_prctl, [4, 0]), STOP);
        assert_eq!(action(libc::SYS_prctl, [15, 0]), ALLOW);
        assert_eq!(action(libc::SYS_write, [3, 0]), STOP);
        assert_eq!(action(libc::SYS_writev, [2, 0]), ALLOW);
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn the_x32_flavour_is_not_there() {
        let filter = Filter::new(Options::default()).unwrap();
        let native = Architecture::X86_64.audit();
        assert_eq!(action(&filter, native, FIRST_X32_NUMBER + 2, [0, 0]), NO_SUCH_CALL);
    }
}
