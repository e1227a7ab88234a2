//! Plans the steps that build a layout, and what we must know of the jail afterwards.

use std::collections::BTreeSet;
use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::fence::Fence;
use super::layout::{self, AUTHORITIES, Addition, Area, Layout};
use super::operation::{Operation, Step};
use super::refuge::Refuge;
use super::refusals::{Modes, Refusals};
use super::restraint::Restraint;
use super::scope::Scope;
use super::{Gap, Jail, Network, Rung, netlink};
use crate::Spec;

/// The real root, the jail's, and what the server's writes go to, while the jail is built. The server finds these names in
/// the options of its mounts, so they are such as container engines give.
const LOWER: &str = "/lower";
const MERGED: &str = "/merged";
const DIFF: &str = "/diff";

/// What is put over a private directory, and over a private file: nothing.
const NO_DIRECTORY: &str = "/diff/empty";
const NO_FILE: &str = "/diff/none";

/// The file system in memory that holds all the server writes is first mounted on one of these.
const BASES: [&str; 5] = ["/tmp", "/run", "/mnt", "/var", "/dev"];

/// Files at most: each takes memory even if it is empty.
const MAX_FILES: u32 = 500_000;

/// The kernel gives the first 300 numbers of a namespace once only, and accepts no limit below.
const LEAST_PROCESSES: u32 = 400;

/// What of `/proc` changes the machine and not the jail. The user 0 would have the right to write there.
const SEALED: [&str; 7] =
    ["/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/acpi", "/proc/scsi"];

/// What of `/proc` tells of the user's session, whatever namespace it is looked at from.
const OF_THE_SESSION: [&str; 2] = ["/proc/keys", "/proc/key-users"];

/// Where the kernel lists the System V shared memory of whoever opens it.
const SHARED_MEMORY: &str = "/proc/sysvipc/shm";

/// With namespaces of its own the server could make mounts that nobody sees.
const FORBIDDEN_NAMESPACES: [&str; 3] = ["user", "mnt", "net"];

const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];

const DEVICE_LINKS: [(&str, &str); 5] = [
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("ptmx", "pts/ptmx"),
];

/// What programs look at for the authorities they trust.
const AUTHORITY_VARIABLES: [&str; 5] =
    ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO"];

#[derive(Debug)]
pub(crate) struct Plan {
    /// The namespaces that the keeper is cloned into.
    pub(crate) namespaces: libc::c_int,
    pub(crate) steps: Vec<Step>,
    pub(crate) restraint: Restraint,
    /// What the server is executed with: the working directory always said, and variables of the jail set.
    pub(crate) spec: Spec,
    pub(crate) rung: Rung,
    /// By the number of their upper directory.
    pub(crate) layers: Vec<Layer>,
    /// Directories that are shown themselves, without an overlay.
    pub(crate) bound: Vec<PathBuf>,
    pub(crate) unplanted: Vec<PathBuf>,
    /// What this does not hold, whatever the machine.
    pub(crate) gaps: Vec<Gap>,
    /// Where the canaries lie.
    pub(crate) home: PathBuf,
    pub(crate) fence: Option<Fence>,
    pub(crate) refuge: Option<Arc<Refuge>>,
}

/// An area whose changes are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layer {
    pub(crate) at: PathBuf,
    /// Whether what is really there shows through.
    pub(crate) real: bool,
    /// What was added, relative to `at`, with all directories above it.
    pub(crate) added: BTreeSet<PathBuf>,
}

