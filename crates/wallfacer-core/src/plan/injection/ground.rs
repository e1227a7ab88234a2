//! Decides what is planted in and around the declared directories, and lists every text that leads there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;
use wallfacer_process::jail::Plant;

use super::aim::{Aim, Escape};
use super::archive;
use crate::catalogue::Catalogue;
use crate::world::DeclaredBy;

/// Directories around which something is planted; a server is seldom told of more.
const MAX_SCOPES: usize = 4;
/// Endings of file names that the server's own words mention, and that files get.
const MAX_ENDINGS: usize = 5;
/// The most directories that are taken for scopes because the server's answers name them: a server can name a new one in every
/// answer.
const MAX_STATED: usize = 4;
/// The ending that every server may open.
pub const PLAIN: &str = "txt";
/// Endings that servers add to names without a word.
const ADDED: [&str; 3] = ["json", "md", "yaml"];
/// Mentions of endings that are counted in one text.
const MAX_MENTIONED: usize = 64;
/// Steps up that lead out of any place.
const UP: usize = 14;
/// Directories of programs and libraries are nobody's scope, even where a search path names them.
const SYSTEM: [&str; 9] = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/proc", "/sys", "/dev"];
/// Where shells look for programs.
const PROGRAM_PLACES: [&str; 2] = ["/usr/bin", "/usr/local/bin"];
/// Ports that no server listens on by habit.
const FIRST_PORT: u16 = 20_000;
const PORTS: u64 = 10_000;
/// A line over which an expression that backtracks takes long.
const LETTERS: usize = 40;
/// Lines of one letter each, every one twice as long as the one before.
pub const LINES: [(char, usize); 4] = [('c', 7), ('d', 14), ('e', 28), ('f', 56)];

/// What an expression that backtracks is held against.
pub fn lines() -> String {
    let line = |(letter, times): (char, usize)| format!("{}!\n", letter.to_string().repeat(times));
    [('a', LETTERS)].into_iter().chain(LINES).map(line).collect()
}

/// What is planted in the world of each life.
#[derive(Debug, Clone)]
pub struct Ground {
    pub plants: BTreeMap<PathBuf, Plant>,
    /// A program of ours that does nothing.
    pub program: String,
    /// Where somebody of ours listens on loopback; no server does so there by habit.
    pub port: u16,
    /// A file that is there for calls that should work, and the directory it is in.
    pub inside: Option<(PathBuf, PathBuf)>,
    /// Ways out of scopes.
    pub ways: Vec<Way>,
    /// Whether the server is only to read, by its settings.
    pub only_reads: bool,
    /// What is there, and has a command in its name: many look whether a path is there before they write it into a line.
    pub named: Vec<Named>,
    /// Directories that are declared by nothing but the server's answers.
    pub stated: BTreeSet<PathBuf>,
}

/// A path that is there, with a command in its name.
#[derive(Debug, Clone)]
pub struct Named {
    pub path: String,
    pub to: To,
}

/// A text that leads out of a scope.
#[derive(Debug, Clone)]
pub struct Way {
    pub about: &'static str,
    pub value: String,
    pub aim: Aim,
    pub to: To,
    /// Written so that it passes a careless look.
    pub disguised: bool,
    /// The same place, written openly, which must not be reached where the other way is to be of note.
    pub openly: Option<String>,
}

/// What a way leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum To {
    /// A file with this ending.
    File(String),
    Directory,
    /// A file that is not there yet, with this ending.
    New(String),
    /// All that lies in a directory.
    Pattern,
    /// An archive with files that lead out of where it is unpacked.
    Archive,
    /// A file, without the ending that the server may add.
    Stem,
}

impl Way {
    fn to(self, to: To) -> Way {
        Way { to, ..self }
    }

    fn disguised(self) -> Way {
        Way { disguised: true, ..self }
    }
}

/// One directory, and what lies around it.
pub(super) struct Scope<'a> {
    pub(super) path: &'a Path,
    pub(super) parent: &'a Path,
    pub(super) declared: bool,
    seed: u64,
}

