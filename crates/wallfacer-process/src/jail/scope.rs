//! Finds the files and directories that a command line names: what a server cannot do without, wherever it lies.
//!
//! The environment is searched here only for where programs and libraries are: it names much that is none of the
//! server's business, such as the places of keys. Who starts the server decides what else of it is shown.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::{Spec, program};

/// Directories, or lists of them, that programs, libraries and packages are loaded from.
const LOADED_FROM: [&str; 55] = [
    "ASDF_DATA_DIR",
    "ASDF_DIR",
    "BUN_INSTALL",
    "CONDA_PREFIX",
    "COREPACK_HOME",
    "DENO_DIR",
    "DENO_INSTALL",
    "DENO_INSTALL_ROOT",
    "DOTNET_ROOT",
    "FNM_DIR",
    "FNM_MULTISHELL_PATH",
    "GEM_HOME",
    "GEM_PATH",
    "GOBIN",
    "GOMODCACHE",
    "GOROOT",
    "HOMEBREW_CELLAR",
    "HOMEBREW_PREFIX",
    "JAVA_HOME",
    "LD_LIBRARY_PATH",
    "MAMBA_ROOT_PREFIX",
    "MISE_DATA_DIR",
    "NODENV_ROOT",
    "NODE_PATH",
    "NPM_CONFIG_CACHE",
    "NVM_DIR",
    "N_PREFIX",
    "PATH",
    "PERL5LIB",
    "PIPX_BIN_DIR",
    "PIPX_HOME",
    "PIP_CACHE_DIR",
    "PIXI_HOME",
    "PLAYWRIGHT_BROWSERS_PATH",
    "PNPM_HOME",
    "POETRY_CACHE_DIR",
    "PYENV_ROOT",
    "PYTHONHOME",
    "PYTHONPATH",
    "RBENV_ROOT",
    "RUBYLIB",
    "RUSTUP_HOME",
    "RYE_HOME",
    "SDKMAN_DIR",
    "UV_CACHE_DIR",
    "UV_PROJECT_ENVIRONMENT",
    "UV_PYTHON_BIN_DIR",
    "UV_PYTHON_INSTALL_DIR",
    "UV_TOOL_BIN_DIR",
    "UV_TOOL_DIR",
    "VIRTUAL_ENV",
    "VOLTA_HOME",
    "YARN_CACHE_FOLDER",
    "npm_config_cache",
    "npm_config_store_dir",
];

/// The same of which only parts are for that: beside them lie settings and tokens.
const PARTLY_LOADED_FROM: [(&str, &[&str]); 5] = [
    ("CARGO_HOME", &["bin"]),
    ("GOPATH", &["bin", "pkg"]),
    ("NPM_CONFIG_PREFIX", &["bin", "lib"]),
    ("POETRY_HOME", &["bin", "venv"]),
    ("npm_config_prefix", &["bin", "lib"]),
];

/// One of these in a directory tells that it is the whole of a program or project.
const ROOT_MARKS: [&str; 9] = [
    "package.json",
    "node_modules",
    "pyproject.toml",
    "setup.py",
    "requirements.txt",
    "pyvenv.cfg",
    "Cargo.toml",
    "go.mod",
    ".git",
];

/// What programs in `bin` load from beside it.
const LIBRARIES: [&str; 3] = ["lib", "lib64", "libexec"];

/// A script and its interpreter, which may be a script itself, and so on; the kernel goes no deeper either.
const MAX_INTERPRETERS: usize = 4;

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Scope {
    pub(crate) directories: BTreeSet<PathBuf>,
    pub(crate) files: BTreeSet<PathBuf>,
    /// What the server is loaded from: each is the directory to show, unless that would show a whole home.
    pub(crate) programs: BTreeSet<PathBuf>,
}

