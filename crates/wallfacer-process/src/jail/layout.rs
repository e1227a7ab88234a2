//! A [`Jail`], what the command line names and the machine in, what lies where in the jail out.
//!
//! The jail's tree is cut into *areas*, each mounted on its own: parts of the real tree, and fresh ones. Whatever is
//! put into the tree besides is an *addition* to the innermost area around it. Paths here are real ones: absolute, with
//! no link in them.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use super::mounts::Mounts;
use super::scope::Scope;
use super::{Jail, Network, Plant, Rung, home, netlink};

/// A file that is shown alone is copied, so that it can be written to; a larger one is shown as it is, read-only.
const MAX_COPIED: u64 = 16 << 20;

/// Entries of the root that are shown; no system has nearly as many.
const MAX_TOP_LEVEL: usize = 256;

/// Areas that can be overlays: one bit each in what the keeper reports. Those beyond are read-only.
pub(crate) const MAX_LAYERS: usize = 64;

/// Where most systems look for the authorities they trust.
pub(crate) const AUTHORITIES: &str = "/etc/ssl/certs/ca-certificates.crt";
const AUTHORITIES_ELSEWHERE: [&str; 2] = ["/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"];

/// Hidden, because others leave sockets, locks and data there.
const FRESH: [(&str, u32); 4] =
    [("/tmp", 0o1777), ("/var/tmp", 0o1777), ("/run", 0o755), ("/dev/shm", 0o1777)];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Area {
    /// Holds the additions to it and nothing else.
    Fresh {
        mode: u32,
    },
    /// What is really there, below all that the server writes.
    Real {
        mode: u32,
    },
    /// What is really there; cannot be written to.
    ReadOnly,
    /// A file that is really there; cannot be written to.
    File,
    Devices,
    Processes,
    /// `/sys`.
    System,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Addition {
    File { content: Vec<u8>, mode: u32 },
    Directory { mode: u32 },
    Symlink(PathBuf),
}

#[derive(Debug, Default)]
pub(crate) struct Layout {
    pub(crate) areas: BTreeMap<PathBuf, Area>,
    pub(crate) additions: BTreeMap<PathBuf, Addition>,
    pub(crate) unplanted: Vec<PathBuf>,
}

impl Layout {
    pub(crate) fn new(jail: &Jail, scope: &Scope, rung: Rung) -> io::Result<Self> {
        let mut layout = Self::default();
        let builder = Builder { mounts: Mounts::read()?, home: real(&jail.home), rung };
        layout.add_root(&builder)?;
        layout.add_fresh(&builder);
        let installed = home::installed(&builder.home);
        let directories = scope.programs.iter().chain(&scope.directories).cloned();
        for directory in installed.chain(directories).chain(jail.writable.iter().cloned()) {
            layout.show(&directory, &builder, true);
        }
        for path in &jail.readable {
            layout.show(path, &builder, false);
        }
        for file in &scope.files {
            layout.show(file, &builder, true);
        }
        layout.keep_to_the_number_of_layers();
        layout.leave_out_what_has_no_place();
        layout.add_contents(jail, &builder);
        layout.add_mount_points();
        Ok(layout)
    }

    /// The area that a path lies in.
    pub(crate) fn around(&self, path: &Path) -> (&Path, Area) {
        path.ancestors()
            .find_map(|ancestor| self.areas.get_key_value(ancestor))
            .map_or((Path::new("/"), Area::ReadOnly), |(path, &area)| (path, area))
    }

    fn add_root(&mut self, builder: &Builder) -> io::Result<()> {
        self.areas.insert("/".into(), Area::Fresh { mode: 0o755 });
        for entry in fs::read_dir("/")?.take(MAX_TOP_LEVEL) {
            let path = entry?.path();
            let Ok(metadata) = path.symlink_metadata() else { continue };
            if metadata.is_symlink() {
                if let Ok(target) = fs::read_link(&path) {
                    self.additions.insert(path, Addition::Symlink(target));
                }
            } else if metadata.is_dir() {
                let area = builder.area(&path, &metadata);
                self.areas.insert(path, area);
            } else if metadata.is_file() {
                self.areas.insert(path, Area::File);
            }
        }
        for (path, area) in [("/proc", Area::Processes), ("/sys", Area::System), ("/dev", Area::Devices)] {
            self.areas.insert(path.into(), area);
        }
        Ok(())
    }

    fn add_fresh(&mut self, builder: &Builder) {
        for (path, mode) in FRESH {
            self.areas.insert(path.into(), Area::Fresh { mode });
        }
        if builder.home != Path::new("/") {
            self.areas.insert(builder.home.clone(), Area::Fresh { mode: 0o700 });
        }
    }

    /// Makes a path visible that may be hidden.
    fn show(&mut self, path: &Path, builder: &Builder, writable: bool) {
        let place = real(path);
        let Ok(metadata) = place.metadata() else { return };
        self.link(path, &place);
        let (around, area) = self.around(&place);
        let hidden = match area {
            Area::Fresh { .. } => around != place,
            Area::ReadOnly => writable,
            _ => false,
        };
        let shows_home = builder.home.starts_with(&place);
        if !hidden || shows_home {
            return;
        }
        if metadata.is_dir() {
            let area = if writable { builder.area(&place, &metadata) } else { Area::ReadOnly };
            self.areas.insert(place, area);
        } else if metadata.is_file() {
            self.show_file(place, &metadata, builder, writable);
        }
    }

    fn show_file(&mut self, file: PathBuf, metadata: &fs::Metadata, builder: &Builder, writable: bool) {
        let directory = file.parent().unwrap_or(&file).to_path_buf();
        // A database has journals beside it. But a directory that settings or all else lie in is not for show.
        let is_private = directory
            .strip_prefix(&builder.home)
            .is_ok_and(|inside| inside.as_os_str().as_bytes().first().is_none_or(|&byte| byte == b'.'));
        if writable && !is_private && !self.areas.contains_key(&directory) {
            return self.show(&directory, builder, true);
        }
        let copied = (metadata.len() <= MAX_COPIED).then(|| copy(&file)).flatten();
        match copied {
            Some(content) => {
                let mode = metadata.mode() & 0o777;
                self.additions.insert(file, Addition::File { content, mode });
            }
            None => {
                self.areas.insert(file, Area::File);
            }
        }
    }

    /// Where a path leads through links, the first of them that would be hidden is put there anew.
    fn link(&mut self, path: &Path, place: &Path) {
        let is_fresh = |layout: &Self, path: &Path| matches!(layout.around(path).1, Area::Fresh { .. });
        let links = path.ancestors().filter(|ancestor| ancestor.is_symlink());
        let Some(link) = links.last() else { return };
        let at = link.parent().map(real).unwrap_or_default().join(link.file_name().unwrap_or_default());
        let target = real(link);
        if at.is_absolute()
            && is_fresh(self, &at)
            && !self.areas.contains_key(&at)
            && place.starts_with(&target)
        {
            self.additions.entry(at).or_insert(Addition::Symlink(target));
        }
    }

    fn keep_to_the_number_of_layers(&mut self) {
        let mut layers = 0;
        for area in self.areas.values_mut() {
            layers += usize::from(matches!(area, Area::Fresh { .. } | Area::Real { .. }));
            if matches!(area, Area::Real { .. }) && layers > MAX_LAYERS {
                *area = Area::ReadOnly;
            }
        }
    }

    fn add_contents(&mut self, jail: &Jail, builder: &Builder) {
        for canary in jail.canaries() {
            let path = relocated(&canary.path, &jail.home, &builder.home);
            self.add(path, Addition::File { content: canary.content, mode: 0o600 });
        }
        if jail.network != Network::Host {
            let [a, b, c, d] = netlink::OWN_ADDRESS;
            let resolver = format!("nameserver {a}.{b}.{c}.{d}\noptions timeout:2 attempts:1\n");
            self.add("/etc/resolv.conf".into(), text(resolver));
            let sources = "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nservices: files\n";
            self.add("/etc/nsswitch.conf".into(), text(sources.to_owned()));
        }
        if let Some(authority) = &jail.authority {
            let elsewhere = AUTHORITIES_ELSEWHERE.iter().filter(|path| Path::new(path).exists());
            for path in elsewhere.chain([&AUTHORITIES]) {
                self.add(real(Path::new(path)), Addition::File { content: authority.clone(), mode: 0o644 });
            }
        }
        for (path, plant) in &jail.plants {
            let addition = match plant {
                Plant::File { content, executable } => {
                    let mode = if *executable { 0o755 } else { 0o644 };
                    Addition::File { content: content.clone(), mode }
                }
                Plant::Directory => Addition::Directory { mode: 0o755 },
                Plant::Symlink(target) => Addition::Symlink(target.clone()),
            };
            // What a plant is to replace may be a link, and is not to be followed.
            let parent = path.parent().map(real).unwrap_or_default();
            self.add(parent.join(path.file_name().unwrap_or_default()), addition);
        }
    }

    fn add(&mut self, path: PathBuf, addition: Addition) {
        if matches!(self.around(&path).1, Area::Fresh { .. } | Area::Real { .. }) {
            self.additions.insert(path, addition);
        } else {
            self.unplanted.push(path);
        }
    }

    /// Whatever is mounted needs something to be mounted on; where that can be neither found nor made, nothing is.
    fn leave_out_what_has_no_place(&mut self) {
        let areas = std::mem::take(&mut self.areas);
        for (path, area) in areas {
            let above = path.parent().map(|parent| self.around(parent).1);
            let found =
                !matches!(above, Some(Area::ReadOnly | Area::System | Area::Processes)) || path.exists();
            if found {
                self.areas.insert(path, area);
            }
        }
    }

    fn add_mount_points(&mut self) {
        for (path, area) in &self.areas {
            let Some(parent) = path.parent() else { continue };
            let is_missing = match self.around(parent).1 {
                Area::Fresh { .. } => true,
                Area::Real { .. } => !path.exists(),
                // `/dev` is made with a place for each of its own.
                _ => false,
            };
            let point = match area {
                Area::File => Addition::File { content: Vec::new(), mode: 0o644 },
                _ => Addition::Directory { mode: 0o755 },
            };
            if is_missing {
                self.additions.insert(path.clone(), point);
            }
        }
    }
}

/// What can be read where nothing can be put in the place of anything: all of the root, without the home and the
/// places that others leave things in, and of these what the server cannot do without.
pub(crate) fn readable(jail: &Jail, scope: &Scope) -> io::Result<Vec<PathBuf>> {
    let home = real(&jail.home);
    let mut paths: Vec<PathBuf> = fs::read_dir("/")?
        .take(MAX_TOP_LEVEL)
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| !home.starts_with(path) && !FRESH.iter().any(|(fresh, _)| Path::new(fresh) == path))
        .collect();
    let named = scope.programs.iter().chain(&scope.directories).chain(&scope.files);
    let named = named.chain(&jail.readable).chain(&jail.writable).map(|path| real(path));
    paths.extend(home::installed(&home).chain(named).filter(|path| !home.starts_with(path)));
    Ok(paths)
}

