//! One stopped task: what `ptrace`, its memory and `/proc` tell of it, and how it goes on.

use std::cell::Cell;
use std::ffi::{CString, OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::ptr;

use super::decode;
use super::event::Image;

/// Which call a task is stopped in.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stop {
    /// About to be made.
    Entry { audit: u32, number: u64, arguments: [u64; 6] },
    /// Came back with this.
    Exit { result: i64 },
    /// Neither.
    Other,
}

/// The kernel's `ptrace_syscall_info`.
#[repr(C)]
struct Information {
    operation: u8,
    _padding: [u8; 3],
    audit: u32,
    _instruction: u64,
    _stack: u64,
    /// At an exit: the result.
    number: u64,
    arguments: [u64; 6],
    _filter_data: u64,
}

/// The C libraries do not agree on it.
#[cfg(target_env = "musl")]
pub(super) type Request = libc::c_int;
#[cfg(not(target_env = "musl"))]
pub(super) type Request = libc::c_uint;

const GET_SYSCALL_INFO: Request = 0x420e;
const OPERATION_EXIT: u8 = 2;
const OPERATION_SECCOMP: u8 = 3;

/// The kernel shows no longer path than one page.
const MAX_LINK: usize = 4096;

/// What is kept of the arguments that a new program was handed.
const MAX_COMMAND_LINE: u64 = 128 * 1024;

/// `openat2`: links that name files by number are not followed, for they mean another file to us.
const RESOLVE_NO_MAGIC_LINKS: u64 = 0x02;
/// `openat2`: absolute links begin at the target's root.
const RESOLVE_IN_ROOT: u64 = 0x10;

#[derive(Debug, Clone)]
pub(super) struct Tracee {
    pub(super) tid: libc::pid_t,
    /// Some containers refuse the quick way of reading memory.
    slow_memory: Cell<bool>,
}

impl Tracee {
    pub(super) fn new(tid: libc::pid_t) -> Self {
        Self { tid, slow_memory: Cell::new(false) }
    }

    /// Lets the task go on. One that was killed meanwhile cannot, and its end will be told.
    pub(super) fn resume(&self, request: Request, signal: libc::c_int) {
        // SAFETY: neither argument is a pointer here.
        unsafe { libc::ptrace(request, self.tid, 0, libc::c_long::from(signal)) };
    }

    pub(super) fn stop(&self) -> io::Result<Stop> {
        let mut information = MaybeUninit::<Information>::zeroed();
        // SAFETY: the kernel writes at most as many bytes as it is told, and all zeros are a value too.
        let information = unsafe {
            let size = size_of::<Information>();
            if libc::ptrace(GET_SYSCALL_INFO, self.tid, size, information.as_mut_ptr()) < 0 {
                return Err(io::Error::last_os_error());
            }
            information.assume_init()
        };
        Ok(match information.operation {
            OPERATION_SECCOMP => Stop::Entry {
                audit: information.audit,
                number: information.number,
                arguments: information.arguments,
            },
            OPERATION_EXIT => Stop::Exit { result: information.number as i64 },
            _ => Stop::Other,
        })
    }

    /// What an event of `ptrace` is about: the new task, or the former number of this one.
    pub(super) fn message(&self) -> libc::pid_t {
        let mut message: libc::c_ulong = 0;
        // SAFETY: the kernel writes one word.
        unsafe { libc::ptrace(libc::PTRACE_GETEVENTMSG, self.tid, 0, ptr::from_mut(&mut message)) };
        message as libc::pid_t
    }

