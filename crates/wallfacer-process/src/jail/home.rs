//! Lists the parts of a home directory that interpreters, launchers and their packages live in.
//!
//! Whole directories such as `.local` or `.config` are left out on purpose: keyrings and tokens live there too.

use std::path::{Path, PathBuf};

/// What stays of a home directory, where it is there: also the files that say which version of a tool is meant.
const INSTALLED: [&str; 65] = [
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
    ".config/nvm",
    ".deno",
    ".dotnet",
    ".fnm",
    ".gem",
    ".go",
    ".goenv",
    ".jenv",
    ".linuxbrew",
    ".local/bin",
    ".local/lib",
    ".local/pipx",
    ".local/share/asdf",
    ".local/share/fnm",
    ".local/share/gem",
    ".local/share/mise",
    ".local/share/pipx",
    ".local/share/pnpm",
    ".local/share/rtx",
    ".local/share/rustup",
    ".local/share/uv",
    ".local/share/virtualenvs",
    ".local/state/fnm_multishells",
    ".m2/repository",
    ".micromamba",
    ".n",
    ".node-version",
    ".nodenv",
    ".npm",
    ".npm-global",
    ".nvm",
    ".nvmrc",
    ".pixi",
    ".pnpm-store",
    ".proto",
    ".pyenv",
    ".python-version",
    ".rbenv",
    ".ruby-version",
    ".rustup",
    ".rye",
    ".sdkman/bin",
    ".sdkman/candidates",
    ".tool-versions",
    ".volta",
    ".yarn",
    "anaconda3",
    "go/bin",
    "go/pkg",
    "micromamba",
    "miniconda3",
    "miniforge3",
];

/// Whether something installed there can be had again: copies of packages, and no programs.
pub(crate) fn is_cache(path: &Path) -> bool {
    let names =
        [".npm", ".cache/pip", ".cache/pipx", ".cache/pnpm", ".cache/pypoetry", ".cache/uv", ".cache/yarn"];
    names.iter().any(|name| path.ends_with(name))
}

pub(crate) fn installed(home: &Path) -> impl Iterator<Item = PathBuf> {
    INSTALLED.iter().map(|name| home.join(name)).filter(|path| path.exists())
}
