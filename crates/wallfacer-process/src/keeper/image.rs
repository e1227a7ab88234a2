//! Prepares what `execve` takes, before the fork, for after it nothing can be allocated.

use std::ffi::{CStr, CString, OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;

use crate::jail::second;
use crate::{Spec, StartError};

pub(super) struct Image {
    program: CString,
    directory: Option<CString>,
    arguments: Strings,
    environment: Strings,
}

impl Image {
    /// `twice` has a shell start the program, so that a second process of it can be had.
    pub(super) fn new(spec: &Spec, path: &Path, twice: bool) -> Result<Self, StartError> {
        let (executed, before) = match twice {
            true => (Path::new(second::SHELL), second::arguments().to_vec()),
            false => (path, Vec::new()),
        };
        let name = if twice { path.as_os_str() } else { &spec.program };
        let arguments = before.iter().map(OsString::as_os_str).chain([name]);
        let arguments = arguments.chain(spec.args.iter().map(OsString::as_os_str));
        let arguments =
            arguments.map(|argument| c_string("an argument", argument)).collect::<Result<_, _>>()?;
        let environment = spec.env.iter().map(|(name, value)| {
            let mut pair = name.clone();
            pair.push("=");
            pair.push(value);
            c_string(&format!("the environment variable `{}`", name.to_string_lossy()), &pair)
        });
        let directory = spec.cwd.as_ref().map(|cwd| c_string("the working directory", cwd.as_os_str()));
        Ok(Self {
            program: c_string("the program's path", executed.as_os_str())?,
            directory: directory.transpose()?,
            arguments: Strings::new(arguments),
            environment: Strings::new(environment.collect::<Result<_, _>>()?),
        })
    }

    pub(super) fn program(&self) -> &CStr {
        &self.program
    }

    pub(super) fn directory(&self) -> Option<&CStr> {
        self.directory.as_deref()
    }

    pub(super) fn argv(&self) -> *const *const libc::c_char {
        self.arguments.pointers.as_ptr()
    }

    pub(super) fn envp(&self) -> *const *const libc::c_char {
        self.environment.pointers.as_ptr()
    }
}

/// C strings and the array of pointers to them, closed by a null pointer.
struct Strings {
    pointers: Vec<*const libc::c_char>,
    /// What the pointers point to; moving this moves no string.
    _owned: Vec<CString>,
}

impl Strings {
    fn new(strings: Vec<CString>) -> Self {
        let pointers = strings.iter().map(|string| string.as_ptr()).chain([ptr::null()]).collect();
        Self { pointers, _owned: strings }
    }
}

fn c_string(what: &str, text: &OsStr) -> Result<CString, StartError> {
    CString::new(text.as_bytes()).map_err(|_| StartError::NulByte { what: what.to_owned() })
}
