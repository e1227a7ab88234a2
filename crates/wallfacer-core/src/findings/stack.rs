//! Finds in what a program wrote the frame where it failed: a function and a file name, without directories, lines and
//! addresses, so that one bug stays one over inputs and releases.
//!
//! The last trace counts, for earlier ones were survived. Of its frames the innermost one counts that is the
//! program's own: two callers of one library function are two bugs. A function without a name is known by the line of
//! source that the trace quotes, or else by the class of the error.

use std::sync::LazyLock;

use regex::Regex;
use serde::Serialize;

use super::wording::pattern;

/// A trace stands at the end of what was written; what lies further back was survived.
const MAX_LINES: usize = 2_000;
/// No line of a trace is longer; a server may well write longer ones.
const MAX_LINE_BYTES: usize = 2_000;
const MAX_NAME_CHARS: usize = 200;
/// How languages say that calls went too deep.
const OVERFLOWS: [&str; 4] =
    ["RecursionError", "Maximum call stack size exceeded", "StackOverflowError", "stack overflow"];
/// A frame that stands in a trace so often is part of a circle. Some languages print ten frames and no more.
const CIRCLE: usize = 3;
/// How Node writes a function without a name.
const NAMELESS: &str = "<anonymous>";
/// Between the class of an error and its frames stands its message.
const MAX_MESSAGE_LINES: usize = 20;
/// A circle has far fewer functions.
const MAX_CIRCLE: usize = 200;

/// Where it happened.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Frame {
    pub function: String,
    pub file: String,
    /// What tells apart functions without a name in one file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub near: Option<String>,
}

impl Frame {
    /// The same as it was known before functions without a name were told apart.
    pub fn former(&self) -> Option<Frame> {
        self.near.is_some().then(|| Frame { near: None, ..self.clone() })
    }
}

/// One frame of a trace as it was found.
struct Seen {
    frame: Frame,
    /// Part of the language or its runtime, not of the program.
    foreign: bool,
}

/// The frames of a trace, innermost first, and the number of a line of it.
type Found = Option<(usize, Vec<Seen>)>;

/// The frame where the last trace in a text ended up.
pub fn top_frame(text: &str) -> Option<Frame> {
    let all: Vec<&str> = text.lines().filter(|line| line.len() <= MAX_LINE_BYTES).collect();
    let lines = &all[all.len().saturating_sub(MAX_LINES)..];
    let readers: [fn(&[&str]) -> Found; 6] = [python, node, java, go, rust, native];
    let (_, frames) = readers.iter().filter_map(|read| read(lines)).max_by_key(|(line, _)| *line)?;
    let endless = lines.iter().any(|line| OVERFLOWS.iter().any(|words| line.contains(words)));
    let around = if endless { around(&frames) } else { None };
    let own = || frames.iter().find(|seen| !seen.foreign).or(frames.first());
    let frame = around.or_else(own)?.frame.clone();
    // How deep calls went is chance, and so is the line that they had reached.
    Some(if endless { Frame { near: None, ..frame } } else { frame })
}

/// Where calls go in circles, the one in which the stack ended is chance; the first by name is not.
fn around(frames: &[Seen]) -> Option<&Seen> {
    let times = |seen: &Seen| frames.iter().filter(|other| other.frame == seen.frame).take(CIRCLE).count();
    let last = &frames[..frames.len().min(MAX_CIRCLE)];
    last.iter().filter(|seen| !seen.foreign && times(seen) == CIRCLE).min_by_key(|seen| &seen.frame)
}

