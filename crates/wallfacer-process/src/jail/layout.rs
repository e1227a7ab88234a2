//! Decides what lies where in the jail, by the [`Jail`] that is asked for, what the command line names and what the
//! machine has.
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
use std::path::{Path, PathBuf};

use super::mounts::Mounts;
use super::private::Private;
use super::scope::Scope;
use super::{Jail, Network, Plant, Rung, home, netlink, real};

/// A file that is shown alone is copied, so that it can be written to; a larger one is shown as it is, read-only.
const MAX_COPIED: u64 = 16 << 20;

/// Entries of the root that are shown; no system has nearly as many.
const MAX_TOP_LEVEL: usize = 256;

/// Areas that can be overlays: one bit each in what the keeper reports. Those beyond are shown as they are.
pub(crate) const MAX_LAYERS: usize = 128;

/// Entries of a directory with mounts below it that are put together anew, one by one; one with more is shown as it is.
const MAX_COMPOSED: usize = 256;

/// Entries of one directory that are given to a server behind a fence, where some of it is private.
const MAX_ENTRIES: usize = 4096;

/// Where most systems look for the authorities they trust.
pub(crate) const AUTHORITIES: &str = "/etc/ssl/certs/ca-certificates.crt";
const AUTHORITIES_ELSEWHERE: [&str; 2] = ["/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"];

/// Entries of the root that programs are installed in, or cannot do without.
const SYSTEM: [&str; 16] = [
    "bin", "dev", "etc", "gnu", "lib", "lib32", "lib64", "libx32", "nix", "opt", "proc", "sbin", "snap",
    "sys", "sw", "usr",
];

/// Hidden, because others leave sockets, locks and data there.
const FRESH: [(&str, u32); 4] =
    [("/tmp", 0o1777), ("/var/tmp", 0o1777), ("/run", 0o755), ("/dev/shm", 0o1777)];

