//! The fourth table: small servers that do what a payload says, each with a twin that does not.

use crate::flaw::Expect;

/// One server with a way in. Its correct twin, which `--fixed` plays, has the same names and schemas, and gives no
/// finding.
#[derive(Debug, Clone, Copy)]
pub struct Injection {
    pub name: &'static str,
    pub about: &'static str,
    /// Exactly these findings; empty where what it does is worth a note and no more.
    pub expected: &'static [Expect],
    pub told: Told,
}

/// Who tells it of a directory to keep to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    CommandLine,
    Roots,
    Nobody,
    /// Its command line says that it is only to read, and nothing of a directory.
    ReadOnly,
}

impl Injection {
    /// The arguments with which [`server`](crate::server) plays it; `--fixed` may follow, and `--root DIRECTORY` does
    /// where its command line tells it.
    pub fn arguments(&self) -> [&'static str; 2] {
        ["injection", self.name]
    }
}

pub fn injections() -> &'static [Injection] {
    INJECTIONS
}

static INJECTIONS: &[Injection] = &[
    row("command-through-shell", "Writes a value into a line for the shell.", &[critical("list_archive")]),
    row(
        "command-when-offline",
        "Falls back on the shell, and only when the network fails.",
        &[critical("load_drawing")],
    ),
    row(
        "option-of-program",
        "Hands a value to a program that may take it for an option.",
        &[critical("show_entry")],
    ),
    row("path-unchecked", "Reads any path, though it was given a directory.", &[critical("read_page")]),
    row(
        "path-by-prefix",
        "Compares paths as texts, so that a sibling with the same beginning passes.",
        &[critical("read_page")],
    ),
    row("link-followed", "Follows links that lead out of its directory.", &[critical("read_page")]),
    row("file-made-outside", "Writes wherever it is told.", &[critical("save_page")]),
    row("request-to-inner-address", "Fetches any address.", &[medium("injection", "fetch_page")]),
    row(
        "request-by-declaration",
        "Fetches any address, and only what is declared of its argument says that it does.",
        &[medium("injection", "pack")],
    ),
    row("statement-that-writes", "Says that it only reads, and writes.", &[critical("query_pages")]),
    row(
        "statement-kept-in-memory",
        "Says that it only reads, and keeps in memory what it is told to.",
        &[critical("ask_pages")],
    ),
    row(
        "pattern-that-backtracks",
        "Tries every way in which an expression may match.",
        &[medium("resource_growth", "search_pages")],
    ),
    row(
        "power-without-limit",
        "Works out powers however large they are.",
        &[medium("resource_growth", "work_out")],
    ),
    row(
        "memory-runs-away",
        "Writes out whatever a document's entities stand for.",
        &[medium("resource_growth", "read_document")],
    ),
    row(
        "archive-without-limit",
        "Unpacks whatever it is sent, however much that is.",
        &[medium("resource_growth", "measure_archive")],
    ),
    row(
        "time-runs-away",
        "Looks at a text from each of its letters to the end.",
        &[medium("resource_growth", "trim_text")],
    ),
    row(
        "path-behind-a-call",
        "Reads any path, once another call was made, which its refusal names.",
        &[critical("read_page")],
    ),
    row(
        "command-behind-a-session",
        "Writes a value into a line for the shell, once another call was made, which its refusal implies.",
        &[critical("show_log")],
    ),
    row(
        "command-behind-a-folder",
        "Writes a value into a line for the shell, once a folder was chosen; to choose a file is refused in words, as a success.",
        &[critical("show_log")],
    ),
    row(
        "options-of-programs",
        "Hands two values each to two programs that may take them for options.",
        &[critical("show_entry"), critical("show_label")],
    ),
    row(
        "path-once-marked",
        "Marks any path; and what is marked can be read, but only then.",
        &[critical("mark_page")],
    ),
    row("directory-listed-outside", "Shows what is in any directory.", &[critical("show_shelf")]),
    row(
        "file-named-by-title",
        "Makes a file of whatever a note is called, with an ending of its own.",
        &[critical("save_note")],
    ),
    row(
        "ending-added-to-a-name",
        "Reads whatever a card is called, with an ending of its own.",
        &[critical("show_card")],
    ),
    row("folder-made-outside", "Makes a directory of whatever it is told.", &[critical("create_album")]),
    row(
        "option-of-letters",
        "Takes letters, digits, dots and hyphens only, and hands them to a program that may take them for an option.",
        &[critical("show_host")],
    ),
    row(
        "scheme-handed-on",
        "Hands any address to a program that opens it.",
        &[medium("injection", "open_link")],
    ),
    row(
        "request-after-redirect",
        "Looks at the address that it is told, and not at where that leads.",
        &[medium("injection", "fetch_feed")],
    ),
    row(
        "command-behind-an-allowed-one",
        "Looks at the first word of a command, and gives all of it to the shell.",
        &[critical("run_command")],
    ),
    row(
        "command-within-a-second-one",
        "Looks at the first word of each command, and gives all of it to the shell where there are two.",
        &[critical("run_command")],
    ),
    row(
        "command-by-another-name",
        "Refuses some programs by their names, and not by their paths.",
        &[critical("run_command")],
    ),
    row(
        "command-of-a-process",
        "Starts processes, refuses some programs by their names, and only its argument says that it runs commands.",
        &[critical("begin_work")],
    ),
    row(
        "command-leaves-its-directory",
        "Runs commands in its directory, and looks only for paths that begin with a slash.",
        &[critical("run_command")],
    ),
    row(
        "command-as-a-list",
        "Looks at the first word of a command, which may be a program that runs others.",
        &[critical("run_command")],
    ),
    row(
        "command-behind-own-arguments",
        "Runs one program with the arguments that it is given, and gives all of it to the shell.",
        &[critical("calendar")],
    ),
    row(
        "command-beside-a-command",
        "Runs a command in a room, and gives the name of the room to the shell.",
        &[critical("exec_in_room")],
    ),
    row(
        "command-in-a-path-that-is-there",
        "Looks whether a page is there, and writes its path into a line for the shell.",
        &[critical("count_letters")],
    ),
    row(
        "statement-to-a-database",
        "Has a database answer whole texts within a transaction that only reads.",
        &[critical("ask_records")],
    ),
    row(
        "statement-behind-commit",
        "Answers questions within a transaction that a statement can end.",
        &[critical("ask_table")],
    ),
    row(
        "statement-begins-as-a-question",
        "Takes only what begins as a question does, which a statement can that makes a table.",
        &[critical("ask_table")],
    ),
    row(
        "statement-into-a-file",
        "Opens its database for reading only, and lets all of it be copied to another file.",
        &[critical("ask_table")],
    ),
    row(
        "expression-evaluated",
        "Works out whatever it is given, also what is no number.",
        &[critical("work_out")],
    ),
    row(
        "command-through-a-list",
        "Writes each of some names, which may be none, into a line for the shell.",
        &[critical("count_pages")],
    ),
    row(
        "command-through-a-number",
        "Declares a number, looks at none, and writes it into a line for the shell.",
        &[critical("show_page")],
    ),
    row(
        "option-behind-a-switch",
        "Hands a value to a program behind an option that takes none.",
        &[critical("show_entry")],
    ),
    row(
        "file-by-address",
        "Fetches pages, and opens files where an address says so.",
        &[critical("fetch_page")],
    ),
    row(
        "request-by-name",
        "Looks at the text of an address, and not at where its name leads.",
        &[medium("injection", "fetch_page")],
    ),
    row(
        "request-by-allowed-beginning",
        "Fetches pages of one host, and looks only whether an address begins with its name.",
        &[medium("injection", "fetch_page")],
    ),
    row(
        "link-behind-an-address",
        "Reads files of its directory by their addresses, and follows links that lead out of it.",
        &[critical("read_page")],
    ),
    row(
        "pattern-behind-a-switch",
        "Takes a text for an expression only where it is told to.",
        &[medium("resource_growth", "search_pages")],
    ),
    Injection {
        name: "tool-out-of-the-list",
        about: "Lists no tool that changes something when it is told to only read, and answers it all the same.",
        expected: &[Expect { kind: "injection", tool: None, severity: "high" }],
        told: Told::ReadOnly,
    },
    Injection {
        name: "statement-though-told-to-read",
        about: "Takes any statement, and keeps to its command line, which says that it is only to read, for the first alone.",
        expected: &[critical("ask_table")],
        told: Told::ReadOnly,
    },
    Injection {
        name: "scope-of-its-own",
        about: "Says that it keeps to where it was started, and compares paths as texts.",
        expected: &[critical("read_page")],
        told: Told::Nobody,
    },
    Injection {
        name: "name-is-a-path",
        about: "Reads a card by its name, which may be a whole path, and was given no directory to keep to.",
        expected: &[medium("injection", "recall")],
        told: Told::Nobody,
    },
    Injection {
        name: "file-named-anywhere",
        about: "Makes a file of whatever a note is called, and was given no directory to keep to.",
        expected: &[medium("injection", "save_note")],
        told: Told::Nobody,
    },
    row(
        "pattern-in-a-chosen-place",
        "Holds any expression against the pages of a folder, once that was chosen; before, it finds nothing.",
        &[medium("resource_growth", "search_pages")],
    ),
    row(
        "archive-leads-out",
        "Unpacks an archive, and makes its files wherever their names lead.",
        &[critical("unpack_album")],
    ),
    row("option-of-what-prints", "Hands a value to a program that prints it, whatever its options.", &[]),
    row("place-is-chosen", "Is there to choose another directory to work in.", &[]),
    Injection {
        name: "steps-out-of-its-own",
        about: "Takes names of its own pages, and steps up lead out of where they lie.",
        expected: &[critical("show_guide")],
        told: Told::Nobody,
    },
    Injection {
        name: "file-stepped-out-of-its-own",
        about: "Keeps notes below where it was started, and steps up in a name lead out of there.",
        expected: &[critical("save_note")],
        told: Told::Nobody,
    },
    Injection {
        name: "file-made-anywhere",
        about: "Saves a picture wherever it is told, and was given no directory to keep to.",
        expected: &[low("save_shot")],
        told: Told::Nobody,
    },
    Injection {
        name: "roots-ignored",
        about: "Reads any path, though it asks for roots and is told of one.",
        expected: &[critical("read_page")],
        told: Told::Roots,
    },
    Injection {
        name: "path-without-scope",
        about: "Reads any path, and was given no directory to keep to.",
        expected: &[],
        told: Told::Nobody,
    },
];

const fn row(name: &'static str, about: &'static str, expected: &'static [Expect]) -> Injection {
    Injection { name, about, expected, told: Told::CommandLine }
}

const fn critical(tool: &'static str) -> Expect {
    Expect { kind: "injection", tool: Some(tool), severity: "critical" }
}

const fn low(tool: &'static str) -> Expect {
    Expect { kind: "injection", tool: Some(tool), severity: "low" }
}

const fn medium(kind: &'static str, tool: &'static str) -> Expect {
    Expect { kind, tool: Some(tool), severity: "medium" }
}