/// `File "/a/b.py", line 3, in f`, outermost first; in a group of exceptions behind bars.
fn python(lines: &[&str]) -> Found {
    static FRAME: LazyLock<Regex> =
        LazyLock::new(|| pattern(r#"^[\s|+]*File "(?P<file>[^"]+)", line \d+(?:, in (?P<function>.+))?$"#));
    let start =
        lines.iter().rposition(|line| line.contains("Traceback (most recent call last)")).unwrap_or(0);
    let frames = lines.iter().enumerate().skip(start).rev().filter_map(|(number, line)| {
        let found = FRAME.captures(line)?;
        let file = &found["file"];
        let foreign = file.starts_with('<') || file.contains("lib/python3") && !file.contains("-packages/");
        let function = found.name("function").map_or("<module>", |function| function.as_str());
        Some((number, Seen { frame: frame(function, file), foreign }))
    });
    gathered(frames)
}

/// `at f (/a/b.js:3:7)` or `at file:///a/b.js:3:7`, innermost first.
fn node(lines: &[&str]) -> Found {
    static FRAME: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"^\s+at (?:async )?(?:new )?(?:(?P<function>.+?) \()?(?P<file>[^()\s][^()]*?):(?P<line>\d+):\d+\)?$",
        )
    });
    let (end, mut frames) = last_block(lines, |line| {
        let found = FRAME.captures(line)?;
        let file = &found["file"];
        let foreign = file.starts_with("node:") || file.starts_with("internal/");
        let function = found.name("function").map_or(NAMELESS, |function| function.as_str());
        // `Object.f [as g]` is `Object.f`, by whichever name it was called.
        let function = function.split(" [as ").next().unwrap_or_default();
        Some(Seen { frame: frame(function, file), foreign })
    })?;
    let head = &lines[..(end + 1).saturating_sub(frames.len())];
    let quoted = quoted(head);
    for (seen, line) in frames.iter_mut().zip(&lines[head.len()..=end]) {
        let Some(at) = FRAME.captures(line).filter(|_| seen.frame.function.ends_with(NAMELESS)) else {
            continue;
        };
        let source = quoted.filter(|(file, line, _)| *file == &at["file"] && *line == &at["line"]);
        let near = source.map(|(_, _, source)| source).or_else(|| error_class(head));
        seen.frame.near = near.map(|near| near.chars().take(MAX_NAME_CHARS).collect());
    }
    Some((end, frames))
}

/// The file and line that Node names above an error that nobody caught, and the source that it quotes from there.
fn quoted<'a>(head: &[&'a str]) -> Option<(&'a str, &'a str, &'a str)> {
    let carets = |line: &str| line.contains('^') && line.trim().chars().all(|letter| letter == '^');
    let [place, source, _] = head.windows(3).rev().find(|three| carets(three[2]))? else { return None };
    let (file, line) = place.rsplit_once(':')?;
    let is_number = !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && !source.trim().is_empty()).then(|| (file, line, source.trim()))
}

/// `TypeError` of `TypeError: x is not a function`, which stands above the frames.
fn error_class<'a>(head: &[&'a str]) -> Option<&'a str> {
    static CLASS: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r"^(?:Uncaught )?(?P<class>[\w$.]*(?:Error|Exception))(?: \[\w+\])?(?::|$)")
    });
    let last = head.iter().rev().take(MAX_MESSAGE_LINES);
    last.filter_map(|line| CLASS.captures(line)?.name("class")).map(|class| class.as_str()).next()
}

/// `at com.example.Main.f(Main.java:3)`, innermost first; the last `Caused by` is the root.
fn java(lines: &[&str]) -> Found {
    static FRAME: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"^\s+at (?:[\w.@-]*/)*(?P<function>[\w.$<>]+)\((?P<file>[\w$-]+\.\w+|Unknown Source|Native Method)(?::\d+)?\)",
        )
    });
    last_block(lines, |line| {
        let found = FRAME.captures(line)?;
        let function = &found["function"];
        let foreign =
            ["java.", "javax.", "jdk.", "sun.", "kotlin."].iter().any(|own| function.starts_with(own));
        Some(Seen { frame: frame(function, &found["file"]), foreign })
    })
}