/// The same, where it is no link to that.
const FRESH_ELSEWHERE: [(&str, u32); 2] = [("/var/run", 0o755), ("/var/lock", 0o1777)];

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
    /// The same; cannot be written to.
    ReadOnly,
    /// What is really there, and is really written to.
    Lasting,
    /// What is really there, itself, because no overlay of it can be had; cannot be written to.
    Bound,
    /// A file that is really there; cannot be written to.
    File,
    /// A directory that is really there, and private: nothing of it is seen.
    Hidden,
    /// A file that is really there, and private: it cannot be read.
    HiddenFile,
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
        let private = Private::of_this_machine(&jail.home);
        let builder = Builder { mounts: Mounts::read()?, home: real(&jail.home), private, rung };
        layout.add_fresh(&builder);
        layout.hide(&builder);
        layout.add_root(&builder, jail.bare)?;
        let installed = builder.private.installed().filter(|path| !jail.bare || !home::is_cache(path));
        let by_the_way = installed.chain(scope.programs.iter().cloned());
        for directory in by_the_way {
            layout.show(&directory, &builder, Wish { writable: true, named: false });
        }
        for directory in scope.directories.iter().chain(&jail.writable) {
            layout.show(directory, &builder, Wish { writable: true, named: true });
        }
        for path in &jail.kept {
            layout.keep(path, &builder);
        }
        for path in &jail.readable {
            layout.show(path, &builder, Wish { writable: false, named: true });
        }
        for file in &scope.files {
            layout.show(file, &builder, Wish { writable: true, named: true });
        }
        let lasting = jail.lasting.iter().map(|path| real(path)).filter(|path| path.is_dir());
        for place in lasting {
            // Nothing may lie over a part of it, such as what a variable names: what is written there would be lost.
            layout.areas.retain(|path, _| !path.starts_with(&place));
            layout.areas.insert(place, Area::Lasting);
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
            .map_or((Path::new("/"), Area::Bound), |(path, &area)| (path, area))
    }

    /// What is put into each area.
    pub(crate) fn additions_by_area(&self) -> BTreeMap<&Path, Vec<(&Path, &Addition)>> {
        let mut by_area: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (place, addition) in &self.additions {
            if let Some(parent) = place.parent() {
                by_area.entry(self.around(parent).0).or_default().push((place.as_path(), addition));
            }
        }
        by_area
    }

    fn add_root(&mut self, builder: &Builder, bare: bool) -> io::Result<()> {
        self.areas.insert("/".into(), Area::Fresh { mode: 0o755 });
        for entry in fs::read_dir("/")?.take(MAX_TOP_LEVEL) {
            let path = entry?.path();
            if !bare || is_system(&path) {
                self.add_entry(path, builder);
            }
        }
        Ok(())
    }

    /// An entry of a directory that is put together anew, unless something else is to be there.
    fn add_entry(&mut self, path: PathBuf, builder: &Builder) {
        let Ok(metadata) = path.symlink_metadata() else { return };
        if self.areas.contains_key(&path) {
            return;
        }
        if metadata.is_symlink() {
            if let Ok(target) = fs::read_link(&path) {
                self.additions.insert(path, Addition::Symlink(target));
            }
        } else if metadata.is_dir() {
            self.show_directory(path, &metadata, builder);
        } else if metadata.is_file() {
            self.areas.insert(path, Area::File);
        }
    }

    fn add_fresh(&mut self, builder: &Builder) {
        // A link to another of these is left as it is.
        let elsewhere = FRESH_ELSEWHERE.into_iter().filter(|(path, _)| Path::new(path).is_dir());
        let fresh = FRESH.into_iter().chain(elsewhere);
        for (path, mode) in fresh.filter(|(path, _)| !Path::new(path).is_symlink()) {
            self.areas.insert(path.into(), Area::Fresh { mode });
        }
        for (path, area) in [("/proc", Area::Processes), ("/sys", Area::System), ("/dev", Area::Devices)] {
            self.areas.insert(path.into(), area);
        }
        for home in &builder.private.own_homes {
            self.areas.insert(home.clone(), Area::Fresh { mode: 0o700 });
        }
    }

    /// Takes out of sight what is private. What lies in something that is out of sight is so already.
    fn hide(&mut self, builder: &Builder) {
        for place in builder.private.places() {
            if matches!(self.around(place).1, Area::Fresh { .. } | Area::Hidden) {
                continue;
            }
            let area = if place.is_dir() { Area::Hidden } else { Area::HiddenFile };
            self.areas.insert(place.to_path_buf(), area);
        }
    }

    /// Shows a path that somebody named on purpose: even the whole home, and of a directory nothing beside the file.
    fn keep(&mut self, path: &Path, builder: &Builder) {
        let place = real(path);
        let Ok(metadata) = place.metadata() else { return };
        if builder.private.own_homes.contains(&place) {
            return self.show_directory(place, &metadata, builder);
        }
        if metadata.is_file() {
            self.uncover(&place);
        }
        if metadata.is_file() && matches!(self.around(&place).1, Area::Fresh { .. }) {
            self.link(path, &place);
            self.show_file_alone(place, &metadata);
        } else {
            self.show(path, builder, Wish { writable: true, named: true });
        }
    }

    /// Makes room for something to be seen in what is out of sight.
    fn uncover(&mut self, place: &Path) {
        match self.around(place) {
            (around, Area::Hidden) if around != place => {
                let around = around.to_path_buf();
                self.areas.insert(around, Area::Fresh { mode: 0o755 });
            }
            (around, Area::HiddenFile) if around == place => {
                self.areas.remove(place);
            }
            _ => {}
        }
    }

    /// Makes a path visible that may be hidden.
    fn show(&mut self, path: &Path, builder: &Builder, wish: Wish) {
        let place = real(path);
        let Ok(metadata) = place.metadata() else { return };
        self.link(path, &place);
        if !builder.private.may_show(&place, wish.named) {
            return;
        }
        let (around, area) = self.around(&place);
        let hidden = match area {
            Area::Fresh { .. } => around != place,
            Area::Hidden | Area::HiddenFile => true,
            Area::ReadOnly => wish.writable,
            _ => false,
        };
        if !hidden {
            return;
        }
        self.uncover(&place);
        if metadata.is_dir() && wish.writable {
            self.show_directory(place, &metadata, builder);
        } else if metadata.is_dir() {
            let area = if builder.rung == Rung::Overlay { Area::ReadOnly } else { Area::Bound };
            self.areas.insert(place, area);
        } else if metadata.is_file() {
            self.show_file(place, &metadata, builder, wish);
        }
    }

    /// What is really there, below all that the server writes. The kernel makes no overlay of a directory with mounts
    /// below it, because that would show what they hide: it is put together of its entries then.
    fn show_directory(&mut self, directory: PathBuf, metadata: &fs::Metadata, builder: &Builder) {
        if builder.rung != Rung::Overlay {
            self.areas.insert(directory, Area::Bound);
        } else if !builder.mounts.below(&directory) {
            let mode = mode(&directory, metadata);
            self.areas.insert(directory, Area::Real { mode });
        } else {
            self.compose(directory, metadata, builder);
        }
    }

    fn compose(&mut self, directory: PathBuf, metadata: &fs::Metadata, builder: &Builder) {
        let entries = fs::read_dir(&directory).map(|entries| entries.flatten().take(MAX_COMPOSED + 1));
        let entries: Vec<_> = entries.map(|entries| entries.collect()).unwrap_or_default();
        // Empty means that it cannot be read, for there are mounts below it.
        if entries.is_empty() || entries.len() > MAX_COMPOSED {
            self.areas.insert(directory, Area::Bound);
            return;
        }
        let mode = mode(&directory, metadata);
        self.areas.insert(directory, Area::Fresh { mode });
        for path in entries.into_iter().map(|entry| entry.path()) {
            self.add_entry(path, builder);
        }
    }

    fn show_file(&mut self, file: PathBuf, metadata: &fs::Metadata, builder: &Builder, wish: Wish) {
        if !matches!(self.around(&file).1, Area::Fresh { .. } | Area::ReadOnly) {
            return;
        }
        let directory = file.parent().unwrap_or(&file).to_path_buf();
        // A database has journals beside it. But a directory that settings or keys lie in is not for show.
        let is_lonely = builder.private.is_lonely(&directory);
        if wish.writable && !is_lonely && !self.areas.contains_key(&directory) {
            return self.show(&directory, builder, wish);
        }
        self.show_file_alone(file, metadata);
    }

    fn show_file_alone(&mut self, file: PathBuf, metadata: &fs::Metadata) {
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
        let fresh = self.areas.values().filter(|area| matches!(area, Area::Fresh { .. })).count();
        let mut layers = fresh;
        for area in self.areas.values_mut() {
            let is_overlay = matches!(area, Area::Real { .. } | Area::ReadOnly);
            layers += usize::from(is_overlay);
            if is_overlay && layers > MAX_LAYERS {
                *area = Area::Bound;
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
            let found = !matches!(above, Some(Area::ReadOnly | Area::Bound | Area::System | Area::Processes))
                || path.exists();
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
                Area::File | Area::HiddenFile => Addition::File { content: Vec::new(), mode: 0o644 },
                _ => Addition::Directory { mode: 0o755 },
            };
            if is_missing {
                self.additions.insert(path.clone(), point);
            }
        }
    }
}