    /// Makes the call that is about to be made come back with `result` instead. Says whether that worked: it does not
    /// when the task was killed meanwhile.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn skip(&self, result: i64) -> bool {
        let [number, value] = [
            std::mem::offset_of!(libc::user_regs_struct, orig_rax),
            std::mem::offset_of!(libc::user_regs_struct, rax),
        ];
        // SAFETY: no argument is a pointer: these are offsets and values of registers.
        unsafe {
            libc::ptrace(libc::PTRACE_POKEUSER, self.tid, number, -1_i64) == 0
                && libc::ptrace(libc::PTRACE_POKEUSER, self.tid, value, result) == 0
        }
    }

    #[cfg(target_arch = "aarch64")]
    pub(super) fn skip(&self, result: i64) -> bool {
        const SYSTEM_CALL: usize = 0x404;
        let mut number: libc::c_int = -1;
        let mut registers = MaybeUninit::<libc::user_regs_struct>::zeroed();
        let number =
            libc::iovec { iov_base: ptr::from_mut(&mut number).cast(), iov_len: size_of_val(&number) };
        let general = libc::iovec {
            iov_base: registers.as_mut_ptr().cast(),
            iov_len: size_of::<libc::user_regs_struct>(),
        };
        let status = libc::NT_PRSTATUS as usize;
        // SAFETY: each vector describes memory that is there, and all zeros are a value of the registers.
        unsafe {
            if libc::ptrace(libc::PTRACE_GETREGSET, self.tid, status, ptr::from_ref(&general)) != 0 {
                return false;
            }
            (*registers.as_mut_ptr()).regs[0] = result as u64;
            libc::ptrace(libc::PTRACE_SETREGSET, self.tid, status, ptr::from_ref(&general)) == 0
                && libc::ptrace(libc::PTRACE_SETREGSET, self.tid, SYSTEM_CALL, ptr::from_ref(&number)) == 0
        }
    }

    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    pub(super) fn skip(&self, _result: i64) -> bool {
        false
    }

    /// How many bytes from `address` on could be read. Never asks for more than one page at a time, since the next may
    /// not be there.
    pub(super) fn read(&self, address: u64, buffer: &mut [u8]) -> usize {
        let mut done = 0;
        while done < buffer.len() {
            let Some(at) = address.checked_add(done as u64) else { break };
            let to_page_end = decode::PAGE - (at % decode::PAGE as u64) as usize;
            let end = buffer.len().min(done + to_page_end);
            match self.read_in_page(at, &mut buffer[done..end]) {
                0 => break,
                count => done += count,
            }
        }
        done
    }

    fn read_in_page(&self, address: u64, buffer: &mut [u8]) -> usize {
        if !self.slow_memory.get() {
            let ours = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
            let theirs = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: buffer.len() };
            // SAFETY: our side describes `buffer`; their side is only looked at by the kernel.
            let count = unsafe { libc::process_vm_readv(self.tid, &ours, 1, &theirs, 1, 0) };
            if let Ok(count) = usize::try_from(count) {
                return count;
            }
            let refused = io::Error::last_os_error().raw_os_error();
            if !matches!(refused, Some(libc::EPERM | libc::ENOSYS)) {
                return 0;
            }
            self.slow_memory.set(true);
        }
        let memory = File::open(format!("/proc/{}/mem", self.tid));
        memory.and_then(|memory| memory.read_at(buffer, address)).unwrap_or(0)
    }

    /// What a descriptor stands for: a path, or a word such as `socket:[4711]`.
    pub(super) fn descriptor(&self, number: i32) -> Option<OsString> {
        link(format!("/proc/{}/fd/{number}", self.tid))
    }

    /// Where paths relative to a descriptor begin.
    pub(super) fn directory(&self, number: i32) -> Option<OsString> {
        match number {
            libc::AT_FDCWD => link(format!("/proc/{}/cwd", self.tid)),
            _ => self.descriptor(number),
        }
    }

    /// The process that this thread belongs to.
    pub(super) fn process(&self) -> Option<libc::pid_t> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.tid)).ok()?;
        status.lines().find_map(|line| line.strip_prefix("Tgid:"))?.trim().parse().ok()
    }

    /// The program that runs now.
    pub(super) fn image(&self) -> Image {
        let file = link(format!("/proc/{}/exe", self.tid));
        let mut text = Vec::new();
        let read = File::open(format!("/proc/{}/cmdline", self.tid))
            .and_then(|file| file.take(MAX_COMMAND_LINE).read_to_end(&mut text));
        if read.is_err() || text.is_empty() {
            return Image { file, arguments: Vec::new() };
        }
        let text = text.strip_suffix(b"\0").unwrap_or(&text);
        let arguments = text.split(|&byte| byte == 0).map(|word| OsString::from_vec(word.to_vec()));
        Image { file, arguments: arguments.collect() }
    }

    /// Where an absolute path of the target leads, through all links: all of it, or its directory only.
    pub(super) fn resolve(&self, path: &Path, follow: bool) -> Option<OsString> {
        // Much in there means the one who asks, and that would be us.
        if path.starts_with("/proc") {
            return None;
        }
        let (place, name) = match (follow, path.parent(), path.file_name()) {
            (false, Some(parent), Some(name)) => (parent, Some(name)),
            _ => (path, None),
        };
        let root = open_place(libc::AT_FDCWD, OsStr::new(&format!("/proc/{}/root", self.tid)), 0)?;
        let place = place.strip_prefix("/").unwrap_or(place);
        let place = if place.as_os_str().is_empty() { OsStr::new(".") } else { place.as_os_str() };
        let found = open_place(root.as_raw_fd(), place, RESOLVE_IN_ROOT | RESOLVE_NO_MAGIC_LINKS)?;
        let mut found = link(format!("/proc/self/fd/{}", found.as_raw_fd()))?;
        if let Some(name) = name {
            if found.as_bytes().last() != Some(&b'/') {
                found.push("/");
            }
            found.push(name);
        }
        Some(found)
    }

    /// A second descriptor for an open file of the target, where the system lets us have it.
    pub(super) fn borrow(&self, process: libc::pid_t, number: i32) -> Option<OwnedFd> {
        // SAFETY: no argument is a pointer, and what comes back is a new descriptor that nobody else owns.
        unsafe {
            let pidfd = owned(libc::syscall(libc::SYS_pidfd_open, process, 0))?;
            owned(libc::syscall(libc::SYS_pidfd_getfd, pidfd.as_raw_fd(), number, 0))
        }
    }
}

