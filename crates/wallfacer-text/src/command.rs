//! Where does a CI system read a command in what a step prints?

/// Whether a command begins here that is looked for in the whole line: `##[…`, `##vso[…`, `##teamcity[…`.
pub(crate) fn begins_anywhere(rest: &str) -> bool {
    let Some(name) = rest.strip_prefix("##") else { return false };
    name.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter))
        .starts_with('[')
}

/// Whether a line, without the blanks before it, is taken for a command: `::warning::…`.
pub(crate) fn begins_a_line(line: &str) -> bool {
    line.starts_with("::")
}