impl Ground {
    pub fn new(scopes: &BTreeMap<PathBuf, DeclaredBy>, catalogue: &Catalogue, seed: u64) -> Ground {
        let program = name(seed, Path::new(""), "program");
        let port = FIRST_PORT + (seed % PORTS) as u16;
        let mut ground = Ground {
            plants: BTreeMap::new(),
            program,
            port,
            inside: None,
            ways: Vec::new(),
            only_reads: false,
            named: Vec::new(),
            stated: BTreeSet::new(),
        };
        for place in PROGRAM_PLACES {
            let script = Plant::File { content: b"#!/bin/sh\nexit 0\n".to_vec(), executable: true };
            ground.plants.insert(Path::new(place).join(&ground.program), script);
        }
        let endings = endings(catalogue);
        for scope in chosen(scopes, seed) {
            ground.surround(&scope, &endings);
        }
        // What lies within one declared directory is not outside of another.
        let declared = |path: &Path| {
            scopes.iter().any(|(scope, by)| *by != DeclaredBy::WorkingDirectory && path.starts_with(scope))
        };
        ground.ways.retain(|way| !matches!(&way.aim, Aim::Reach { outside, .. } if declared(outside)));
        ground
    }

    /// Takes a directory for the server's scope, because the server said so: what was planted around it is outside, and so
    /// is what was planted elsewhere. True where that was not known.
    pub fn declare(&mut self, stated: &Path) -> bool {
        let mut known = false;
        let mut news = false;
        for way in &mut self.ways {
            if let Aim::Reach { scope, declared, .. } = &mut way.aim
                && scope == stated
            {
                known = true;
                news |= !std::mem::replace(declared, true);
            }
        }
        let is_full = self.stated.len() >= MAX_STATED;
        if known || is_full || SYSTEM.iter().any(|system| stated.starts_with(system)) {
            return news;
        }
        let leads_there = |way: &&Way| way.openly.is_none() && Path::new(&way.value).is_absolute();
        let moved = self.ways.iter().filter(leads_there).filter_map(|way| {
            let Aim::Reach { escape: Escape::Outside, scope, outside, name, token, .. } = way.aim.clone()
            else {
                return None;
            };
            // Ways that were copied for another such directory lead to the same places.
            if self.stated.contains(&scope) {
                return None;
            }
            let aim = Aim::Reach {
                escape: Escape::Outside,
                scope: stated.to_path_buf(),
                declared: true,
                outside: outside.clone(),
                name,
                token,
            };
            (!outside.starts_with(stated)).then(|| Way { aim, ..way.clone() })
        });
        let moved: Vec<Way> = moved.collect();
        let any = !moved.is_empty();
        self.ways.extend(moved);
        self.stated.insert(stated.to_path_buf());
        any
    }

    /// A name of our own for something that a case makes, and for nothing else.
    pub fn label(&self, role: &str) -> String {
        name(0, Path::new(&self.program), role)
    }

    fn surround(&mut self, scope: &Scope<'_>, endings: &BTreeSet<String>) {
        self.put_inside(scope);
        self.put_outside(scope, endings);
        self.put_repository(scope);
        self.put_new(scope, endings);
        self.put_sibling(scope);
        if !scope.declared {
            self.put_below_steps(scope, endings);
        }
        self.put_links(scope);
        self.put_archive(scope);
        if self.named.is_empty() {
            self.put_named(scope, endings);
        }
    }

    /// Links to the directory and to a file in it. The name is a command without quotes, within double ones and within single
    /// ones. That of the directory lies beside it, so that nobody who follows links walks in circles.
    fn put_named(&mut self, scope: &Scope<'_>, endings: &BTreeSet<String>) {
        let name = format!("{}';{1};'$({1})", scope.name("named"), self.program);
        let mut put = |path: PathBuf, target: &Path, to: To| {
            self.named.push(Named { path: text(&path), to });
            self.plants.insert(path, Plant::Symlink(target.to_path_buf()));
        };
        put(scope.parent.join(&name), scope.path, To::Directory);
        let Some((_, file)) = &self.inside else { return };
        for ending in endings {
            put(scope.path.join(format!("{name}.{ending}")), file, To::File(ending.clone()));
        }
    }