fn link(path: String) -> Option<OsString> {
    link_in(libc::AT_FDCWD, path)
}

fn link_in(directory: libc::c_int, path: String) -> Option<OsString> {
    let path = CString::new(path).ok()?;
    let mut buffer = [0_u8; MAX_LINK];
    // SAFETY: the path is a C string, and the buffer is as long as the length says.
    let length =
        unsafe { libc::readlinkat(directory, path.as_ptr(), buffer.as_mut_ptr().cast(), buffer.len()) };
    let length = usize::try_from(length).ok()?;
    Some(OsString::from_vec(buffer.get(..length)?.to_vec()))
}

/// The list of open files of the task that was last asked about. To look a name up in it takes half as long as to walk
/// there each time, and most opens come from one task.
#[derive(Debug, Default)]
pub(super) struct Descriptors {
    last: Option<(libc::pid_t, OwnedFd)>,
}

impl Descriptors {
    /// As [`Tracee::descriptor`].
    pub(super) fn get(&mut self, tracee: &Tracee, number: i32) -> Option<OsString> {
        if self.last.as_ref().is_none_or(|&(tid, _)| tid != tracee.tid) {
            let list = open_place(libc::AT_FDCWD, OsStr::new(&format!("/proc/{}/fd", tracee.tid)), 0);
            self.last = list.map(|list| (tracee.tid, list));
        }
        match &self.last {
            Some((_, list)) => link_in(list.as_raw_fd(), number.to_string()),
            None => tracee.descriptor(number),
        }
    }

    /// The task is gone, and its number may come to mean another.
    pub(super) fn forget(&mut self, tid: libc::pid_t) {
        self.last.take_if(|&mut (last, _)| last == tid);
    }
}

/// Opens a place without opening what is there.
fn open_place(directory: libc::c_int, path: &OsStr, resolve: u64) -> Option<OwnedFd> {
    let path = CString::new(path.as_bytes()).ok()?;
    // The kernel's `open_how`: flags, mode, resolve.
    let how = [(libc::O_PATH | libc::O_CLOEXEC) as u64, 0, resolve];
    // SAFETY: the path is a C string, `how` is as long as the length says, and the descriptor is a new one.
    unsafe {
        owned(libc::syscall(libc::SYS_openat2, directory, path.as_ptr(), how.as_ptr(), size_of_val(&how)))
    }
}

/// # Safety
/// `descriptor` is one that nobody else owns, or negative.
unsafe fn owned(descriptor: libc::c_long) -> Option<OwnedFd> {
    // SAFETY: as the caller says.
    (descriptor >= 0).then(|| unsafe { OwnedFd::from_raw_fd(descriptor as libc::c_int) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ourselves() -> Tracee {
        Tracee::new(std::process::id() as libc::pid_t)
    }

    #[test]
    fn memory_is_read_the_slow_way_where_the_quick_one_is_refused() {
        let text = b"what is there".to_vec();
        for slow in [false, true] {
            let tracee = ourselves();
            tracee.slow_memory.set(slow);
            let mut buffer = vec![0; text.len()];
            assert_eq!(tracee.read(text.as_ptr().addr() as u64, &mut buffer), text.len());
            assert_eq!(buffer, text);
            assert_eq!(tracee.read(0, &mut buffer), 0);
        }
    }

    #[test]
    fn a_path_is_resolved_with_and_without_its_last_link() {
        let folder = tempfile::TempDir::new().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir(root.join("real")).unwrap();
        fs::write(root.join("real/file"), "").unwrap();
        std::os::unix::fs::symlink("real", root.join("folder")).unwrap();
        std::os::unix::fs::symlink(root.join("real/file"), root.join("real/link")).unwrap();
        let resolve = |path: &str, follow| ourselves().resolve(&root.join(path), follow);
        assert_eq!(resolve("folder/link", true), Some(root.join("real/file").into()));
        assert_eq!(resolve("folder/link", false), Some(root.join("real/link").into()));
        assert_eq!(resolve("folder/none", false), Some(root.join("real/none").into()));
        assert_eq!(resolve("nowhere/none", false), None);
        assert_eq!(ourselves().resolve(Path::new("/x"), false), Some("/x".into()));
    }
}