struct Builder {
    mounts: Mounts,
    home: PathBuf,
    rung: Rung,
}

impl Builder {
    fn area(&self, directory: &Path, metadata: &fs::Metadata) -> Area {
        if self.rung != Rung::Overlay || self.mounts.below(directory) {
            return Area::ReadOnly;
        }
        Area::Real { mode: mode(directory, metadata) }
    }
}

/// The mode for the top of an overlay: it will belong to the user, so the owner's rights must be those that the user
/// really has.
fn mode(directory: &Path, metadata: &fs::Metadata) -> u32 {
    let Ok(path) = CString::new(directory.as_os_str().as_bytes()) else { return 0o555 };
    let rights = [(libc::R_OK, 0o400), (libc::W_OK, 0o200), (libc::X_OK, 0o100)];
    // SAFETY: the path is a C string.
    let has = |right| unsafe { libc::faccessat(libc::AT_FDCWD, path.as_ptr(), right, libc::AT_EACCESS) == 0 };
    rights
        .into_iter()
        .filter(|&(right, _)| has(right))
        .fold(metadata.mode() & 0o7077, |mode, (_, bit)| mode | bit)
}

/// A path without links in it, as far as it exists.
pub(crate) fn real(path: &Path) -> PathBuf {
    if let Ok(path) = path.canonicalize() {
        return path;
    }
    match (path.parent(), path.components().next_back()) {
        (Some(parent), Some(Component::Normal(name))) => real(parent).join(name),
        _ => path.to_path_buf(),
    }
}

fn relocated(path: &Path, from: &Path, to: &Path) -> PathBuf {
    path.strip_prefix(from).map_or_else(|_| path.to_path_buf(), |inside| to.join(inside))
}

fn text(content: String) -> Addition {
    Addition::File { content: content.into_bytes(), mode: 0o644 }
}

fn copy(file: &Path) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    fs::File::open(file).ok()?.take(MAX_COPIED).read_to_end(&mut content).ok()?;
    Some(content)
}