    /// An archive whose files lie outside of wherever it is unpacked.
    fn put_archive(&mut self, scope: &Scope<'_>) {
        let name = scope.name("archive");
        let made = scope.parent.join(format!("{name}.txt"));
        let members = [format!("../{name}.txt"), format!("../../{name}.txt"), text(&made)];
        let archive = scope.path.join(format!("{name}.zip"));
        let content = archive::leading_out(&members, &scope.token(&name));
        self.plants.insert(archive.clone(), Plant::File { content, executable: false });
        let about = "an archive with files that lead out of it";
        let way = scope.way(Escape::Outside, about, text(&archive), &made, &name);
        self.ways.push(way.to(To::Archive));
    }

    /// What a call that should work can be about.
    fn put_inside(&mut self, scope: &Scope<'_>) {
        let file = scope.path.join(format!("{}.txt", scope.name("inside")));
        self.put_file(file.clone(), lines());
        self.inside.get_or_insert_with(|| (scope.path.to_path_buf(), file));
    }

    fn put_outside(&mut self, scope: &Scope<'_>, endings: &BTreeSet<String>) {
        let name = scope.name("outside");
        for ending in endings {
            let file = format!("{name}.{ending}");
            let path = scope.parent.join(&file);
            self.put_file(path.clone(), scope.token(&name));
            let lead = |about, value| {
                scope.way(Escape::Outside, about, value, &path, &name).to(To::File(ending.clone()))
            };
            self.ways.extend([
                lead("a step up", format!("../{file}")),
                lead("an absolute path", text(&path)),
                lead("a step up from within", format!("{}/../{file}", text(scope.path))),
            ]);
            if ending == PLAIN {
                let plain = lead("many steps up", steps_up(&path));
                let spelled = spellings(&path, &file).into_iter().map(|(about, value)| lead(about, value));
                self.ways.extend([plain].into_iter().chain(spelled).map(Way::disguised));
            }
        }
        for ending in ADDED {
            self.put_file(scope.parent.join(format!("{name}.{ending}")), scope.token(&name));
        }
        let path = scope.parent.join(&name);
        let lead = |about, value| scope.way(Escape::Outside, about, value, &path, &name).to(To::Stem);
        self.ways.extend([
            lead("a step up, without an ending", format!("../{name}")),
            lead("an absolute path without an ending", text(&path)),
        ]);
    }

    /// As much of a repository as it takes to be one.
    fn put_repository(&mut self, scope: &Scope<'_>) {
        let name = scope.name("repository");
        let root = scope.parent.join(&name);
        let git = root.join(".git");
        for place in ["objects/info", "objects/pack", "refs/heads", "refs/tags"] {
            self.plants.insert(git.join(place), Plant::Directory);
        }
        self.put_file(git.join("HEAD"), "ref: refs/heads/main\n".to_owned());
        let config = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n";
        self.put_file(git.join("config"), config.to_owned());
        self.put_file(git.join("description"), scope.token(&name));
        self.put_file(root.join("README.txt"), scope.token(&name));
        let lead = |about, value| scope.way(Escape::Outside, about, value, &root, &name).to(To::Directory);
        self.ways.extend([
            lead("another directory, a repository", text(&root)),
            lead("another directory, a step up", format!("../{name}")),
            lead("all of another directory, a step up", format!("../{name}/*")).to(To::Pattern),
            lead("all of another directory", format!("{}/*", text(&root))).to(To::Pattern),
        ]);
    }

