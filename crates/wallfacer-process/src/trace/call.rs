//! Names system calls by their number and architecture. One table for all architectures.

/// The calls that are watched, refused or looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    Open,
    OpenAt,
    OpenAt2,
    Create,
    OpenByHandle,
    Unlink,
    UnlinkAt,
    Rename,
    RenameAt,
    RenameAt2,
    MakeDirectory,
    MakeDirectoryAt,
    RemoveDirectory,
    Link,
    LinkAt,
    Symlink,
    SymlinkAt,
    MakeNode,
    MakeNodeAt,
    Truncate,
    /// On 32 bits: the length comes in two halves.
    Truncate64,
    ChangeMode,
    ChangeModeOf,
    ChangeModeAt,
    ChangeModeAt2,
    ChangeOwner,
    ChangeOwnerOfLink,
    ChangeOwnerOf,
    ChangeOwnerAt,
    SetAttribute,
    SetAttributeOfLink,
    SetAttributeOf,
    SetAttributeAt,
    RemoveAttribute,
    RemoveAttributeOfLink,
    RemoveAttributeOf,
    RemoveAttributeAt,
    MemoryFile,
    Socket,
    Connect,
    Bind,
    Listen,
    SendTo,
    SendMessage,
    SendMessages,
    /// On 32 bits: one call for all of sockets, its arguments in memory.
    AnyOfSockets,
    Write,
    WriteVector,
    Execute,
    ExecuteAt,
    /// `stat` and its kin: asks of a path what is there. Stops only where the filter was made to watch it.
    Look,
    LookAt,
    /// Recorded, and left to the kernel's judgement.
    Observed(&'static str),
    /// Recorded, and refused with EPERM.
    Forbidden(&'static str),
    /// Refused with ENOSYS, as on a system without it, so that programs fall back.
    Absent(&'static str),
    /// Looked at by the filter, for its flags.
    Seccomp,
    ProcessControl,
}

/// Whose numbers a call is numbered by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Architecture {
    X86_64,
    Aarch64,
    /// 32 bits on `X86_64`: a program made for it, or `int 0x80` in any program.
    I386,
}

/// As the kernel names them to a filter.
const AUDIT_X86_64: u32 = 0xC000_003E;
const AUDIT_AARCH64: u32 = 0xC000_00B7;
const AUDIT_I386: u32 = 0x4000_0003;

impl Architecture {
    /// What this program was made for, if it is one that can be watched.
    pub(super) const NATIVE: Option<Self> = if cfg!(target_arch = "x86_64") {
        Some(Self::X86_64)
    } else if cfg!(target_arch = "aarch64") {
        Some(Self::Aarch64)
    } else {
        None
    };

    pub(super) fn from_audit(number: u32) -> Option<Self> {
        [Self::X86_64, Self::Aarch64, Self::I386].into_iter().find(|known| known.audit() == number)
    }

    pub(super) fn audit(self) -> u32 {
        match self {
            Self::X86_64 => AUDIT_X86_64,
            Self::Aarch64 => AUDIT_AARCH64,
            Self::I386 => AUDIT_I386,
        }
    }

    /// The size of a pointer.
    pub(super) fn word(self) -> usize {
        if self == Self::I386 { 4 } else { 8 }
    }

    pub(super) fn call(self, number: u64) -> Option<Call> {
        self.calls().find_map(|(known, call)| (u64::from(known) == number).then_some(call))
    }

    /// All calls that this architecture has, with their numbers; the frequent ones first.
    pub(super) fn calls(self) -> impl Iterator<Item = (u32, Call)> {
        TABLE.iter().filter_map(move |&(call, numbers)| {
            let [x86_64, aarch64, i386] = numbers;
            let number = match self {
                Self::X86_64 => x86_64,
                Self::Aarch64 => aarch64,
                Self::I386 => i386,
            };
            u32::try_from(number).ok().map(|number| (number, call))
        })
    }
}

/// The call is not there.
const NONE: i32 = -1;

/// Numbers on x86_64, aarch64, i386.
const TABLE: &[(Call, [i32; 3])] = &[
    (Call::OpenAt, [257, 56, 295]),
    (Call::Open, [2, NONE, 5]),
    (Call::Execute, [59, 221, 11]),
    (Call::Socket, [41, 198, 359]),
    (Call::Connect, [42, 203, 362]),
    (Call::SendTo, [44, 206, 369]),
    (Call::SendMessage, [46, 211, 370]),
    (Call::SendMessages, [307, 269, 345]),
    (Call::OpenAt2, [437, 437, 437]),
    (Call::Create, [85, NONE, 8]),
    (Call::OpenByHandle, [304, 265, 342]),
    (Call::Unlink, [87, NONE, 10]),
    (Call::UnlinkAt, [263, 35, 301]),
    (Call::Rename, [82, NONE, 38]),
    (Call::RenameAt, [264, 38, 302]),
    (Call::RenameAt2, [316, 276, 353]),
    (Call::MakeDirectory, [83, NONE, 39]),
    (Call::MakeDirectoryAt, [258, 34, 296]),
    (Call::RemoveDirectory, [84, NONE, 40]),
    (Call::Link, [86, NONE, 9]),
    (Call::LinkAt, [265, 37, 303]),
    (Call::Symlink, [88, NONE, 83]),
    (Call::SymlinkAt, [266, 36, 304]),
    (Call::MakeNode, [133, NONE, 14]),
    (Call::MakeNodeAt, [259, 33, 297]),
    (Call::Truncate, [76, 45, 92]),
    (Call::Truncate64, [NONE, NONE, 193]),
    (Call::ChangeMode, [90, NONE, 15]),
    (Call::ChangeModeOf, [91, 52, 94]),
    (Call::ChangeModeAt, [268, 53, 306]),
    (Call::ChangeModeAt2, [452, 452, 452]),
    (Call::ChangeOwner, [92, NONE, 212]),
    (Call::ChangeOwner, [NONE, NONE, 182]),
    (Call::ChangeOwnerOfLink, [94, NONE, 198]),
    (Call::ChangeOwnerOfLink, [NONE, NONE, 16]),
    (Call::ChangeOwnerOf, [93, 55, 207]),
    (Call::ChangeOwnerOf, [NONE, NONE, 95]),
    (Call::ChangeOwnerAt, [260, 54, 298]),
    (Call::SetAttribute, [188, 5, 226]),
    (Call::SetAttributeOfLink, [189, 6, 227]),
    (Call::SetAttributeOf, [190, 7, 228]),
    (Call::SetAttributeAt, [463, 463, 463]),
    (Call::RemoveAttribute, [197, 14, 235]),
    (Call::RemoveAttributeOfLink, [198, 15, 236]),
    (Call::RemoveAttributeOf, [199, 16, 237]),
    (Call::RemoveAttributeAt, [466, 466, 466]),
    (Call::MemoryFile, [319, 279, 356]),
    (Call::Bind, [49, 200, 361]),
    (Call::Listen, [50, 201, 363]),
    (Call::AnyOfSockets, [NONE, NONE, 102]),
    (Call::ExecuteAt, [322, 281, 358]),
    // Numbers of 32 bits are left out: there every call stops, so that these would be recorded unasked.
    (Call::Look, [4, NONE, NONE]),
    (Call::Look, [6, NONE, NONE]),
    (Call::Look, [21, NONE, NONE]),
    (Call::Look, [89, NONE, NONE]),
    (Call::LookAt, [262, 79, NONE]),
    (Call::LookAt, [267, 78, NONE]),
    (Call::LookAt, [269, 48, NONE]),
    (Call::LookAt, [332, 291, NONE]),
    (Call::LookAt, [439, 439, NONE]),
    // These write into other processes, take their files or watch the system.
    (Call::Observed("process_vm_writev"), [311, 271, 348]),
    (Call::Observed("pidfd_getfd"), [438, 438, 438]),
    (Call::Observed("bpf"), [321, 280, 357]),
    (Call::Observed("perf_event_open"), [298, 241, 336]),
    (Call::Observed("init_module"), [175, 105, 128]),
    (Call::Observed("finit_module"), [313, 273, 350]),
    (Call::Observed("chroot"), [161, 51, 61]),
    // A task of the target's own tracer would be stopped for that tracer, not for us.
    (Call::Forbidden("ptrace"), [101, 117, 26]),
    // A file could be reached under another path than the one that is recorded.
    (Call::Forbidden("mount"), [165, 40, 21]),
    (Call::Forbidden("umount"), [NONE, NONE, 22]),
    (Call::Forbidden("umount2"), [166, 39, 52]),
    (Call::Forbidden("pivot_root"), [155, 41, 217]),
    (Call::Forbidden("setns"), [308, 268, 346]),
    (Call::Forbidden("open_tree"), [428, 428, 428]),
    (Call::Forbidden("move_mount"), [429, 429, 429]),
    (Call::Forbidden("fsopen"), [430, 430, 430]),
    (Call::Forbidden("fsmount"), [432, 432, 432]),
    (Call::Forbidden("fspick"), [433, 433, 433]),
    (Call::Forbidden("mount_setattr"), [442, 442, 442]),
    (Call::Forbidden("open_tree_attr"), [467, 467, 467]),
    // It opens and connects without any system call that could be seen.
    (Call::Absent("io_uring_setup"), [425, 425, 425]),
    (Call::Absent("io_uring_enter"), [426, 426, 426]),
    (Call::Absent("io_uring_register"), [427, 427, 427]),
    (Call::Seccomp, [317, 277, 354]),
    (Call::ProcessControl, [157, 167, 172]),
    (Call::Write, [1, 64, 4]),
    (Call::WriteVector, [20, 66, 146]),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_number_stands_for_two_calls() {
        for architecture in [Architecture::X86_64, Architecture::Aarch64, Architecture::I386] {
            let numbers: Vec<u32> = architecture.calls().map(|(number, _)| number).collect();
            let unique: BTreeSet<u32> = numbers.iter().copied().collect();
            assert_eq!(numbers.len(), unique.len(), "{architecture:?}");
        }
    }

    /// The calls that every architecture has, by name and by their number on this one.
    const COMMON: &[(&str, libc::c_long, Call)] = &[
        ("openat", libc::SYS_openat, Call::OpenAt),
        ("openat2", libc::SYS_openat2, Call::OpenAt2),
        ("execve", libc::SYS_execve, Call::Execute),
        ("execveat", libc::SYS_execveat, Call::ExecuteAt),
        ("socket", libc::SYS_socket, Call::Socket),
        ("connect", libc::SYS_connect, Call::Connect),
        ("bind", libc::SYS_bind, Call::Bind),
        ("listen", libc::SYS_listen, Call::Listen),
        ("sendto", libc::SYS_sendto, Call::SendTo),
        ("sendmsg", libc::SYS_sendmsg, Call::SendMessage),
        ("sendmmsg", libc::SYS_sendmmsg, Call::SendMessages),
        ("open_by_handle_at", libc::SYS_open_by_handle_at, Call::OpenByHandle),
        ("unlinkat", libc::SYS_unlinkat, Call::UnlinkAt),
        ("renameat", libc::SYS_renameat, Call::RenameAt),
        ("renameat2", libc::SYS_renameat2, Call::RenameAt2),
        ("mkdirat", libc::SYS_mkdirat, Call::MakeDirectoryAt),
        ("linkat", libc::SYS_linkat, Call::LinkAt),
        ("symlinkat", libc::SYS_symlinkat, Call::SymlinkAt),
        ("mknodat", libc::SYS_mknodat, Call::MakeNodeAt),
        ("truncate", libc::SYS_truncate, Call::Truncate),
        ("fchmod", libc::SYS_fchmod, Call::ChangeModeOf),
        ("fchmodat", libc::SYS_fchmodat, Call::ChangeModeAt),
        ("fchown", libc::SYS_fchown, Call::ChangeOwnerOf),
        ("fchownat", libc::SYS_fchownat, Call::ChangeOwnerAt),
        ("setxattr", libc::SYS_setxattr, Call::SetAttribute),
        ("lsetxattr", libc::SYS_lsetxattr, Call::SetAttributeOfLink),
        ("fsetxattr", libc::SYS_fsetxattr, Call::SetAttributeOf),
        ("removexattr", libc::SYS_removexattr, Call::RemoveAttribute),
        ("lremovexattr", libc::SYS_lremovexattr, Call::RemoveAttributeOfLink),
        ("fremovexattr", libc::SYS_fremovexattr, Call::RemoveAttributeOf),
        ("memfd_create", libc::SYS_memfd_create, Call::MemoryFile),
        ("write", libc::SYS_write, Call::Write),
        ("writev", libc::SYS_writev, Call::WriteVector),
        ("seccomp", libc::SYS_seccomp, Call::Seccomp),
        ("prctl", libc::SYS_prctl, Call::ProcessControl),
        ("newfstatat", libc::SYS_newfstatat, Call::LookAt),
        ("readlinkat", libc::SYS_readlinkat, Call::LookAt),
        ("faccessat", libc::SYS_faccessat, Call::LookAt),
        ("faccessat2", libc::SYS_faccessat2, Call::LookAt),
        ("statx", libc::SYS_statx, Call::LookAt),
        ("process_vm_writev", libc::SYS_process_vm_writev, Call::Observed("process_vm_writev")),
        ("pidfd_getfd", libc::SYS_pidfd_getfd, Call::Observed("pidfd_getfd")),
        ("bpf", libc::SYS_bpf, Call::Observed("bpf")),
        ("perf_event_open", libc::SYS_perf_event_open, Call::Observed("perf_event_open")),
        ("init_module", libc::SYS_init_module, Call::Observed("init_module")),
        ("finit_module", libc::SYS_finit_module, Call::Observed("finit_module")),
        ("chroot", libc::SYS_chroot, Call::Observed("chroot")),
        ("ptrace", libc::SYS_ptrace, Call::Forbidden("ptrace")),
        ("mount", libc::SYS_mount, Call::Forbidden("mount")),
        ("umount2", libc::SYS_umount2, Call::Forbidden("umount2")),
        ("pivot_root", libc::SYS_pivot_root, Call::Forbidden("pivot_root")),
        ("setns", libc::SYS_setns, Call::Forbidden("setns")),
        ("open_tree", libc::SYS_open_tree, Call::Forbidden("open_tree")),
        ("move_mount", libc::SYS_move_mount, Call::Forbidden("move_mount")),
        ("fsopen", libc::SYS_fsopen, Call::Forbidden("fsopen")),
        ("fsmount", libc::SYS_fsmount, Call::Forbidden("fsmount")),
        ("fspick", libc::SYS_fspick, Call::Forbidden("fspick")),
        ("mount_setattr", libc::SYS_mount_setattr, Call::Forbidden("mount_setattr")),
        ("io_uring_setup", libc::SYS_io_uring_setup, Call::Absent("io_uring_setup")),
        ("io_uring_enter", libc::SYS_io_uring_enter, Call::Absent("io_uring_enter")),
        ("io_uring_register", libc::SYS_io_uring_register, Call::Absent("io_uring_register")),
    ];

    #[test]
    fn the_numbers_are_those_of_the_c_library() {
        let native = Architecture::NATIVE.expect("tests run where targets can be watched");
        for (name, number, call) in COMMON {
            assert_eq!(native.call(number.unsigned_abs()), Some(*call), "{name}");
        }
    }

    /// The newer architectures share one table, which the headers of the kernel have on every machine.
    #[test]
    fn the_numbers_of_aarch64_are_those_of_the_kernels_headers() {
        let Ok(header) = std::fs::read_to_string("/usr/include/asm-generic/unistd.h") else { return };
        for (name, _, call) in COMMON {
            let defined = header.lines().find_map(|line| {
                let number = line.strip_prefix("#define __NR_")?.strip_prefix(name)?;
                number.starts_with([' ', '\t']).then(|| number.trim().parse::<u64>().ok()).flatten()
            });
            // Some stand there under an older name.
            let Some(number) = defined else { continue };
            assert_eq!(Architecture::Aarch64.call(number), Some(*call), "{name}");
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn the_older_numbers_are_those_of_the_c_library() {
        for (number, call) in [
            (libc::SYS_open, Call::Open),
            (libc::SYS_creat, Call::Create),
            (libc::SYS_unlink, Call::Unlink),
            (libc::SYS_rename, Call::Rename),
            (libc::SYS_mkdir, Call::MakeDirectory),
            (libc::SYS_rmdir, Call::RemoveDirectory),
            (libc::SYS_link, Call::Link),
            (libc::SYS_symlink, Call::Symlink),
            (libc::SYS_mknod, Call::MakeNode),
            (libc::SYS_chmod, Call::ChangeMode),
            (libc::SYS_chown, Call::ChangeOwner),
            (libc::SYS_lchown, Call::ChangeOwnerOfLink),
            (libc::SYS_stat, Call::Look),
            (libc::SYS_lstat, Call::Look),
            (libc::SYS_access, Call::Look),
            (libc::SYS_readlink, Call::Look),
        ] {
            assert_eq!(Architecture::X86_64.call(number.unsigned_abs()), Some(call), "{number}");
        }
    }
}