impl Scope {
    /// Paths are absolute and as they were given; `program` is the file that is executed.
    pub(crate) fn of(spec: &Spec, program: &Path, cwd: &Path) -> Self {
        let mut scope = Self::of_program(spec, program);
        scope.directories.insert(cwd.to_path_buf());
        for path in spec.args.iter().flat_map(paths_in) {
            scope.name(cwd.join(path), spec);
        }
        scope
    }

    /// What a program is loaded from, whatever it is told to do.
    pub(crate) fn of_program(spec: &Spec, program: &Path) -> Self {
        let mut scope = Self::default();
        scope.load(program, spec, MAX_INTERPRETERS);
        for (list, parts) in loaded_from(spec) {
            let entries = std::env::split_paths(list).filter(|entry| entry.is_absolute() && entry.is_dir());
            for entry in entries {
                match parts {
                    [] => scope.programs.extend(around(&entry)),
                    parts => scope.programs.extend(parts.iter().map(|part| entry.join(part))),
                }
            }
        }
        scope
    }

    fn name(&mut self, path: PathBuf, spec: &Spec) {
        if path.is_dir() {
            self.directories.insert(path);
        } else if path.is_file() {
            if is_code(&path) {
                self.load(&path, spec, MAX_INTERPRETERS);
            }
            self.files.insert(path);
        }
    }

    /// What is needed to run a file: it, what lies around it, what it is a link to, and its interpreter.
    fn load(&mut self, file: &Path, spec: &Spec, depth: usize) {
        self.files.insert(file.to_path_buf());
        let real = file.canonicalize().unwrap_or_else(|_| file.to_path_buf());
        for file in [file, &real] {
            self.programs.extend(file.parent().into_iter().flat_map(around));
        }
        self.files.insert(real);
        if let Some(interpreter) = interpreter(file, spec).filter(|_| depth > 0) {
            self.load(&interpreter, spec, depth - 1);
        }
    }
}

/// The values of variables that programs are loaded from, with the parts of each that are for that; none for all.
fn loaded_from(spec: &Spec) -> impl Iterator<Item = (&OsString, &'static [&'static str])> {
    let whole = LOADED_FROM.iter().map(|name| (*name, &[][..]));
    whole.chain(PARTLY_LOADED_FROM).filter_map(|(name, parts)| Some((spec.env.get(OsStr::new(name))?, parts)))
}

/// The parts of an argument that may be a path: all of it, or what follows `=` or `file://`.
fn paths_in(argument: &OsString) -> impl Iterator<Item = &OsStr> {
    let bytes = argument.as_bytes();
    let value = bytes.iter().position(|&byte| byte == b'=').map(|at| &bytes[at + 1..]);
    let address = bytes.strip_prefix(b"file://");
    [Some(bytes), value, address]
        .into_iter()
        .flatten()
        .filter(|path| !path.is_empty() && !path.contains(&0))
        .map(OsStr::from_bytes)
}

fn is_code(path: &Path) -> bool {
    let extensions =
        ["py", "js", "mjs", "cjs", "ts", "mts", "rb", "sh", "pl", "php", "jar", "lua", "exs", "dll"];
    match path.extension() {
        Some(extension) => extensions.iter().any(|known| extension == *known),
        // A key has no extension either, and what lies beside it is none of the server's business.
        None => is_executable(path) || program::shebang(path).is_some(),
    }
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0)
}

/// A directory, the program or project it is part of, and the libraries beside it. Not simply all beside it: in a
/// home, keys and tokens are there too.
fn around(directory: &Path) -> Vec<PathBuf> {
    let mut found = vec![directory.to_path_buf()];
    found.extend(root_of(directory));
    if directory.file_name() == Some(OsStr::new("bin")) {
        found.extend(LIBRARIES.iter().map(|name| directory.with_file_name(name)));
    }
    found
}