    /// Files that are not there yet. A server may add an ending of its own, or make a directory of the name.
    fn put_new(&mut self, scope: &Scope<'_>, endings: &BTreeSet<String>) {
        for ending in endings {
            let name = scope.name(&format!("new {ending}"));
            let path = scope.parent.join(format!("{name}.{ending}"));
            let to = To::New(ending.clone());
            let lead = |about, value| scope.way(Escape::Outside, about, value, &path, &name).to(to.clone());
            self.ways.extend([
                lead("an absolute path to a new file", text(&path)),
                lead("a step up to a new file", format!("../{name}.{ending}")),
            ]);
            if ending == PLAIN {
                self.ways.extend([
                    lead("a step up to a new name", format!("../{name}")),
                    lead("many steps up to a new file", steps_up(&path)).disguised(),
                ]);
            }
        }
    }

    /// What only steps up lead to: where nobody named a directory, whoever takes whole paths does as it is meant, but
    /// one that does not, and yet takes steps up, leaves a directory of its own.
    fn put_below_steps(&mut self, scope: &Scope<'_>, endings: &BTreeSet<String>) {
        let name = scope.name("below steps");
        let root = scope.parent.join(&name);
        let lead = |about, path: &Path| {
            let way = scope.way(Escape::Relative, about, steps_up(path), &root, &name);
            // It has a directory of its own, whether or not anybody named it.
            let aim = match way.aim.clone() {
                Aim::Reach { escape, scope, outside, name, token, .. } => {
                    Aim::Reach { escape, scope, outside, name, token, declared: true }
                }
                aim => aim,
            };
            Way { aim, openly: Some(text(path)), ..way }
        };
        let mut ways = vec![
            lead("steps up to a directory", &root).to(To::Directory),
            lead("steps up, without an ending", &root.join(&name)).to(To::Stem),
        ];
        for ending in ADDED {
            self.put_file(root.join(format!("{name}.{ending}")), scope.token(&name));
        }
        for ending in endings {
            let file = root.join(format!("{name}.{ending}"));
            ways.push(lead("steps up to a file", &file).to(To::File(ending.clone())));
            self.put_file(file, scope.token(&name));
            let new = root.join(format!("{name}-new.{ending}"));
            ways.push(lead("steps up to a new file", &new).to(To::New(ending.clone())));
        }
        self.ways.extend(ways);
    }

    fn put_sibling(&mut self, scope: &Scope<'_>) {
        let Some(own) = scope.path.file_name().and_then(|name| name.to_str()) else { return };
        let name = scope.name("sibling");
        let directory = format!("{own}_{name}");
        let root = scope.parent.join(&directory);
        self.put_file(root.join(format!("{name}.txt")), scope.token(&name));
        let lead = |about, value| scope.way(Escape::Prefix, about, value, &root, &name);
        self.ways.extend([
            lead("a file of a sibling with the same beginning", format!("{}/{name}.txt", text(&root))),
            lead("a sibling with the same beginning", text(&root)).to(To::Directory),
            lead("a step up into a sibling with the same beginning", format!("../{directory}/{name}.txt")),
        ]);
    }

    fn put_links(&mut self, scope: &Scope<'_>) {
        let name = scope.name("link");
        let target = scope.parent.join(format!("{}.txt", scope.name("link target")));
        self.put_file(target.clone(), scope.token(&name));
        let link = scope.path.join(format!("{name}.txt"));
        self.plants.insert(link.clone(), Plant::Symlink(target.clone()));
        let lead = |about, value| scope.way(Escape::Symlink, about, value, &target, &name);
        self.ways.extend([
            lead("a link to a file", text(&link)),
            lead("a link to a file, by its name", format!("{name}.txt")),
        ]);
        let name = scope.name("directory link");
        let target = scope.parent.join(scope.name("directory link target"));
        self.put_file(target.join("file.txt"), scope.token(&name));
        let link = scope.path.join(&name);
        self.plants.insert(link.clone(), Plant::Symlink(target.clone()));
        let lead = |about, value| scope.way(Escape::Symlink, about, value, &target, &name);
        self.ways.extend([
            lead("a file behind a link to a directory", format!("{}/file.txt", text(&link))),
            lead("a link to a directory", text(&link)).to(To::Directory),
            lead("a file behind a link to a directory, by its name", format!("{name}/file.txt")),
            lead("a new file behind a link to a directory", format!("{}/new.txt", text(&link)))
                .to(To::New(PLAIN.to_owned())),
        ]);
    }

