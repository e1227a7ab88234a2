//! Which places of this machine are the business of their owners alone: homes, and whatever keys are kept in.
//!
//! The user database is asked, not only `HOME`, which may be unset or wrong. The list of places with keys is for servers
//! that run as the administrator, whom no rights of files keep out.

use std::collections::BTreeSet;
use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::real;

/// Lines of the user database that are read; the homes of more users than this lie in `/home` anyway.
const MAX_USERS: usize = 4096;

/// One entry of the user database takes less than this.
const ENTRY_BYTES: usize = 16 * 1024;

/// Host keys that are looked for.
const MAX_HOST_KEYS: usize = 64;

/// Where people live.
const HOMES: [&str; 2] = ["/home", "/root"];

/// Within a place where people live, and still a program: Homebrew.
const INSTALLED_AMONG_HOMES: [&str; 1] = ["/home/linuxbrew/.linuxbrew"];

/// A home that the user database gives and that lies here is none: it is where programs or the system itself are.
const NO_HOMES: [&str; 12] = [
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/nonexistent",
    "/proc",
    "/sbin",
    "/sys",
    "/usr",
];

/// What is no home of anybody, unless something below it is.
const PARENTS_OF_HOMES: [&str; 9] =
    ["/", "/mnt", "/opt", "/run", "/srv", "/tmp", "/var", "/var/lib", "/var/tmp"];

/// Passwords, keys and tokens, the data of whoever keeps such, and copies of memory and of all of these.
const KEYS: [&str; 92] = [
    "/etc/apt/auth.conf",
    "/etc/apt/auth.conf.d",
    "/etc/boto.cfg",
    "/etc/ceph",
    "/etc/chef",
    "/etc/cloudflared",
    "/etc/consul.d",
    "/etc/corosync/authkey",
    "/etc/credstore",
    "/etc/credstore.encrypted",
    "/etc/cryptsetup-keys.d",
    "/etc/davfs2/secrets",
    "/etc/docker",
    "/etc/dovecot/private",
    "/etc/etcd",
    "/etc/exim4/passwd.client",
    "/etc/gitlab",
    "/etc/gitlab-runner",
    "/etc/grafana",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/ipsec.d/private",
    "/etc/ipsec.secrets",
    "/etc/keys",
    "/etc/krb5.keytab",
    "/etc/kubernetes",
    "/etc/ldap.secret",
    "/etc/letsencrypt",
    "/etc/libnss-ldap.secret",
    "/etc/luks-keys",
    "/etc/msmtprc",
    "/etc/munge",
    "/etc/mysql/debian.cnf",
    "/etc/nebula",
    "/etc/netplan",
    "/etc/NetworkManager/system-connections",
    "/etc/nomad.d",
    "/etc/nslcd.conf",
    "/etc/openvpn",
    "/etc/pam_ldap.secret",
    "/etc/pki/private",
    "/etc/pki/tls/private",
    "/etc/postfix/sasl_passwd",
    "/etc/postfix/sasl_passwd.db",
    "/etc/ppp/chap-secrets",
    "/etc/ppp/pap-secrets",
    "/etc/puppetlabs/puppet/ssl",
    "/etc/rancher",
    "/etc/salt/pki",
    "/etc/samba/private",
    "/etc/security/opasswd",
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/ssl/private",
    "/etc/sssd",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/swanctl/private",
    "/etc/tinc",
    "/etc/vault.d",
    "/etc/wireguard",
    "/etc/wpa_supplicant",
    "/swap.img",
    "/swapfile",
    "/var/backups",
    "/var/lib/NetworkManager",
    "/var/lib/bluetooth",
    "/var/lib/cloud",
    "/var/lib/containerd",
    "/var/lib/containers",
    "/var/lib/docker",
    "/var/lib/etcd",
    "/var/lib/grafana",
    "/var/lib/iwd",
    "/var/lib/jenkins",
    "/var/lib/kubelet",
    "/var/lib/lxd",
    "/var/lib/mongodb",
    "/var/lib/mysql",
    "/var/lib/postgresql",
    "/var/lib/private",
    "/var/lib/rancher",
    "/var/lib/redis",
    "/var/lib/samba/private",
    "/var/lib/sss",
    "/var/lib/systemd/coredump",
    "/var/lib/systemd/credential.secret",
    "/var/lib/tailscale",
    "/var/lib/tpm",
    "/var/mail",
    "/var/spool/cron",
    "/var/spool/mail",
];