/// `main.f(0x1, 0x2)`, and on the next line, behind blanks, `/a/b.go:3 +0x1d`. The first goroutine is the one that failed.
fn go(lines: &[&str]) -> Found {
    static FUNCTION: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(?P<function>\S*[\w)\]])\(.*\)$"));
    static PLACE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\s+(?P<file>\S.*\.(?:go|s)):\d+(?: .*)?$"));
    let start = lines.iter().rposition(|line| is_go_failure(line))?;
    let frames = lines[start..].windows(2).enumerate().filter_map(|(number, pair)| {
        let (function, place) = (FUNCTION.captures(pair[0])?, PLACE.captures(pair[1])?);
        let function = function["function"].rsplit('/').next().unwrap_or_default().to_owned();
        let foreign = function == "panic" || function.starts_with("runtime.");
        Some((start + number, Seen { frame: frame(&function, &place["file"]), foreign }))
    });
    gathered(frames)
}

fn is_go_failure(line: &str) -> bool {
    ["panic: ", "fatal error: ", "goroutine 1 [running"].iter().any(|beginning| line.starts_with(beginning))
}

/// `thread 'main' panicked at src/main.rs:3:7:`, and with a backtrace `3: app::f` above `at /a/b.rs:3:7`.
fn rust(lines: &[&str]) -> Found {
    static PANIC: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r"^thread '.*?'(?: \(\d+\))? panicked at (?:'.*', )?(?P<file>[^:]+):\d+:\d+:?$")
    });
    static FUNCTION: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"^\s*\d+:\s+(?:0x[0-9a-f]+ - )?(?P<function>\S.*)$"));
    static PLACE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\s+at (?P<file>.+?):\d+(?::\d+)?$"));
    let (start, panic) =
        lines.iter().enumerate().rev().find_map(|(number, line)| Some((number, PANIC.captures(line)?)))?;
    let frames = lines[start..].windows(2).enumerate().filter_map(|(number, pair)| {
        let (function, place) = (FUNCTION.captures(pair[0])?, PLACE.captures(pair[1])?);
        let (function, file) = (&function["function"], &place["file"]);
        let foreign = file.starts_with("/rustc/") || function.trim_start_matches('<').starts_with("std::");
        Some((start + number + 1, Seen { frame: frame(function, file), foreign }))
    });
    let mut frames: Vec<_> = frames.collect();
    // The end of the backtrace, for its places could be taken for another language's.
    let end = frames.last().map_or(start, |(number, _)| *number);
    // Where the middle was cut out, what is left behind it is the outer end, which is the same for every panic.
    let cut = lines[start..]
        .iter()
        .position(|line| line.trim() == super::escapes::CUT)
        .map_or(lines.len(), |at| start + at);
    frames.retain(|(number, seen)| !seen.foreign && *number < cut);
    if frames.is_empty() {
        let message = lines.get(start + 1).copied().unwrap_or_default();
        let function = super::wording::normalised(message, &Default::default());
        frames.push((start, Seen { frame: frame(&function, &panic["file"]), foreign: false }));
    }
    Some((end, frames.into_iter().map(|(_, seen)| seen).collect()))
}