    fn put_file(&mut self, path: PathBuf, content: String) {
        self.plants.insert(path, Plant::File { content: content.into_bytes(), executable: false });
    }
}

impl Scope<'_> {
    pub(super) fn name(&self, role: &str) -> String {
        name(self.seed, self.path, role)
    }

    /// What a planted file holds.
    pub(super) fn token(&self, name: &str) -> String {
        format!("wallfacer-canary-{}", &digest(self.seed, self.path, name)[..32])
    }

    fn way(&self, escape: Escape, about: &'static str, value: String, outside: &Path, name: &str) -> Way {
        let aim = Aim::Reach {
            escape,
            scope: self.path.to_path_buf(),
            declared: self.declared,
            outside: outside.to_path_buf(),
            name: name.to_owned(),
            token: self.token(name),
        };
        Way { about, value, aim, to: To::File(PLAIN.to_owned()), disguised: false, openly: None }
    }
}

/// Declared ones first.
pub(super) fn chosen(scopes: &BTreeMap<PathBuf, DeclaredBy>, seed: u64) -> Vec<Scope<'_>> {
    let own = scopes.iter().filter(|(path, _)| !SYSTEM.iter().any(|system| path.starts_with(system)));
    let mut chosen: Vec<Scope<'_>> = own
        .filter_map(|(path, by)| {
            let declared = *by != DeclaredBy::WorkingDirectory;
            Some(Scope { path, parent: path.parent()?, declared, seed })
        })
        .collect();
    chosen.sort_by_key(|scope| !scope.declared);
    chosen.truncate(MAX_SCOPES);
    chosen
}

/// The same file, one directory up, written so that careless looks let it pass.
fn spellings(path: &Path, file: &str) -> Vec<(&'static str, String)> {
    let absolute = text(path);
    vec![
        ("an address of a file", format!("file://{absolute}")),
        ("a step up that is stripped once", format!("....//{file}")),
        ("an encoded step up", format!("%2e%2e%2f{file}")),
        ("a step up with an encoded separator", format!("..%2f{file}")),
        ("a step up with a backslash", format!("..\\{file}")),
        ("a step up that is encoded twice", format!("%252e%252e%252f{file}")),
        ("a step up behind a name", format!("x/../../{file}")),
        ("a step up behind the directory itself", format!("./../{file}")),
        ("a path with an end in it", format!("../{file}\0.png")),
        ("a path with two slashes", format!("/{absolute}")),
        ("an encoded absolute path", absolute.replace('/', "%2f")),
        ("steps up in wide letters", format!("\u{ff0e}\u{ff0e}\u{ff0f}{file}")),
        ("an absolute path with a space before it", format!(" {absolute}")),
    ]
}

/// Endings such as `json` that tools speak of; a server may open no other files.
fn endings(catalogue: &Catalogue) -> BTreeSet<String> {
    static ENDING: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"[\s\w(`'/*]\.([a-z][a-z0-9]{1,5})\b").expect("a constant"));
    let mut counted: BTreeMap<String, usize> = BTreeMap::new();
    for tool in &catalogue.tools.entries {
        let schema = tool.input_schema().to_string();
        for said in [tool.description.as_deref().unwrap_or_default(), &schema] {
            for found in ENDING.captures_iter(said).take(MAX_MENTIONED) {
                *counted.entry(found[1].to_owned()).or_default() += 1;
            }
        }
    }
    let mut endings: Vec<(String, usize)> = counted.into_iter().collect();
    endings.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let often = endings.into_iter().take(MAX_ENDINGS).map(|(ending, _)| ending);
    often.chain([PLAIN.to_owned()]).collect()
}

