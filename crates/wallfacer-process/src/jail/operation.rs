//! The steps of building a jail, made before the fork and carried out by the keeper. Carrying out allocates nothing
//! and takes no lock; all memory a step needs is in it.

use std::ffi::{CStr, CString};
use std::fmt;
use std::mem;
use std::os::fd::RawFd;
use std::ptr;

use super::{fence, passing};

#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) operation: Operation,
    /// Without a required step there is no jail; others make it better where the kernel has them.
    pub(crate) required: bool,
}

#[derive(Debug)]
pub(crate) enum Operation {
    /// Writes to a file that is there, such as one of `/proc`, with one call.
    Write {
        path: CString,
        bytes: Vec<u8>,
    },
    Create {
        path: CString,
        bytes: Vec<u8>,
        mode: libc::mode_t,
    },
    /// Makes a directory, or gives one that is there this mode.
    Directory {
        path: CString,
        mode: libc::mode_t,
    },
    Symlink {
        path: CString,
        target: CString,
    },
    Mount {
        source: CString,
        target: CString,
        kind: Option<CString>,
        flags: libc::c_ulong,
        options: Option<CString>,
    },
    /// Makes a directory that nobody has made before, for the user alone.
    New {
        path: CString,
    },
    /// Gives a server behind a fence all rights to what is beneath a directory.
    Grant {
        fence: RawFd,
        path: CString,
        rights: u64,
    },
    /// Mounts an overlay, or the source itself without the right to write where the kernel refuses an overlay of it.
    Overlay {
        layer: u32,
        source: Option<CString>,
        target: CString,
        options: CString,
        writable: bool,
    },
    /// Takes the right to write and to use devices from a mount, and from all beneath it.
    Seal {
        target: CString,
        recursive: bool,
    },
    /// Keeps devices and programs that change the user from having an effect in a mount and in all beneath it.
    Tame {
        target: CString,
    },
    /// Makes `root` the root, and what was the root its directory `old`.
    Pivot {
        root: CString,
        old: CString,
    },
    /// Makes `root` the root, and lets go of what was the root.
    Leave {
        root: CString,
    },
    /// One message to the kernel's network, which answers with an error number.
    Netlink(Vec<u8>),
    /// Passes a file or directory to our side, open for reading; or the error number, where it cannot be opened.
    Pass {
        path: CString,
    },
}

/// Why a jail was not built.
pub(crate) struct Fault {
    pub(crate) step: usize,
    pub(crate) errno: i32,
}

/// Carries out all steps. Gives a bit for each layer that is read-only, because it could not be an overlay.
///
/// # Safety
/// Runs in a keeper that has namespaces of its own, and nowhere else.
pub(crate) unsafe fn carry_out(steps: &[Step], passing_on: RawFd) -> Result<u128, Fault> {
    let mut read_only = 0;
    // SAFETY: umask takes no pointers; the rest is the caller's promise.
    unsafe {
        // Modes are meant as they are given; the server gets back the mask it would have had.
        let mask = libc::umask(0);
        for (step, Step { operation, required }) in steps.iter().enumerate() {
            match operation.carry_out(passing_on, &mut read_only) {
                Err(errno) if *required => return Err(Fault { step, errno }),
                _ => {}
            }
        }
        libc::umask(mask);
    }
    Ok(read_only)
}

type Done = Result<(), i32>;

impl Operation {
    unsafe fn carry_out(&self, passing_on: RawFd, read_only: &mut u128) -> Done {
        // SAFETY: every pointer is to a C string or to bytes of the length given with it, all made before the fork.
        unsafe {
            match self {
                Self::Write { path, bytes } => write(path, libc::O_WRONLY, 0, bytes),
                Self::Create { path, bytes, mode } => {
                    write(path, libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC, *mode, bytes)
                }
                Self::Directory { path, mode } => {
                    match check(libc::mkdir(path.as_ptr(), *mode)) {
                        Err(libc::EEXIST) | Ok(()) => {}
                        other => return other,
                    }
                    check(libc::chmod(path.as_ptr(), *mode))
                }
                Self::New { path } => check(libc::mkdir(path.as_ptr(), 0o700)),
                Self::Grant { fence, path, rights } => fence::grant(*fence, path, *rights),
                Self::Symlink { path, target } => check(libc::symlink(target.as_ptr(), path.as_ptr())),
                Self::Mount { source, target, kind, flags, options } => {
                    mount(source, target, kind.as_deref(), *flags, options.as_deref())
                }
                Self::Overlay { layer, source, target, options, writable } => {
                    let sealed = if *writable { 0 } else { libc::MS_RDONLY };
                    let flags = libc::MS_NOSUID | libc::MS_NODEV | sealed;
                    let mounted = mount(c"overlay", target, Some(c"overlay"), flags, Some(options));
                    match source {
                        Some(source) if mounted.is_err() => {
                            *read_only |= 1_u128.wrapping_shl(*layer);
                            mount(source, target, None, libc::MS_BIND | libc::MS_REC, None)?;
                            seal(target, true)
                        }
                        _ => mounted,
                    }
                }
                Self::Seal { target, recursive } => seal(target, *recursive),
                Self::Tame { target } => {
                    restrict(target, true, libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV)
                }
                Self::Pivot { root, old } => {
                    pivot(root, old)?;
                    check(libc::chdir(c"/".as_ptr()))
                }
                Self::Leave { root } => {
                    check(libc::chdir(root.as_ptr()))?;
                    // The old root comes to lie on the new one, and is taken off.
                    pivot(c".", c".")?;
                    check(libc::umount2(c".".as_ptr(), libc::MNT_DETACH))?;
                    check(libc::chdir(c"/".as_ptr()))
                }
                Self::Netlink(message) => netlink(message),
                Self::Pass { path } => pass(path, passing_on),
            }
        }
    }
}