impl Plan {
    pub(crate) fn new(jail: &Jail, spec: &Spec, program: &Path, rung: Rung) -> io::Result<Self> {
        let cwd = directory(spec)?;
        let scope = if jail.bare { Scope::of_program(spec, program) } else { Scope::of(spec, program, &cwd) };
        if rung > Rung::ReadOnly {
            return Self::without_namespaces(jail, spec, &scope, rung);
        }
        let layout = Layout::new(jail, &scope, rung)?;
        let mut spec = spec.clone();
        spec.cwd = Some(cwd);
        spec.env.extend(jail.variables.clone());
        if jail.authority.is_some() {
            spec.env.extend(AUTHORITY_VARIABLES.map(|name| (name.into(), AUTHORITIES.into())));
        }
        let own_network = if jail.network == Network::Host { 0 } else { libc::CLONE_NEWNET };
        let mut builder = Builder { steps: Vec::new(), layers: Vec::new(), rung };
        builder.build(jail, &layout)?;
        let bound = layout.areas.iter().filter(|(_, area)| **area == Area::Bound);
        let bound: Vec<_> = bound.map(|(path, _)| path.clone()).collect();
        let closed = jail.network != Network::Host;
        let fence = (!closed).then(Fence::around_sockets).flatten();
        let host = (!closed).then_some(Gap::HostNetwork);
        let nameless = (!closed && fence.is_none()).then_some(Gap::NamelessSockets);
        Ok(Self {
            namespaces: libc::CLONE_NEWUSER
                | libc::CLONE_NEWNS
                | libc::CLONE_NEWPID
                | libc::CLONE_NEWIPC
                | libc::CLONE_NEWUTS
                | own_network,
            steps: builder.steps,
            restraint: Restraint::new(
                jail.limits,
                Refusals::inside(closed)?,
                Refusals::inside_beside_others(closed)?,
            ),
            spec,
            rung,
            layers: builder.layers,
            bound,
            unplanted: layout.unplanted.clone(),
            gaps: host.into_iter().chain(nameless).collect(),
            home: jail.home.clone(),
            fence,
            refuge: None,
        })
    }

    fn without_namespaces(jail: &Jail, spec: &Spec, scope: &Scope, rung: Rung) -> io::Result<Self> {
        let refuge = Refuge::new()?;
        let mut steps = refuge.steps(jail)?;
        let fence = (rung == Rung::Fence).then(|| {
            let devices = DEVICES.iter().map(|name| Path::new("/dev").join(name));
            let writable: Vec<_> = devices.chain(jail.lasting.iter().cloned()).collect();
            Fence::new(&layout::readable(jail, scope), &writable, jail.network)
        });
        let fence = fence.transpose()?;
        let (refusals, gaps) = match &fence {
            // What is fetched must get the modes it is to have.
            Some(fence) if !jail.lasting.is_empty() => {
                let gaps = fence.gaps().into_iter().chain([Gap::ModesChanged]);
                (Refusals::fenced(fence.internet(), Modes::Changed)?, gaps.collect())
            }
            Some(fence) => (Refusals::fenced(fence.internet(), Modes::Kept)?, fence.gaps()),
            None => (None, vec![Gap::Everything]),
        };
        let grant = fence.as_ref().map(|fence| fence.grant(refuge.name()));
        steps.extend(grant.map(|operation| Step { operation, required: true }));
        let mut spec = spec.clone();
        if rung == Rung::Fence {
            spec.env.extend(jail.variables.clone());
        }
        if !jail.keeps_home() {
            spec.env.insert("HOME".into(), refuge.home().into());
        }
        spec.env.insert("TMPDIR".into(), refuge.scratch().into());
        Ok(Self {
            namespaces: 0,
            steps,
            restraint: Restraint::of_one(jail.limits, refusals),
            spec,
            rung,
            layers: Vec::new(),
            bound: Vec::new(),
            unplanted: jail.plants.keys().cloned().collect(),
            gaps,
            home: refuge.home(),
            fence,
            refuge: Some(refuge.into()),
        })
    }
}

fn directory(spec: &Spec) -> io::Result<PathBuf> {
    match &spec.cwd {
        Some(cwd) => std::path::absolute(cwd),
        None => std::env::current_dir(),
    }
}

/// What the top of a layer is like.
struct Top {
    mode: u32,
    /// Whether what is really there shows through.
    real: bool,
    writable: bool,
}

struct Builder {
    steps: Vec<Step>,
    layers: Vec<Layer>,
    rung: Rung,
}

