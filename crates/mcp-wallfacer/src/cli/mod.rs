//! Parses the command line and runs the command that it names.

mod afterwards;
mod against;
mod all;
mod behave;
mod check;
mod checking;
mod ci;
mod completions;
mod conclude;
mod corpus;
mod corpus_place;
mod coverage;
mod diff;
mod differential;
mod doctor;
mod drift;
mod dry_run;
mod effort;
mod explain;
mod feedback;
mod fuzz;
mod key;
mod lock;
mod man;
mod mcp;
mod merge;
mod output;
mod pack;
mod property;
mod recorder;
mod redaction;
mod replay;
mod report;
mod rerun;
mod rule_files;
mod runs;
mod selection;
mod settle;
mod shard;
mod store;
mod suggest;
mod target;
mod torture;
mod units;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Parser, Subcommand};

use crate::exit::{Exit, Failure};
use crate::interruption::{Watch, watch_over};
use crate::{demo, init, terminal};
use target::TargetArgs;

/// Where a newcomer begins, for --help.
const EXAMPLES: &str = "\
Start here:
  wallfacer check --demo                    # see it find the bugs of the server that is built in
  wallfacer check -- npx -y some-mcp-server # test your own: behind `--` stands what starts it
  wallfacer explain crash                   # what a kind of finding means, and what to change
  wallfacer replay ID                       # see one finding again, or see that it is fixed
  wallfacer init --ci                       # a configuration and a workflow for this project

`wallfacer COMMAND --help` has examples of each command.";

/// Tells the truth about an MCP server by running it
#[derive(Debug, Parser)]
#[command(name = "wallfacer", version, arg_required_else_help = true, max_term_width = 100)]
#[command(after_help = EXAMPLES)]
pub struct Cli {
    /// The configuration [default: wallfacer.toml here or above, up to the repository's root]
    #[arg(long, global = true, value_name = "FILE", env = "WALLFACER_CONFIG")]
    config: Option<PathBuf>,
    /// Show the verdict and nothing else
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Show everything
    #[arg(short, long, global = true)]
    verbose: bool,
    /// When to use colours; `auto` asks the terminal and NO_COLOR
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value = "auto")]
    color: terminal::Color,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(Box<check::Args>),
    Ci(Box<ci::Args>),
    Behave(Box<behave::Args>),
    Lock(Box<lock::Args>),
    Doctor(Box<doctor::Args>),
    Fuzz(Box<fuzz::Args>),
    Differential(Box<differential::Args>),
    Property(Box<property::Args>),
    Torture(Box<torture::Args>),
    Suggest(Box<suggest::Args>),
    Coverage(Box<coverage::Args>),
    Replay(Box<replay::Args>),
    Corpus(corpus::Args),
    Diff(diff::Args),
    Report(report::Args),
    Merge(merge::Args),
    Explain(explain::Args),
    Mcp(mcp::Args),
    Init(init::Args),
    Pack(pack::Args),
    Completions(completions::Args),
    Man(man::Args),
    /// The flawed server of --demo, over standard input and output
    #[command(hide = true)]
    DemoServer {
        /// Print the rules that go with it instead
        #[arg(long)]
        rules: bool,
    },
}

/// Runs what the arguments ask for.
pub fn run(arguments: impl Iterator<Item = OsString>) -> Result<Exit, Failure> {
    let mut arguments: Vec<OsString> = arguments.collect();
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) => match with_dashes(&arguments, &error) {
            Some((whole, cli)) => {
                arguments = whole;
                cli
            }
            None => return Ok(show_usage(with_tip(error))),
        },
    };
    terminal::choose(cli.color, cli.quiet, cli.verbose);
    match carry_out(cli) {
        Err(failure) if failure.exit == Exit::NotInSandbox && terminal::is_attended() => {
            ask_to_leave_sandbox(&arguments, failure)
        }
        done => done,
    }
}

/// The server does not start in the sandbox. Whether it is run without is its user's to say, who is told first why.
fn ask_to_leave_sandbox(arguments: &[OsString], failure: Failure) -> Result<Exit, Failure> {
    let Ok(mut cli) = Cli::try_parse_from(arguments) else { return Err(failure) };
    let Some(target) = cli.command.target() else { return Err(failure) };
    target.leave_sandbox();
    let exit = terminal::show_failure(&failure);
    let question = "run it without the sandbox, with all your rights?";
    match watch_over(move |_| Ok(if terminal::ask(question) { Exit::Clean } else { exit }))? {
        Exit::Clean => carry_out(cli),
        refused => Ok(refused),
    }
}