/// The private places that are really there. Paths are real ones.
#[derive(Debug, Default)]
pub(crate) struct Private {
    /// Of whoever runs the server. Nothing that is named makes these visible as a whole.
    pub(crate) own_homes: BTreeSet<PathBuf>,
    /// Of everybody, and what they lie in.
    homes: BTreeSet<PathBuf>,
    keys: BTreeSet<PathBuf>,
}

impl Private {
    /// `home` is the home that the jail is told of.
    pub(crate) fn of_this_machine(home: &Path) -> Self {
        let own =
            own_homes().into_iter().filter(|home| is_home(home) && home.is_dir()).map(|home| real(&home));
        // What the jail is told is taken as it is, whether it is there or not.
        let mut own_homes: BTreeSet<PathBuf> = own.chain([real(home)]).collect();
        own_homes.remove(Path::new("/"));
        let database = fs::read("/etc/passwd").unwrap_or_default();
        let listed = listed_homes(&database).filter(|home| is_home(home));
        let homes = listed
            .chain(HOMES.map(PathBuf::from))
            .chain(beside_each_other())
            .chain(own_homes.iter().cloned());
        let homes = homes.filter(|home| home.is_dir()).map(|home| real(&home)).collect();
        let keys = KEYS.iter().map(PathBuf::from).chain(host_keys());
        let keys = keys.filter(|path| path.symlink_metadata().is_ok()).map(|path| real(&path)).collect();
        Self { own_homes, homes, keys }
    }

    /// All of them, outer ones before what is in them.
    pub(crate) fn places(&self) -> BTreeSet<&Path> {
        self.homes.iter().chain(&self.keys).map(PathBuf::as_path).collect()
    }

    /// Whether a path may be made visible; `named` says that somebody asked for it, and did not only come by it.
    pub(crate) fn may_show(&self, place: &Path, named: bool) -> bool {
        let shows_own_home = self.own_homes.iter().any(|home| home.starts_with(place));
        let is_private = self.homes.contains(place) || self.keys.iter().any(|key| place.starts_with(key));
        !shows_own_home && (named || !is_private)
    }

    /// Whether what lies beside a file must not be seen with it.
    pub(crate) fn is_lonely(&self, directory: &Path) -> bool {
        if self.keys.iter().any(|place| directory.starts_with(place)) {
            return true;
        }
        // In a home, a directory that settings or all else lie in is not for show.
        let around =
            self.homes.iter().chain(&self.own_homes).filter_map(|home| directory.strip_prefix(home).ok());
        let inside = around.min_by_key(|inside| inside.as_os_str().len());
        inside.is_some_and(|inside| inside.as_os_str().as_bytes().first().is_none_or(|&byte| byte == b'.'))
    }

    /// What programs are installed in, in the middle of private places.
    pub(crate) fn installed(&self) -> impl Iterator<Item = PathBuf> {
        let own = self.own_homes.iter().flat_map(|home| super::home::installed(home));
        own.chain(INSTALLED_AMONG_HOMES.map(PathBuf::from).into_iter().filter(|path| path.is_dir()))
    }
}

/// The home of whoever we act as, and of whoever we really are, as the user database has it.
pub(crate) fn own_homes() -> Vec<PathBuf> {
    // SAFETY: these calls take nothing and cannot fail.
    let users = unsafe { [libc::geteuid(), libc::getuid()] };
    users.into_iter().filter_map(|user| home_of(user).ok().flatten()).collect()
}

