//! A home directory in, the parts of it that interpreters, launchers and their packages live in out.
//!
//! Whole directories such as `.local` or `.config` are left out on purpose: keyrings and tokens live there too.

use std::path::{Path, PathBuf};

/// What stays of a home directory, where it is there.
const INSTALLED: [&str; 47] = [
    ".asdf",
    ".bun",
    ".cache/deno",
    ".cache/ms-playwright",
    ".cache/node",
    ".cache/pip",
    ".cache/pipx",
    ".cache/pnpm",
    ".cache/pypoetry",
    ".cache/uv",
    ".cache/yarn",
    ".cargo/bin",
    ".conda/envs",
    ".deno",
    ".dotnet",
    ".fnm",
    ".gem",
    ".go",
    ".linuxbrew",
    ".local/bin",
    ".local/lib",
    ".local/pipx",
    ".local/share/fnm",
    ".local/share/mise",
    ".local/share/pipx",
    ".local/share/pnpm",
    ".local/share/uv",
    ".local/share/virtualenvs",
    ".local/state/fnm_multishells",
    ".m2/repository",
    ".nodenv",
    ".npm",
    ".npm-global",
    ".nvm",
    ".pixi",
    ".pyenv",
    ".rbenv",
    ".rustup",
    ".rye",
    ".sdkman/candidates",
    ".volta",
    ".yarn",
    "anaconda3",
    "go/bin",
    "go/pkg",
    "miniconda3",
    "miniforge3",
];

pub(crate) fn installed(home: &Path) -> impl Iterator<Item = PathBuf> {
    INSTALLED.iter().map(|name| home.join(name)).filter(|path| path.is_dir())
}