/// The way there from wherever one is.
pub(super) fn steps_up(path: &Path) -> String {
    format!("{}{}", "../".repeat(UP), text(path).trim_start_matches('/'))
}

pub(super) fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Short, of letters and digits alone, so that no filter has a reason to change it.
fn name(seed: u64, scope: &Path, role: &str) -> String {
    format!("wf{}", &digest(seed, scope, role)[..10])
}

fn digest(seed: u64, scope: &Path, role: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"wallfacer ground").update(&seed.to_le_bytes());
    hasher.update(scope.as_os_str().as_encoded_bytes()).update(&[0]).update(role.as_bytes());
    hasher.finalize().to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ground(scopes: &[(&str, DeclaredBy)]) -> Ground {
        let scopes = scopes.iter().map(|(path, by)| (PathBuf::from(path), *by)).collect();
        Ground::new(&scopes, &Catalogue::default(), 7)
    }

    #[test]
    fn every_way_names_its_goal_and_leads_out_of_its_scope() {
        let ground = ground(&[("/data/root", DeclaredBy::CommandLine)]);
        assert!(ground.ways.len() > 15);
        for way in &ground.ways {
            let Aim::Reach { scope, outside, name, .. } = &way.aim else { panic!("{way:?}") };
            assert!(way.value.contains(name), "{way:?}");
            assert!(!outside.starts_with(scope), "{way:?}");
        }
    }

    #[test]
    fn a_sibling_begins_with_the_name_of_its_scope_and_links_point_out_of_it() {
        let ground = ground(&[("/data/root", DeclaredBy::CommandLine)]);
        let siblings = ground.plants.keys().filter(|path| path.to_string_lossy().starts_with("/data/root_"));
        assert_eq!(siblings.count(), 1);
        let is_named = |path: &Path| ground.named.iter().any(|named| Path::new(&named.path) == path);
        for (path, plant) in ground.plants.iter().filter(|(path, _)| !is_named(path)) {
            if let Plant::Symlink(target) = plant {
                assert!(path.starts_with("/data/root") && !target.starts_with("/data/root"), "{path:?}");
                assert!(ground.plants.keys().any(|path| path.starts_with(target)), "{target:?} is not there");
            }
        }
    }

    #[test]
    fn what_is_there_has_our_command_in_its_name_and_is_the_directory_or_a_file_of_it() {
        let ground = ground(&[("/data/root", DeclaredBy::CommandLine)]);
        assert!(ground.named.iter().any(|named| named.to == To::Directory));
        for named in &ground.named {
            assert!(named.path.contains(&format!("$({})", ground.program)), "{named:?}");
            let Some(Plant::Symlink(target)) = ground.plants.get(Path::new(&named.path)) else {
                panic!("{named:?}")
            };
            assert!(target.starts_with("/data/root"), "{named:?}");
        }
    }

    #[test]
    fn what_another_declared_directory_holds_is_not_outside() {
        let both = [("/data/root", DeclaredBy::CommandLine), ("/data", DeclaredBy::Environment)];
        for way in ground(&both).ways {
            assert!(matches!(&way.aim, Aim::Reach { scope, .. } if scope == Path::new("/data")), "{way:?}");
        }
    }

    #[test]
    fn a_server_that_states_another_directory_in_each_answer_does_not_multiply_the_ways() {
        let mut ground = ground(&[("/data/root", DeclaredBy::CommandLine)]);
        let before = ground.ways.len();
        for number in 0..1_000 {
            ground.declare(Path::new(&format!("/srv/{number}")));
        }
        assert!(ground.ways.len() <= before * (1 + MAX_STATED), "{} of {before}", ground.ways.len());
        assert!(ground.ways.len() > before);
    }

    #[test]
    fn search_paths_are_nobodys_scope() {
        assert!(ground(&[("/usr/bin", DeclaredBy::Environment)]).ways.is_empty());
    }
}