impl Builder {
    fn build(&mut self, jail: &Jail, layout: &Layout) -> io::Result<()> {
        self.become_oneself()?;
        self.make_room(jail)?;
        let mut additions = layout.additions_by_area();
        for (path, area) in &layout.areas {
            let additions = additions.remove(path.as_path()).unwrap_or_default();
            self.mount_area(path, *area, &additions)?;
        }
        self.limit_processes(jail)?;
        self.seal_processes()?;
        self.connect(jail);
        self.required(Operation::Pass { path: c(DIFF)? });
        self.required(Operation::Pass { path: c(beneath(LOWER, Path::new(SHARED_MEMORY)))? });
        self.required(Operation::Leave { root: c(MERGED)? });
        Ok(())
    }

    /// The user and group keep their numbers.
    fn become_oneself(&mut self) -> io::Result<()> {
        // SAFETY: these calls take nothing and cannot fail.
        let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
        let maps = [
            ("setgroups", "deny".to_owned()),
            ("uid_map", format!("{user} {user} 1")),
            ("gid_map", format!("{group} {group} 1")),
        ];
        for (name, text) in maps {
            let path = c(format!("/proc/self/{name}"))?;
            self.required(Operation::Write { path, bytes: text.into_bytes() });
        }
        Ok(())
    }

    /// A file system in memory becomes the root, with the real root in it and room for the jail.
    fn make_room(&mut self, jail: &Jail) -> io::Result<()> {
        let base = BASES.iter().find(|base| Path::new(base).is_dir());
        let base = base.ok_or_else(|| io::Error::other("no directory to mount on"))?;
        self.mount("none", "/", None, libc::MS_REC | libc::MS_PRIVATE, None)?;
        let options = format!("mode=0755,size={},nr_inodes={MAX_FILES}", jail.limits.disk_bytes.max(1 << 20));
        self.mount("tmpfs", base, Some("tmpfs"), libc::MS_NOSUID | libc::MS_NODEV, Some(&options))?;
        for name in [LOWER, MERGED, DIFF] {
            self.directory(format!("{base}{name}"), 0o755)?;
        }
        self.required(Operation::Pivot { root: c(base)?, old: c(format!("{base}{LOWER}"))? });
        self.directory(NO_DIRECTORY, 0o555)?;
        self.required(Operation::Create { path: c(NO_FILE)?, bytes: Vec::new(), mode: 0 });
        Ok(())
    }

    fn mount_area(&mut self, path: &Path, area: Area, additions: &[(&Path, &Addition)]) -> io::Result<()> {
        let (old, new) = (beneath(LOWER, path), beneath(MERGED, path));
        match area {
            Area::Fresh { mode } => self.layer(path, Top { mode, real: false, writable: true }, additions),
            Area::Real { mode } => self.layer(path, Top { mode, real: true, writable: true }, additions),
            Area::ReadOnly => self.layer(path, Top { mode: 0o555, real: true, writable: false }, additions),
            Area::Bound | Area::System => self.bind(&old, &new, true),
            Area::Lasting => {
                self.mount(&old, &new, None, libc::MS_BIND | libc::MS_REC, None)?;
                self.required(Operation::Tame { target: c(&new)? });
                Ok(())
            }
            Area::File => self.bind(&old, &new, false),
            Area::Hidden => self.bind(NO_DIRECTORY.as_ref(), &new, false),
            Area::HiddenFile => self.bind(NO_FILE.as_ref(), &new, false),
            Area::Processes => {
                let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
                self.mount("proc", &new, Some("proc"), flags, None)
            }
            Area::Devices => self.devices(),
        }
    }

    /// Shows something itself, without the right to write there or to use devices.
    fn bind(&mut self, source: &OsStr, target: &OsStr, recursive: bool) -> io::Result<()> {
        let flags = if recursive { libc::MS_BIND | libc::MS_REC } else { libc::MS_BIND };
        self.mount(source, target, None, flags, None)?;
        self.required(Operation::Seal { target: c(target)?, recursive });
        Ok(())
    }