unsafe fn mount(
    source: &CStr,
    target: &CStr,
    kind: Option<&CStr>,
    flags: libc::c_ulong,
    options: Option<&CStr>,
) -> Done {
    let [kind, options] = [kind, options].map(|text| text.map_or(ptr::null(), CStr::as_ptr));
    // SAFETY: all are C strings, or null where the call allows it.
    check(unsafe { libc::mount(source.as_ptr(), target.as_ptr(), kind, flags, options.cast()) })
}

unsafe fn seal(target: &CStr, recursive: bool) -> Done {
    // SAFETY: the caller's promise.
    unsafe {
        let what = libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;
        restrict(target, recursive, what)
    }
}

unsafe fn restrict(target: &CStr, recursive: bool, what: u64) -> Done {
    // SAFETY: all zeros ask for no change.
    let mut attributes: libc::mount_attr = unsafe { mem::zeroed() };
    attributes.attr_set = what;
    let flags = if recursive { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the structure is as long as the length says.
    check(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            target.as_ptr(),
            flags,
            &raw const attributes,
            size_of_val(&attributes),
        ) as libc::c_int
    })
}

unsafe fn pivot(root: &CStr, old: &CStr) -> Done {
    // SAFETY: both are C strings.
    check(unsafe { libc::syscall(libc::SYS_pivot_root, root.as_ptr(), old.as_ptr()) as libc::c_int })
}

unsafe fn write(path: &CStr, flags: libc::c_int, mode: libc::mode_t, bytes: &[u8]) -> Done {
    // SAFETY: the path is a C string, and each piece lies within the bytes.
    unsafe {
        let file = libc::open(path.as_ptr(), flags | libc::O_CLOEXEC | libc::O_NOFOLLOW, mode);
        check(file)?;
        let mut rest = bytes;
        let mut done = Ok(());
        while done.is_ok() && !rest.is_empty() {
            let written = libc::write(file, rest.as_ptr().cast(), rest.len());
            done = check(written as libc::c_int);
            rest = rest.get(written.unsigned_abs()..).unwrap_or_default();
        }
        libc::close(file);
        done
    }
}

unsafe fn netlink(message: &[u8]) -> Done {
    /// The header of the answer; the error number follows it.
    const HEADER: usize = 16;
    let mut answer = [0_u8; 512];
    // SAFETY: the buffers are as long as the lengths say.
    let length = unsafe {
        let socket = libc::socket(libc::AF_NETLINK, libc::SOCK_RAW | libc::SOCK_CLOEXEC, libc::NETLINK_ROUTE);
        check(socket)?;
        let sent = libc::send(socket, message.as_ptr().cast(), message.len(), 0);
        let length = match sent {
            0.. => libc::recv(socket, answer.as_mut_ptr().cast(), answer.len(), 0),
            _ => sent,
        };
        let done = check(length as libc::c_int);
        libc::close(socket);
        done?;
        length.unsigned_abs()
    };
    match answer.get(..length).and_then(|answer| answer.get(HEADER..)).and_then(|rest| rest.first_chunk()) {
        Some(&number) => match i32::from_ne_bytes(number) {
            0 => Ok(()),
            negative => Err(negative.wrapping_neg()),
        },
        None => Err(libc::EBADMSG),
    }
}

unsafe fn pass(path: &CStr, passing_on: RawFd) -> Done {
    // SAFETY: the path is a C string, and the descriptor is ours.
    unsafe {
        let opened = libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        let errno = check(opened).err().unwrap_or(0);
        let sent = passing::send(passing_on, errno, opened);
        let done = check(sent as libc::c_int);
        if opened >= 0 {
            libc::close(opened);
        }
        done
    }
}

fn check(result: libc::c_int) -> Done {
    // SAFETY: the address is that of this thread's own number.
    if result < 0 { Err(unsafe { *libc::__errno_location() }) } else { Ok(()) }
}

impl fmt::Display for Operation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, path) = match self {
            Self::Write { path, .. } => ("write", path),
            Self::Create { path, .. } => ("create", path),
            Self::Directory { path, .. } | Self::New { path } => ("make the directory", path),
            Self::Grant { path, .. } => ("give rights to", path),
            Self::Symlink { path, .. } => ("make the link", path),
            Self::Mount { target, .. } | Self::Overlay { target, .. } => ("mount", target),
            Self::Seal { target, .. } => ("make read-only", target),
            Self::Tame { target } => ("take devices from", target),
            Self::Pivot { root, .. } | Self::Leave { root } => ("change the root to", root),
            Self::Netlink(_) => return formatter.write_str("set up the network"),
            Self::Pass { path } => ("pass on", path),
        };
        write!(formatter, "{what} `{}`", path.to_string_lossy())
    }
}
