//! A few files of every kind, planted where a confined server works, so that calls about files name something that is there:
//! texts, tables, pictures, documents, a sound, a database and a repository with two commits.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use wallfacer_process::jail::Plant;
use wallfacer_process::sink::git;

/// The directory of the samples, within the one that the server works in.
pub const SAMPLES: &str = "samples";
/// The repository, within the samples.
pub const REPOSITORY: &str = "repository";

/// Each sample with its content, one for each ending.
const FILES: [(&str, &[u8]); 18] = [
    ("notes.txt", include_bytes!("workspace/notes.txt")),
    ("README.md", include_bytes!("workspace/README.md")),
    ("archive.zip", include_bytes!("workspace/archive.zip")),
    ("config.yaml", include_bytes!("workspace/config.yaml")),
    ("data.db", include_bytes!("workspace/data.db")),
    ("data.json", include_bytes!("workspace/data.json")),
    ("document.docx", include_bytes!("workspace/document.docx")),
    ("document.pdf", include_bytes!("workspace/document.pdf")),
    ("drawing.svg", include_bytes!("workspace/drawing.svg")),
    ("feed.xml", include_bytes!("workspace/feed.xml")),
    ("image.png", include_bytes!("workspace/image.png")),
    ("index.js", include_bytes!("workspace/index.js")),
    ("main.py", include_bytes!("workspace/main.py")),
    ("page.html", include_bytes!("workspace/page.html")),
    ("slides.pptx", include_bytes!("workspace/slides.pptx")),
    ("table.csv", include_bytes!("workspace/table.csv")),
    ("tone.wav", include_bytes!("workspace/tone.wav")),
    ("workbook.xlsx", include_bytes!("workspace/workbook.xlsx")),
];

const PACK: &str = "pack-a63aa4d6e2f3bbd54a2c1e067f780e0728dbaa3b";

/// What is planted in this directory; nothing where something of the name is there already.
pub fn plants(directory: &Path) -> BTreeMap<PathBuf, Plant> {
    let samples = directory.join(SAMPLES);
    if samples.symlink_metadata().is_ok() {
        return BTreeMap::new();
    }
    let file = |content: &[u8]| Plant::File { content: content.to_vec(), executable: false };
    let mut plants: BTreeMap<PathBuf, Plant> =
        FILES.iter().map(|(name, content)| (samples.join(name), file(content))).collect();
    let repository = samples.join(REPOSITORY);
    let held_in = repository.join(".git");
    // It is its own remote, so that what fetches and pushes works without a network.
    let config = b"[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n[user]\n\tname = Ada\n\temail = ada@example.com\n[remote \"origin\"]\n\turl = .\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n";
    let parts: [(PathBuf, &[u8]); 8] = [
        (repository.join("page.txt"), b"one\ntwo\nthree\n"),
        (repository.join("README.md"), b"# Sample\n"),
        (held_in.join("HEAD"), include_bytes!("workspace/repository/HEAD")),
        (held_in.join("config"), config),
        (held_in.join("index"), include_bytes!("workspace/repository/index")),
        (held_in.join("packed-refs"), git::REFS.as_bytes()),
        (held_in.join("objects/pack").join(format!("{PACK}.pack")), git::PACK),
        (
            held_in.join("objects/pack").join(format!("{PACK}.idx")),
            include_bytes!("workspace/repository/objects.idx"),
        ),
    ];
    plants.extend(parts.into_iter().map(|(path, content)| (path, file(content))));
    plants.insert(held_in.join("refs/heads"), Plant::Directory);
    plants
}

/// The sample with this ending, such as `csv`.
pub fn sample(ending: &str) -> Option<&'static str> {
    let names = FILES.iter().map(|(name, _)| *name);
    names.into_iter().find(|name| name.rsplit_once('.').is_some_and(|(_, own)| own == ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_not_replaced() {
        let place = tempfile::tempdir().unwrap();
        assert!(plants(place.path()).contains_key(&place.path().join("samples/notes.txt")));
        std::fs::create_dir(place.path().join(SAMPLES)).unwrap();
        assert!(plants(place.path()).is_empty());
    }

    #[test]
    fn a_sample_is_found_by_its_ending() {
        assert_eq!(sample("csv"), Some("table.csv"));
        assert_eq!(sample("exe"), None);
    }
}
