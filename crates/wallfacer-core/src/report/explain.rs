//! Explains a kind of finding: as text for a terminal, and as the page in `docs/kinds/`. Both come from the table in
//! `kind.rs`.

use std::fmt::Write as _;

use super::human;
use super::look::{Look, Tone};
use super::told::Told;
use crate::findings::{About, Finding, Reference, ReferenceKind};

/// The page in `docs/kinds/`.
pub fn kind_page(about: &About) -> String {
    let About { name, severity, title, why, change, proof, .. } = about;
    let references: String =
        about.references().iter().map(|reference| format!("- {}\n", linked(reference))).collect();
    format!(
        "<!-- Made from crates/wallfacer-core/src/kind.rs; WALLFACER_BLESS=1 cargo test -p wallfacer-core --lib kinds writes it anew. -->\n\
         # {name}\n\n{title}. Usual severity: **{severity}**.\n\n\
         ## Why it matters\n\n{why}\n\n\
         ## What to change\n\n{change}\n\n\
         ## How it is proven\n\n{proof}\n\n\
         ## See it again, weigh it, accept it\n\n\
         ```sh\n\
         wallfacer replay ID     # the line below each finding\n\
         wallfacer explain ID    # this text, with what was sent and what came back\n\
         ```\n\n\
         `[severity]` in `wallfacer.toml` sets another weight: `{name} = \"low\"`, or for one tool `\"tool:NAME.{name}\" = \"low\"`. \
         [CI](../ci.md) says how to accept a finding that is known.\n\n\
         ## References\n\n{references}"
    )
}

fn linked(reference: &Reference) -> String {
    let text = &reference.text;
    match (reference.kind, text.strip_prefix("CWE-")) {
        (ReferenceKind::Cwe, Some(number)) => {
            format!("[{text}](https://cwe.mitre.org/data/definitions/{number}.html)")
        }
        (ReferenceKind::Spec, _) => format!("<{text}>"),
        _ => text.clone(),
    }
}

/// The same for a terminal.
pub fn kind_text(about: &About, look: Look) -> String {
    let mut text = format!("{}  {}\n", look.paint(Tone::Heading, about.name), about.title);
    let _infallible = writeln!(text, "Usual severity: {}", about.severity);
    let parts =
        [("Why it matters", about.why), ("What to change", about.change), ("How it is proven", about.proof)];
    for (heading, body) in parts {
        let _infallible = writeln!(text, "\n{}", look.paint(Tone::Heading, heading));
        for line in look.wrapped(body, 2) {
            let _infallible = writeln!(text, "  {line}");
        }
    }
    let _infallible = writeln!(text, "\n{}", look.paint(Tone::Heading, "References"));
    for reference in about.references() {
        let _infallible = writeln!(text, "  {}", reference.text);
    }
    let _infallible = writeln!(text, "  {}", about.page());
    text
}

/// One finding with all that is known about it.
pub fn finding_in_full(finding: &Finding, look: Look) -> String {
    human::in_full(&Told::new(finding), look)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::ABOUT;

    /// The pages are made from the table; with WALLFACER_BLESS they are written anew.
    #[test]
    fn the_pages_of_kinds_are_those_of_the_table() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/kinds");
        #[allow(clippy::disallowed_methods, reason = "the developer asks for the files to be written")]
        let bless = std::env::var_os("WALLFACER_BLESS").is_some();
        let mut names = Vec::new();
        let mut index = "<!-- Made from crates/wallfacer-core/src/kind.rs. -->\n# Kinds of finding\n\n\
                         | kind | usual severity | |\n|---|---|---|\n"
            .to_owned();
        for about in &ABOUT {
            index +=
                &format!("| [{0}](kinds/{0}.md) | {1} | {2} |\n", about.name, about.severity, about.title);
        }
        let mut pages = vec![("../kinds.md".to_owned(), index)];
        for about in &ABOUT {
            names.push(format!("{}.md", about.name));
            pages.push((format!("{}.md", about.name), kind_page(about)));
        }
        if bless {
            std::fs::create_dir_all(&folder).unwrap();
        }
        for (name, page) in &pages {
            if bless {
                std::fs::write(folder.join(name), page).unwrap();
            }
            let there = std::fs::read_to_string(folder.join(name)).unwrap_or_default();
            assert_eq!(&there, page, "{name}: WALLFACER_BLESS=1 writes it anew");
        }
        for entry in std::fs::read_dir(&folder).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(names.contains(&name), "{name} is about no kind");
        }
    }

    #[test]
    fn a_kind_is_explained_in_words() {
        insta::assert_snapshot!(kind_text(About::of("crash").unwrap(), Look::PLAIN));
    }
}