fn home_of(user: libc::uid_t) -> io::Result<Option<PathBuf>> {
    let mut buffer = vec![0_u8; ENTRY_BYTES];
    // SAFETY: all zeros are a value of it, and it is read only when the call says that it filled it in.
    let mut entry: libc::passwd = unsafe { std::mem::zeroed() };
    let mut found = std::ptr::null_mut();
    // SAFETY: the buffer is as long as the length says, and outlives what the entry points to.
    unsafe {
        let failed = libc::getpwuid_r(user, &mut entry, buffer.as_mut_ptr().cast(), buffer.len(), &mut found);
        if failed != 0 {
            return Err(io::Error::from_raw_os_error(failed));
        }
        if found.is_null() || entry.pw_dir.is_null() {
            return Ok(None);
        }
        Ok(Some(OsStr::from_bytes(CStr::from_ptr(entry.pw_dir).to_bytes()).into()))
    }
}

/// The sixth field of each line.
fn listed_homes(database: &[u8]) -> impl Iterator<Item = PathBuf> {
    let lines = database.split(|&byte| byte == b'\n').take(MAX_USERS);
    lines
        .filter_map(|line| line.split(|&byte| byte == b':').nth(5))
        .map(|home| PathBuf::from(OsStr::from_bytes(home)))
}

/// Also of people whom another database knows.
fn beside_each_other() -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(HOMES[0]).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).take(MAX_USERS)
}

fn is_home(path: &Path) -> bool {
    path.is_absolute()
        && !PARENTS_OF_HOMES.iter().any(|parent| Path::new(parent) == path)
        && !NO_HOMES.iter().any(|system| path.starts_with(system))
}

fn host_keys() -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir("/etc/ssh") else { return Vec::new() };
    let is_key = |name: &[u8]| name.starts_with(b"ssh_host_") && !name.ends_with(b".pub");
    entries
        .flatten()
        .filter(|entry| is_key(entry.file_name().as_bytes()))
        .map(|entry| entry.path())
        .take(MAX_HOST_KEYS)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_is_where_somebody_lives_and_no_directory_of_the_system() {
        let database = b"root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1::/usr/sbin:/x\nnet:x:998:1::/:/x\n\
            nobody:x:65534:1::/nonexistent:/x\nbad line\npostgres:x:101:1::/var/lib/postgresql:/x\nann:x:1000:1::/home/ann:/x\n";
        let homes: Vec<_> = listed_homes(database).filter(|home| is_home(home)).collect();
        assert_eq!(homes, ["/root", "/var/lib/postgresql", "/home/ann"].map(PathBuf::from));
    }

    #[test]
    fn the_user_database_knows_our_home() {
        assert_eq!(home_of(0).unwrap().unwrap(), Path::new("/root"));
        assert_eq!(home_of(4_000_000_000).unwrap(), None);
    }

    #[test]
    fn what_lies_beside_a_key_or_in_a_home_is_not_shown_with_it() {
        let private = Private {
            own_homes: ["/home/me".into()].into(),
            homes: ["/home".into(), "/home/me".into()].into(),
            keys: ["/etc/ssl/private".into()].into(),
        };
        for (directory, lonely) in [
            ("/etc/ssl/private", true),
            ("/home/me", true),
            ("/home/me/.config/x", true),
            ("/home/me/work", false),
            ("/srv/data", false),
        ] {
            assert_eq!(private.is_lonely(Path::new(directory)), lonely, "{directory}");
        }
        assert!(!private.may_show(Path::new("/home"), true));
        assert!(!private.may_show(Path::new("/home/me"), true));
        assert!(private.may_show(Path::new("/etc/ssl/private"), true));
        assert!(!private.may_show(Path::new("/etc/ssl/private"), false));
        assert!(!private.may_show(Path::new("/etc/ssl/private/ours"), false));
        assert!(private.may_show(Path::new("/home/me/work"), false));
    }
}
