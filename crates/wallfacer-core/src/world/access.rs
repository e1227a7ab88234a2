//! What of the user's own a server can get at, in the report's words: what is shown to it as it is, what it finds a
//! look-alike of, and who opened the sandbox for it.

/// Names and paths; never a value.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Access {
    /// How far a file of the project opens the sandbox, and which file, where nobody typed the same.
    pub opened: Option<String>,
    /// What is shown as it is although it lies in a hidden place.
    pub kept: Vec<String>,
    /// Files among them that look like credentials.
    pub readable_secrets: Vec<String>,
    /// Variables that the server has look-alikes of, because they hold secrets and nobody named them.
    pub replaced: Vec<String>,
    /// What else is better known.
    pub remarks: Vec<String>,
}

impl Access {
    /// What a report begins with, so that nobody misses it.
    pub fn warning(&self) -> Option<String> {
        self.opened.as_ref().map(|opened| format!("sandbox: {opened}"))
    }

    /// A line each.
    pub fn told(&self) -> Vec<String> {
        let readable = (!self.readable_secrets.is_empty())
            .then(|| format!("real secrets that the server can read: {}", self.readable_secrets.join(", ")));
        let replaced = (!self.replaced.is_empty()).then(|| {
            let names = self.replaced.join(", ");
            format!(
                "variables that the server has look-alikes of: {names}; --env-pass NAME gives it the real one"
            )
        });
        readable.into_iter().chain(replaced).chain(self.remarks.iter().cloned()).collect()
    }
}