    fn layer(&mut self, path: &Path, top: Top, additions: &[(&Path, &Addition)]) -> io::Result<()> {
        let Top { mode, real, writable } = top;
        let number = self.layers.len();
        let [upper, work, lower] = ["u", "w", "l"].map(|kind| format!("{DIFF}/{kind}{number}"));
        let mut added = BTreeSet::new();
        for &(place, addition) in additions {
            if added.is_empty() {
                self.directory(&lower, mode)?;
            }
            let inside = place.strip_prefix(path).unwrap_or(place);
            self.place(&lower, path, inside, addition, &mut added)?;
        }
        if added.is_empty() && !real {
            self.directory(&lower, mode)?;
        }
        let target = c(beneath(MERGED, path))?;
        if self.rung == Rung::Overlay {
            self.directory(&upper, mode)?;
            self.directory(&work, 0o700)?;
            let old = beneath(LOWER, path);
            let own = (!real || !added.is_empty()).then_some(lower.as_str().into());
            let lowers: Vec<OsString> = own.into_iter().chain(real.then(|| escape(&old))).collect();
            let lowers = lowers.join(std::ffi::OsStr::new(":"));
            let mut options = OsString::from("lowerdir=");
            options.push(lowers);
            options.push(format!(",upperdir={upper},workdir={work},userxattr"));
            let source = real.then(|| c(&old)).transpose()?;
            let layer = number as u32;
            self.required(Operation::Overlay { layer, source, target, options: c(&options)?, writable });
        } else {
            self.mount(&lower, beneath(MERGED, path), None, libc::MS_BIND, None)?;
        }
        self.layers.push(Layer { at: path.to_path_buf(), real, added });
        Ok(())
    }

    /// Puts an addition into a lower directory, and the directories above it that are not there yet.
    fn place(
        &mut self,
        lower: &str,
        area: &Path,
        inside: &Path,
        addition: &Addition,
        added: &mut BTreeSet<PathBuf>,
    ) -> io::Result<()> {
        let above: Vec<&Path> =
            inside.ancestors().skip(1).filter(|path| !path.as_os_str().is_empty()).collect();
        for directory in above.into_iter().rev() {
            if added.insert(directory.to_path_buf()) {
                let mode = area.join(directory).metadata().map_or(0o755, |real| real.mode() & 0o7777);
                self.directory(beneath(lower, directory), mode)?;
            }
        }
        let path = c(beneath(lower, inside))?;
        let is_new = added.insert(inside.to_path_buf());
        match addition {
            Addition::File { content, mode } => {
                self.required(Operation::Create { path, bytes: content.clone(), mode: *mode });
            }
            Addition::Directory { mode } if is_new => self.directory(beneath(lower, inside), *mode)?,
            Addition::Directory { .. } => {}
            Addition::Symlink(target) => {
                self.required(Operation::Symlink { path, target: c(target)? });
            }
        }
        Ok(())
    }

    /// A `/dev` with what every program expects and nothing of the machine.
    fn devices(&mut self) -> io::Result<()> {
        let flags = libc::MS_NOSUID | libc::MS_NOEXEC;
        let at = |name: &str| format!("{MERGED}/dev/{name}");
        self.mount("tmpfs", format!("{MERGED}/dev"), Some("tmpfs"), flags, Some("mode=0755,size=64k"))?;
        for name in DEVICES.iter().filter(|name| Path::new("/dev").join(name).exists()) {
            let target = at(name);
            self.required(Operation::Create { path: c(&target)?, bytes: Vec::new(), mode: 0o666 });
            self.mount(format!("{LOWER}/dev/{name}"), &target, None, libc::MS_BIND, None)?;
        }
        for (name, target) in DEVICE_LINKS {
            self.required(Operation::Symlink { path: c(at(name))?, target: c(target)? });
        }
        for name in ["pts", "shm"] {
            self.directory(at(name), 0o755)?;
        }
        let terminals = Operation::Mount {
            source: c("devpts")?,
            target: c(at("pts"))?,
            kind: Some(c("devpts")?),
            flags,
            options: Some(c("newinstance,ptmxmode=0666,mode=0620")?),
        };
        self.steps.push(Step { operation: terminals, required: false });
        self.required(Operation::Seal { target: c(format!("{MERGED}/dev"))?, recursive: false });
        Ok(())
    }