fn root_of(directory: &Path) -> Option<PathBuf> {
    let modules = OsStr::new("node_modules");
    let outermost = directory.ancestors().filter(|path| path.file_name() == Some(modules)).last();
    let marked = || directory.ancestors().find(|path| ROOT_MARKS.iter().any(|mark| path.join(mark).exists()));
    let root = outermost.and_then(Path::parent).or_else(marked)?;
    (root != Path::new("/")).then(|| root.to_path_buf())
}

fn interpreter(file: &Path, spec: &Spec) -> Option<PathBuf> {
    let line = program::shebang(file)?;
    let mut words = line.split_whitespace();
    let first = Path::new(words.next()?);
    if first.file_name() != Some(OsStr::new("env")) {
        return Some(first.to_path_buf());
    }
    let name = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
    let path = spec.env.get(OsStr::new("PATH"))?;
    std::env::split_paths(path).map(|entry| entry.join(name)).find(|candidate| candidate.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(args: &[&str], cwd: &Path) -> Scope {
        let spec = Spec { args: args.iter().map(Into::into).collect(), ..Spec::new("sh") };
        Scope::of(&spec, Path::new("/bin/sh"), cwd)
    }

    #[test]
    fn a_path_is_found_alone_behind_an_equals_sign_and_relative_to_the_working_directory() {
        let place = tempfile::tempdir().unwrap();
        let [data, cwd] = ["data", "cwd"].map(|name| place.path().join(name));
        for directory in [&data, &cwd] {
            std::fs::create_dir(directory).unwrap();
        }
        let option = format!("--root={}", data.display());
        for args in [[data.to_str().unwrap()], [&option], ["../data"]] {
            let found = scope(&args, &cwd).directories;
            assert!(found.iter().any(|path| path.canonicalize().unwrap() == data), "{args:?}: {found:?}");
        }
        assert_eq!(scope(&["/no/such/thing", "-v", "word"], &cwd).directories, [cwd].into());
    }

    #[test]
    fn a_script_brings_the_project_it_is_part_of() {
        let place = tempfile::tempdir().unwrap();
        let script = place.path().join("project/dist/index.js");
        std::fs::create_dir_all(script.parent().unwrap()).unwrap();
        std::fs::write(&script, "").unwrap();
        std::fs::write(place.path().join("project/package.json"), "{}").unwrap();
        let found = scope(&[script.to_str().unwrap()], Path::new("/"));
        assert!(found.programs.contains(&place.path().join("project")), "{found:?}");
    }

    #[test]
    fn a_file_that_is_no_program_brings_nothing_beside_it() {
        let place = tempfile::tempdir().unwrap();
        for (name, content, brings) in [("id_rsa", "a key", false), ("run", "#!/bin/sh\n", true)] {
            let file = place.path().join(name);
            std::fs::write(&file, content).unwrap();
            let found = scope(&[file.to_str().unwrap()], Path::new("/"));
            assert_eq!(found.programs.contains(place.path()), brings, "{name}: {found:?}");
            assert!(found.files.contains(&file));
        }
    }

    #[test]
    fn a_package_brings_the_modules_beside_it() {
        let place = tempfile::tempdir().unwrap();
        let package = place.path().join("app/node_modules/server");
        std::fs::create_dir_all(&package).unwrap();
        std::fs::write(package.join("package.json"), "{}").unwrap();
        assert_eq!(root_of(&package), Some(place.path().join("app")));
    }

    #[test]
    fn a_directory_of_programs_brings_its_libraries_and_not_the_rest_beside_it() {
        let place = tempfile::tempdir().unwrap();
        let bin = place.path().join(".local/bin");
        std::fs::create_dir_all(&bin).unwrap();
        let mut spec = Spec::new("sh");
        spec.env.insert("PATH".into(), bin.clone().into());
        let found = Scope::of(&spec, Path::new("/bin/sh"), Path::new("/")).programs;
        assert!(found.contains(&bin) && found.contains(&bin.with_file_name("lib")), "{found:?}");
        assert!(!found.contains(&place.path().join(".local")), "{found:?}");
    }
}