/// What can be read where nothing can be put in the place of anything: all of the root, without what is private and the
/// places that others leave things in, and of these what the server cannot do without.
pub(crate) fn readable(jail: &Jail, scope: &Scope) -> Vec<PathBuf> {
    let private = Private::of_this_machine(&jail.home);
    let mut hidden: Vec<&Path> = private.places().into_iter().collect();
    hidden.extend(private.own_homes.iter().map(PathBuf::as_path));
    // Of the devices those that every program needs are given on their own.
    hidden.push(Path::new("/dev"));
    hidden.extend(FRESH.iter().chain(&FRESH_ELSEWHERE).map(|(path, _)| Path::new(path)));
    let mut paths = Vec::new();
    collect_open(Path::new("/"), &hidden, &mut paths);
    let is_of_the_system = |path: &PathBuf| path.iter().nth(1).is_some_and(|top| is_system(Path::new(top)));
    paths.retain(|path| !jail.bare || is_of_the_system(path));
    let installed = private.installed().filter(|path| !jail.bare || !home::is_cache(path));
    let by_the_way = installed.chain(scope.programs.iter().cloned());
    let by_the_way = by_the_way.map(|path| real(&path)).filter(|path| private.may_show(path, false));
    paths.extend(by_the_way);
    let named = scope.directories.iter().chain(&scope.files).chain(&jail.readable).chain(&jail.writable);
    paths.extend(named.map(|path| real(path)).filter(|path| private.may_show(path, true)));
    let is_kept = |path: &PathBuf| private.own_homes.contains(path) || private.may_show(path, true);
    paths.extend(jail.kept.iter().map(|path| real(path)).filter(is_kept));
    paths
}

/// A right to a directory is one to all beneath it, so one with something hidden in it is given entry by entry.
fn collect_open(directory: &Path, hidden: &[&Path], paths: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    for path in entries.take(MAX_ENTRIES).map(|entry| entry.path()) {
        if hidden.contains(&path.as_path()) || path.is_symlink() {
            continue;
        }
        if hidden.iter().any(|place| place.starts_with(&path)) {
            collect_open(&path, hidden, paths);
        } else {
            paths.push(path);
        }
    }
}

/// How something is to be made visible.
#[derive(Debug, Clone, Copy)]
struct Wish {
    writable: bool,
    /// Somebody asked for it, and did not only come by it.
    named: bool,
}

/// Whether an entry of the root is where systems keep programs, and what these need.
fn is_system(path: &Path) -> bool {
    path.file_name().is_some_and(|name| SYSTEM.iter().any(|known| name == *known))
}

struct Builder {
    mounts: Mounts,
    home: PathBuf,
    private: Private,
    rung: Rung,
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