    fn limit_processes(&mut self, jail: &Jail) -> io::Result<()> {
        // Since Linux 6.14 each namespace has its own; before, this is refused, and the restraint is what is left.
        let most = jail.limits.processes.max(LEAST_PROCESSES).to_string();
        self.optional(Operation::Write {
            path: c(format!("{MERGED}/proc/sys/kernel/pid_max"))?,
            bytes: most.into_bytes(),
        });
        for name in FORBIDDEN_NAMESPACES {
            let path = c(format!("{MERGED}/proc/sys/user/max_{name}_namespaces"))?;
            self.optional(Operation::Write { path, bytes: b"0".to_vec() });
        }
        Ok(())
    }

    fn seal_processes(&mut self) -> io::Result<()> {
        for path in SEALED.iter().filter(|path| Path::new(path).exists()) {
            let path = format!("{MERGED}{path}");
            self.mount(&path, &path, None, libc::MS_BIND | libc::MS_REC, None)?;
            self.required(Operation::Seal { target: c(&path)?, recursive: true });
        }
        for path in OF_THE_SESSION.iter().filter(|path| Path::new(path).exists()) {
            self.bind(NO_FILE.as_ref(), format!("{MERGED}{path}").as_ref(), false)?;
        }
        Ok(())
    }

    fn connect(&mut self, jail: &Jail) {
        if jail.network != Network::Host {
            self.required(Operation::Netlink(netlink::loopback_up()));
        }
        if jail.network == Network::Sink {
            self.required(Operation::Netlink(netlink::own_address()));
            self.required(Operation::Netlink(netlink::everything_local(libc::AF_INET)));
            // A kernel may have no IPv6; then nobody can leave that way either.
            self.optional(Operation::Netlink(netlink::everything_local(libc::AF_INET6)));
        }
    }

    fn mount(
        &mut self,
        source: impl Text,
        target: impl Text,
        kind: Option<&str>,
        flags: libc::c_ulong,
        options: Option<&str>,
    ) -> io::Result<()> {
        let kind = kind.map(c).transpose()?;
        let options = options.map(c).transpose()?;
        let (source, target) = (c(source)?, c(target)?);
        self.required(Operation::Mount { source, target, kind, flags, options });
        Ok(())
    }

    fn directory(&mut self, path: impl Text, mode: u32) -> io::Result<()> {
        self.required(Operation::Directory { path: c(path)?, mode });
        Ok(())
    }

    fn required(&mut self, operation: Operation) {
        self.steps.push(Step { operation, required: true });
    }

    fn optional(&mut self, operation: Operation) {
        self.steps.push(Step { operation, required: false });
    }
}

/// Whatever can stand for a path in a step.
trait Text: AsRef<std::ffi::OsStr> {}
impl<T: AsRef<std::ffi::OsStr>> Text for T {}

fn c(text: impl Text) -> io::Result<CString> {
    Ok(CString::new(text.as_ref().as_bytes())?)
}

/// A path of the real tree, seen from another root.
fn beneath(root: &str, path: &Path) -> OsString {
    let inside = path.strip_prefix("/").unwrap_or(path);
    if inside.as_os_str().is_empty() { root.into() } else { Path::new(root).join(inside).into() }
}

/// What would end a path in the options of an overlay.
fn escape(path: &std::ffi::OsStr) -> OsString {
    let mut bytes = Vec::new();
    for &byte in path.as_bytes() {
        if matches!(byte, b':' | b',' | b'\\') {
            bytes.push(b'\\');
        }
        bytes.push(byte);
    }
    OsString::from_vec(bytes)
}
