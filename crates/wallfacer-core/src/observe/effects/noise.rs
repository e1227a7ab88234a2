//! Decides whether something a server did is only noise: by a list of what runtimes do, and by what this server does
//! when nothing is asked of it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// What the runtimes that we know do.
const KNOWN: &str = include_str!("noise.txt");

/// Parts of a program: where one of them was loaded from, others may be later.
const PARTS: [&str; 12] = ["py", "pyc", "js", "mjs", "cjs", "ts", "json", "so", "node", "wasm", "pth", "jar"];

/// Directories that may be learned; a program has fewer.
const MAX_LEARNED: usize = 10_000;

/// A line of a noise list that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{line}` is no noise: {why}; write `read`, `write`, `append`, `run` or `connect`, and then a glob")]
pub struct BadNoise {
    pub line: String,
    pub why: String,
}

/// What is not counted as a deed of the server.
#[derive(Debug, Clone)]
pub struct Noise {
    read: GlobSet,
    write: GlobSet,
    append: GlobSet,
    run: GlobSet,
    connect: GlobSet,
    /// Files that were read before anything was asked for.
    learned_reads: BTreeSet<PathBuf>,
    /// Directories that parts of the program came from.
    learned_directories: BTreeSet<PathBuf>,
    /// Files that change though nothing is asked for.
    learned_writes: BTreeSet<PathBuf>,
}

impl Noise {
    /// The known noise, and these lines besides.
    pub fn new(home: &Path, extra: &[String]) -> Result<Noise, BadNoise> {
        let mut lists = [const { Vec::new() }; 5];
        for line in KNOWN.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            add(&mut lists, line, home)?;
        }
        let lines = extra.iter().map(|line| line.trim());
        for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
            add(&mut lists, line, home)?;
        }
        let [read, write, append, run, connect] = lists.map(|globs| {
            let mut set = GlobSetBuilder::new();
            for glob in globs {
                set.add(glob);
            }
            set.build().map_err(|error| BadNoise { line: "all lines".to_owned(), why: error.to_string() })
        });
        Ok(Noise {
            read: read?,
            write: write?,
            append: append?,
            run: run?,
            connect: connect?,
            learned_reads: BTreeSet::new(),
            learned_directories: BTreeSet::new(),
            learned_writes: BTreeSet::new(),
        })
    }

    /// The server read this before anything was asked of it.
    pub fn learn_read(&mut self, path: &Path) {
        if self.learned_reads.len() < MAX_LEARNED {
            self.learned_reads.insert(path.to_owned());
        }
        let is_part = path.extension().and_then(|end| end.to_str()).is_some_and(|end| PARTS.contains(&end));
        let directory = path.parent().filter(|directory| is_part && directory.parent().is_some());
        if self.learned_directories.len() < MAX_LEARNED {
            self.learned_directories.extend(directory.map(Path::to_owned));
        }
    }

    /// The server wrote this though nothing was asked of it.
    pub fn learn_write(&mut self, path: &Path) {
        if self.learned_writes.len() < MAX_LEARNED {
            self.learned_writes.insert(path.to_owned());
        }
    }

    /// Whether the server read this before anything was asked of it.
    pub fn was_read_before_all(&self, path: &Path) -> bool {
        self.learned_reads.contains(path)
    }

    pub fn is_read(&self, path: &Path) -> bool {
        self.learned_reads.contains(path)
            || path.parent().is_some_and(|directory| self.learned_directories.contains(directory))
            || self.learned_directories.contains(path)
            || self.read.is_match(path)
    }

    pub fn is_write(&self, path: &Path) -> bool {
        self.learned_writes.contains(path) || self.write.is_match(path)
    }

    /// Whether to add to a file at its end is noise.
    pub fn is_append(&self, path: &Path) -> bool {
        self.append.is_match(path)
    }

    pub fn is_run(&self, path: &Path) -> bool {
        self.run.is_match(path)
    }

    /// By name or address, alone and with the port.
    pub fn is_contact(&self, host: &str, port: u16) -> bool {
        self.connect.is_match(host) || self.connect.is_match(format!("{host}:{port}"))
    }
}

fn add(lists: &mut [Vec<globset::Glob>; 5], line: &str, home: &Path) -> Result<(), BadNoise> {
    let bad = |why: String| BadNoise { line: line.to_owned(), why };
    let (verb, pattern) = match line.split_once(char::is_whitespace) {
        Some((verb, pattern)) => (verb, pattern.trim()),
        // A pattern alone is of what is read: that is what most noise is.
        None => ("read", line),
    };
    let list = match verb {
        "read" => 0,
        "write" => 1,
        "append" => 2,
        "run" => 3,
        "connect" => 4,
        _ => return Err(bad(format!("`{verb}` is no deed"))),
    };
    let pattern = match pattern.strip_prefix('~') {
        Some(rest) => format!("{}{rest}", globset::escape(&home.display().to_string())),
        None => pattern.to_owned(),
    };
    let glob = GlobBuilder::new(&pattern).literal_separator(true).build();
    lists[list].push(glob.map_err(|error| bad(error.kind().to_string()))?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(extra: &[&str]) -> Result<Noise, BadNoise> {
        Noise::new(Path::new("/home/u"), &extra.iter().map(|&line| line.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn libraries_packages_and_caches_are_noise_and_documents_are_not() {
        let noise = noise(&[]).unwrap();
        for path in
            ["/usr/lib/x.so", "/srv/a/node_modules/b/index.js", "/home/u/.cache/x/y", "/proc/self/maps"]
        {
            assert!(noise.is_read(Path::new(path)), "{path}");
        }
        for path in ["/home/u/notes.txt", "/srv/a/data.csv", "/etc/fstab", "/var/lib/app/db"] {
            assert!(!noise.is_read(Path::new(path)), "{path}");
        }
        let (message, branch) = ("/srv/a/.git/COMMIT_EDITMSG", "/srv/a/.git/refs/heads/main");
        assert!(noise.is_write(Path::new(message)) && !noise.is_write(Path::new(branch)));
        assert!(!noise.is_write(Path::new("/srv/a/COMMIT_EDITMSG")));
        assert!(noise.is_write(Path::new("/dev/null")) && !noise.is_write(Path::new("/usr/lib/x.so")));
        assert!(noise.is_contact("10.0.0.1", 53) && !noise.is_contact("127.0.0.1", 5432));
    }

    #[test]
    fn users_add_lines_and_are_told_of_those_that_make_no_sense() {
        let noise_of = noise(&["connect *.example.com", "~/data/**", "run /opt/*"]).unwrap();
        assert!(noise_of.is_contact("api.example.com", 443));
        assert!(noise_of.is_read(Path::new("/home/u/data/a/b")));
        assert!(noise_of.is_run(Path::new("/opt/tool")));
        assert_eq!(noise(&["fetch *"]).unwrap_err().why, "`fetch` is no deed");
        assert!(noise(&["read [a"]).is_err());
    }

    #[test]
    fn what_is_loaded_later_from_where_parts_were_loaded_is_noise() {
        let mut noise = noise(&[]).unwrap();
        noise.learn_read(Path::new("/srv/app/main.py"));
        noise.learn_read(Path::new("/srv/data/settings.ini"));
        assert!(noise.is_read(Path::new("/srv/app/late.py")));
        assert!(noise.is_read(Path::new("/srv/data/settings.ini")));
        assert!(!noise.is_read(Path::new("/srv/data/customers.csv")));
    }
}