/// `#0 0x1 in f(int) /a/b.cc:3:7` of debuggers and sanitisers, `./server(f+0x1d)[0x1]` of a plain backtrace, a failed
/// assertion, or an exception that nobody caught.
fn native(lines: &[&str]) -> Found {
    static NUMBERED: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"^\s*#\d+\s+(?:0x[0-9a-f]+ )?(?:in )?(?P<function>[^\s(].*?)(?: ?\(.*?\))?(?: const)? (?:at )?\(?(?P<file>[^\s()]+?)(?::\d+(?::\d+)?|\+0x[0-9a-f]+\)?)$",
        )
    });
    static PLAIN: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"^(?P<file>\S+)\((?P<function>[^()+]+)\+0x[0-9a-f]+\) ?\[0x[0-9a-f]+\]$"));
    static ASSERTION: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"^[^:]+: (?P<file>[^:]+):\d+: (?P<function>.+): Assertion .* failed\.?$"));
    static UNCAUGHT: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"^terminate called after throwing an instance of '(?P<function>[^']+)'"));
    let block = last_block(lines, |line| {
        let found = NUMBERED.captures(line).or_else(|| PLAIN.captures(line))?;
        let (function, file) = (&found["function"], &found["file"]);
        let foreign =
            ["libc", "libasan", "libstdc++", "libpthread"].iter().any(|own| name_of(file).starts_with(own))
                || ["__", "raise", "abort", "gsignal", "std::"].iter().any(|own| function.starts_with(own));
        Some(Seen { frame: frame(function, file), foreign })
    });
    let single = lines.iter().enumerate().rev().find_map(|(number, line)| {
        let found = ASSERTION.captures(line).or_else(|| UNCAUGHT.captures(line))?;
        let file = found.name("file").map_or("", |file| file.as_str());
        Some((number, vec![Seen { frame: frame(&found["function"], file), foreign: false }]))
    });
    block.or(single)
}

/// The last run of lines that are frames.
fn last_block(lines: &[&str], read: impl Fn(&str) -> Option<Seen>) -> Found {
    let end = lines.iter().rposition(|line| read(line).is_some())?;
    let block = lines[..=end].iter().rev().map_while(|line| read(line));
    let mut block: Vec<Seen> = block.collect();
    block.reverse();
    Some((end, block))
}

fn gathered(frames: impl Iterator<Item = (usize, Seen)>) -> Found {
    let (numbers, frames): (Vec<usize>, Vec<Seen>) = frames.unzip();
    numbers.into_iter().max().map(|last| (last, frames))
}

fn frame(function: &str, file: &str) -> Frame {
    static NOISE: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"::h[0-9a-f]{16}$|0x[0-9a-f]+|\(.*\)( const)?$|(?:\$\d+)+|\+0x[0-9a-f]+"));
    static HASH: LazyLock<Regex> = LazyLock::new(|| pattern(r"[.-][0-9a-f]{8,}"));
    // A method of Go, `pkg.(*T).f`, keeps its parentheses, for they do not end the name.
    let function = NOISE.replace_all(function.trim(), "");
    Frame {
        function: function.chars().take(MAX_NAME_CHARS).collect(),
        file: HASH.replace_all(name_of(file), "").chars().take(MAX_NAME_CHARS).collect(),
        near: None,
    }
}