impl Command {
    /// Where the server is named, for commands that are about one alone.
    fn target(&mut self) -> Option<&mut TargetArgs> {
        match self {
            Command::Check(args) => Some(&mut args.target),
            Command::Ci(args) => Some(&mut args.target),
            Command::Behave(args) => Some(&mut args.target),
            Command::Lock(args) => Some(&mut args.target),
            Command::Doctor(args) => Some(&mut args.target),
            Command::Fuzz(args) => Some(&mut args.target),
            Command::Property(args) => Some(&mut args.target),
            Command::Torture(args) => Some(&mut args.target),
            Command::Suggest(args) => Some(&mut args.target),
            Command::Coverage(args) => Some(&mut args.target),
            Command::Replay(args) => Some(&mut args.target),
            _ => None,
        }
    }
}

fn carry_out(cli: Cli) -> Result<Exit, Failure> {
    match cli.command {
        // This one is ended by whoever started it.
        Command::DemoServer { rules: false } => {
            demo::die_of_panics();
            let served = demo::serve(std::io::stdin().lock(), std::io::stdout().lock());
            served.map(|()| Exit::Clean).map_err(|error| Failure::usage(&error))
        }
        command => watch_over(move |watch| perform(command, cli.config.as_deref(), watch)),
    }
}

fn perform(command: Command, config: Option<&Path>, watch: &Watch) -> Result<Exit, Failure> {
    match command {
        Command::Check(args) => check::run(&args, config, watch),
        Command::Ci(args) => ci::run(&args, config, watch),
        Command::Behave(args) => behave::run(&args, config, watch),
        Command::Lock(args) => lock::run(&args, config, watch),
        Command::Doctor(args) => doctor::run(&args, config, watch),
        Command::Fuzz(args) => fuzz::run(&args, config, watch),
        Command::Differential(args) => differential::run(&args, config, watch),
        Command::Property(args) => property::run(&args, config, watch),
        Command::Torture(args) => torture::run(&args, config, watch),
        Command::Suggest(args) => suggest::run(&args, config, watch),
        Command::Coverage(args) => coverage::run(&args, config, watch),
        Command::Replay(args) => replay::run(&args, config, watch),
        Command::Corpus(args) => corpus::run(&args, config, watch),
        Command::Diff(args) => diff::run(&args, config),
        Command::Report(args) => report::run(&args, config),
        Command::Merge(args) => merge::run(&args),
        Command::Explain(args) => explain::run(&args, config),
        Command::Mcp(args) => mcp::run(&args, config),
        Command::Init(args) => {
            let here = target::working_directory()?;
            output::print(&init::run(&args, &here)?)
        }
        Command::Pack(args) => pack::run(&args, config),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
        Command::DemoServer { .. } => output::print(demo::INVARIANTS),
    }
}

/// Help and version are answers; anything else that clap has to say is a wrong use.
fn show_usage(error: clap::Error) -> Exit {
    let _nobody_reads = error.print();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Exit::Clean,
        _ => Exit::Usage,
    }
}

/// `behave COMMAND` is understood without the `--`, as its forerunner did.
fn with_dashes(arguments: &[OsString], error: &clap::Error) -> Option<(Vec<OsString>, Cli)> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else { return None };
    let behave = arguments.iter().position(|argument| argument == "behave")?;
    let places = (behave + 1..arguments.len()).filter(|place| arguments[*place] == word.as_str());
    places.into_iter().find_map(|place| {
        let (flags, command) = arguments.split_at(place);
        let whole = [flags, &[OsString::from("--")], command].concat();
        Cli::try_parse_from(&whole).ok().map(|cli| (whole, cli))
    })
}

/// Who forgets the `--` in front of a server's command is told of it.
fn with_tip(mut error: clap::Error) -> clap::Error {
    let takes_command = error.to_string().contains("[-- <COMMAND>");
    let word = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(word)) if takes_command && !word.starts_with('-') => word,
        _ => return error,
    };
    let tip = format!("the command of a server goes behind `--`: -- {word}");
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    error
}

/// One thread is enough: the server is the slow part, and one thread costs least beside it.
pub fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| Failure {
        exit: Exit::OurFault,
        message: format!("cannot set up what wallfacer waits with: {error}"),
    })
}