/// The name of a file without its directories.
fn name_of(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn top(text: &str) -> String {
        top_frame(text)
            .map_or_else(|| "none".to_owned(), |frame| format!("{} in {}", frame.function, frame.file))
    }

    #[test]
    fn python() {
        let text = r#"Traceback (most recent call last):
  File "/srv/app/main.py", line 88, in <module>
    run()
  File "/srv/app/main.py", line 41, in handle
    return json.loads(text)
  File "/usr/lib/python3.12/json/__init__.py", line 346, in loads
    return _default_decoder.decode(s)
json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)
"#;
        assert_eq!(top(text), "handle in main.py");
        let installed = text.replace("/srv/app/", "/usr/lib/python3.12/site-packages/app/");
        assert_eq!(top(&installed), "handle in main.py");
    }

    #[test]
    fn python_in_a_group_of_exceptions_and_after_one_that_was_survived() {
        let text = r#"Traceback (most recent call last):
  File "/srv/old.py", line 1, in survived
ValueError: old
  + Exception Group Traceback (most recent call last):
  |   File "/srv/app.py", line 9, in run
  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "/srv/app.py", line 12, in tool
    |     1 / 0
    | ZeroDivisionError: division by zero
    +------------------------------------
"#;
        assert_eq!(top(text), "tool in app.py");
    }

    #[test]
    fn node() {
        let text = r#"/srv/dist/server.js:10
    throw new TypeError("x");
    ^

TypeError: x
    at JSON.parse (<anonymous>)
    at new Parser (node:internal/parser:3:1)
    at Object.handle [as callback] (/srv/dist/server.js:10:11)
    at async file:///srv/dist/index.js:4:9
Node.js v22.1.0
"#;
        assert_eq!(top(text), "Object.handle in server.js");
        assert_eq!(
            top("Error: x\n    at file:///srv/index-0a1b2c3d4e.mjs:4:9\n"),
            "<anonymous> in index.mjs"
        );
        assert_eq!(top("Error\r\n    at go (C:\\srv\\a.js:1:2)\r\n"), "go in a.js");
    }

    /// What Node prints when a function without a name throws.
    fn uncaught(line: u32, source: &str, error: &str) -> String {
        format!(
            "file:///srv/{line}/dist/index.js:{line}\n    {source}\n          ^\n\n{error}\n    at \
             file:///srv/{line}/dist/index.js:{line}:11\n    at file:///srv/{line}/sdk/mcp.js:98:5\n\nNode.js v22.1.0\n"
        )
    }

    #[test]
    fn functions_of_node_without_a_name_are_told_apart_by_what_they_do() {
        let (name, list) = ("return note.name.trim();", "return list[0].id;");
        let error = "TypeError: Cannot read properties of undefined (reading 'trim')";
        let first = top_frame(&uncaught(12, name, error)).unwrap();
        assert_eq!(first.near.as_deref(), Some(name));
        assert_ne!(Some(&first), top_frame(&uncaught(40, list, error)).as_ref());
        let moved = uncaught(30, name, "TypeError: Cannot read properties of null (reading 'trim')");
        assert_eq!(Some(first), top_frame(&moved), "where it stands and what it was given does not matter");
    }

    #[test]
    fn without_its_source_a_function_without_a_name_is_known_by_the_class_of_the_error() {
        let near = |text: &str| top_frame(text).unwrap().near;
        let said =
            |error: &str, at: &str| format!("{error}\n    at {at}\n    at process.run (node:internal:3:5)\n");
        let nameless = "file:///srv/index.js:4:9";
        assert_eq!(near(&said("TypeError: x\nis no list", nameless)).as_deref(), Some("TypeError"));
        assert_eq!(near(&said("RangeError [ERR_X]: y", nameless)).as_deref(), Some("RangeError"));
        assert_eq!(near(&said("it failed", nameless)), None);
        assert_eq!(
            near(&said("TypeError: x", "handle (file:///srv/index.js:4:9)")),
            None,
            "a name is enough"
        );
        let elsewhere = uncaught(12, "throw error;", "TypeError: x").replace("12:11", "90:11");
        assert_eq!(near(&elsewhere).as_deref(), Some("TypeError"), "the source is that of another place");
    }

    #[test]
    fn java_by_the_root_of_the_causes() {
        let text = "Exception in thread \"main\" java.lang.RuntimeException: outer
\tat com.example.Main.main(Main.java:3)
Caused by: java.lang.NumberFormatException: For input string: \"x\"
\tat java.base/java.lang.Integer.parseInt(Integer.java:652)
\tat app//com.example.Tools.lambda$handle$3(Tools.java:17)
\t... 3 more
";
        assert_eq!(top(text), "com.example.Tools.lambda$handle in Tools.java");
    }

    #[test]
    fn go_by_its_first_goroutine() {
        let text = "panic: runtime error: index out of range [5] with length 3

goroutine 7 [running]:
panic({0x4b1e60?, 0xc000018030?})
\t/usr/local/go/src/runtime/panic.go:785 +0x132
github.com/example/server/tools.(*Search).Handle(0xc000012345, {0xc0000140a8, 0x3})
\t/src/tools/search.go:42 +0x1d
main.main()
\t/src/main.go:12 +0x1d

goroutine 8 [select]:
main.other()
\t/src/other.go:9 +0x1
exit status 2
";
        assert_eq!(top(text), "tools.(*Search).Handle in search.go");
    }

    #[test]
    fn rust_with_and_without_a_backtrace() {
        let panic = "\nthread 'main' (4242) panicked at src/tools.rs:41:9:\nindex out of bounds: the len is 3 but the index is 17\n";
        assert_eq!(top(panic), "index out of bounds: the len is <*> but the index is in tools.rs");
        let backtrace = "stack backtrace:
   0: rust_begin_unwind
             at /rustc/0123/library/std/src/panicking.rs:695:5
   1: core::panicking::panic_fmt
             at /rustc/0123/library/core/src/panicking.rs:75:14
   2: server::tools::search::h0123456789abcdef
             at ./src/tools.rs:41:9
";
        assert_eq!(top(&format!("{panic}{backtrace}")), "server::tools::search in tools.rs");
    }

    #[test]
    fn the_outer_end_of_a_backtrace_that_was_cut_says_nothing() {
        let shown = "thread 'main' (2) panicked at src/tools.rs:45:20:\nattempt to divide by zero\nstack backtrace:\n…\n  \
                     14: main\n    at /srv/src/main.rs:15:19\n  15: call_once<fn()>\n    \
                     at /rustc/5980/library/core/src/ops/function.rs:250:5\n";
        assert_eq!(top(shown), "attempt to divide by zero in tools.rs");
    }

    #[test]
    fn native_programs() {
        let sanitiser = "==1==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000011
    #0 0x7f1 in __interceptor_memcpy (/lib/libasan.so.8+0x5d1)
    #1 0x55d in search(std::string const&, int) /src/tools.cc:12:3
    #2 0x55e in main /src/main.cc:9
";
        assert_eq!(top(sanitiser), "search in tools.cc");
        assert_eq!(top("./server(search+0x1d) [0x55d0]\n./server(main+0x1d) [0x55d1]\n"), "search in server");
        assert_eq!(
            top("server: /src/tools.c:12: search: Assertion `length < 3' failed.\n"),
            "search in tools.c"
        );
        let uncaught = "terminate called after throwing an instance of 'std::out_of_range'\n  what():  x\n";
        assert_eq!(top(uncaught), "std::out_of_range in ");
    }

    #[test]
    fn calls_that_go_in_circles_end_at_the_same_place_however_deep() {
        let python = |depth: usize| {
            let frame = |number: usize| {
                format!("  File \"/a/b.py\", line {number}, in {}\n", ["walk", "into"][number % 2])
            };
            let frames: String = (0..depth).map(frame).collect();
            format!(
                "Traceback (most recent call last):\n{frames}RecursionError: maximum recursion depth exceeded\n"
            )
        };
        assert_eq!((top(&python(20)), top(&python(21))), ("into in b.py".into(), "into in b.py".into()));
        let node = |first: usize| {
            let frame =
                |number: usize| format!("    at {} (/a/b.js:1:{number})\n", ["walk", "into"][number % 2]);
            let frames: String = (first..first + 10).map(frame).collect();
            format!("RangeError: Maximum call stack size exceeded\n{frames}")
        };
        assert_eq!((top(&node(0)), top(&node(1))), ("into in b.js".into(), "into in b.js".into()));
    }

    #[test]
    fn a_text_without_a_trace_has_no_frame() {
        for text in
            ["", "server started\nlistening at port 80\n", "error: bad input (see log)", "at last\n  at noon"]
        {
            assert_eq!(top(text), "none", "{text}");
        }
    }

    #[test]
    fn lines_and_addresses_do_not_matter() {
        let go = |line: u32, address: &str| {
            format!(
                "panic: x\n\ngoroutine 1 [running]:\nmain.f({address})\n\t/a/{line}/b.go:{line} +{address}\n"
            )
        };
        assert_eq!(top(&go(1, "0x1")), top(&go(999, "0xc000012345")));
    }
}
