//! What a tool does, guessed from the verbs in its name.

use std::collections::BTreeSet;

use super::words;

/// What a verb says. A verb may say several things: `download` fetches, and leaves a file behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// Makes something that other tools work on.
    Creates,
    /// Gets the server ready for other calls: opens, connects, selects, signs in.
    Prepares,
    /// Chooses where or on what the others work.
    Chooses,
    /// Shows what there is.
    Lists,
    /// Shows one thing.
    Reads,
    /// Changes what is there.
    Changes,
    /// Takes something away.
    Removes,
    /// Leaves a file behind.
    Writes,
    /// Asks the network for something.
    Fetches,
    /// Runs what it is given.
    Runs,
    /// Waits for something to happen.
    Waits,
    /// Not to be undone where it is done in earnest, wherever the verb stands in a name.
    Destroys,
    /// The same, but as often a noun: only where a name begins with it.
    DestroysInFront,
}

use Action::{
    Changes, Chooses, Creates, Destroys, DestroysInFront, Fetches, Lists, Prepares, Reads, Removes, Runs,
    Waits, Writes,
};

const VERBS: &[(&str, &[Action])] = &[
    ("activate", &[Prepares, Chooses]),
    ("add", &[Creates, Writes]),
    ("append", &[Changes, Writes]),
    ("approve", &[Changes]),
    ("assign", &[Changes]),
    ("auth", &[Prepares]),
    ("authenticate", &[Prepares]),
    ("await", &[Waits]),
    ("backup", &[Writes]),
    ("bash", &[Runs]),
    ("begin", &[Prepares, Creates]),
    ("browse", &[Fetches, Lists]),
    ("build", &[Prepares, Writes]),
    ("buy", &[Destroys]),
    ("cancel", &[DestroysInFront, Removes]),
    ("capture", &[Writes]),
    ("cat", &[Reads]),
    ("change", &[Changes, Chooses]),
    ("charge", &[DestroysInFront]),
    ("choose", &[Prepares, Chooses]),
    ("clear", &[Destroys, Removes]),
    ("clone", &[Creates]),
    ("close", &[Removes]),
    ("cmd", &[Runs]),
    ("command", &[Runs]),
    ("complete", &[Changes]),
    ("configure", &[Prepares, Chooses]),
    ("connect", &[Prepares]),
    ("copy", &[Writes]),
    ("crawl", &[Fetches]),
    ("create", &[Creates, Prepares, Writes]),
    ("delete", &[Destroys, Removes]),
    ("deploy", &[Destroys]),
    ("describe", &[Reads]),
    ("destroy", &[Destroys, Removes]),
    ("disconnect", &[Removes]),
    ("download", &[Fetches, Writes]),
    ("drop", &[Destroys, Removes]),
    ("dump", &[Writes]),
    ("edit", &[DestroysInFront, Changes, Writes]),
    ("email", &[DestroysInFront]),
    ("erase", &[Destroys, Removes]),
    ("eval", &[Destroys, Runs]),
    ("exec", &[Destroys, Runs]),
    ("execute", &[Destroys, Runs]),
    ("export", &[Writes]),
    ("fetch", &[Fetches, Reads]),
    ("find", &[Lists]),
    ("generate", &[Writes]),
    ("get", &[Reads]),
    ("glob", &[Lists]),
    ("http", &[Fetches]),
    ("import", &[Creates, Writes]),
    ("index", &[Prepares]),
    ("init", &[Prepares, Chooses, Creates]),
    ("initialise", &[Prepares, Chooses, Creates]),
    ("initialize", &[Prepares, Chooses, Creates]),
    ("insert", &[Creates]),
    ("kill", &[Destroys, Removes]),
    ("launch", &[Prepares]),
    ("list", &[Lists]),
    ("listen", &[Waits]),
    ("load", &[Prepares, Reads]),
    ("login", &[Prepares]),
    ("ls", &[Lists]),
    ("mail", &[DestroysInFront]),
    ("make", &[Creates, Writes]),
    ("mark", &[Changes]),
    ("merge", &[DestroysInFront, Changes]),
    ("message", &[DestroysInFront]),
    ("move", &[DestroysInFront, Changes, Writes]),
    ("new", &[Creates, Prepares]),
    ("notify", &[DestroysInFront]),
    ("open", &[Prepares, Chooses, Reads]),
    ("order", &[DestroysInFront]),
    ("overwrite", &[Destroys, Changes]),
    ("pay", &[Destroys]),
    ("plan", &[Creates]),
    ("poll", &[Waits]),
    ("post", &[DestroysInFront, Creates]),
    ("publish", &[Destroys]),
    ("purchase", &[Destroys]),
    ("purge", &[Destroys, Removes]),
    ("push", &[Destroys]),
    ("put", &[Changes]),
    ("query", &[Lists]),
    ("read", &[Reads]),
    ("reboot", &[Destroys]),
    ("record", &[Writes]),
    ("refund", &[Destroys]),
    ("register", &[Prepares, Chooses, Creates]),
    ("release", &[DestroysInFront]),
    ("remove", &[Destroys, Removes]),
    ("rename", &[DestroysInFront, Changes, Writes]),
    ("render", &[Writes]),
    ("replace", &[DestroysInFront, Changes]),
    ("request", &[Creates]),
    ("reset", &[Destroys, Removes]),
    ("restart", &[DestroysInFront]),
    ("revoke", &[Destroys, Removes]),
    ("run", &[Destroys]),
    ("save", &[Writes, Creates]),
    ("scrape", &[Fetches]),
    ("screenshot", &[Writes]),
    ("search", &[Lists]),
    ("select", &[Prepares, Chooses]),
    ("send", &[Destroys]),
    ("set", &[Prepares, Chooses, Changes]),
    ("shell", &[Runs]),
    ("show", &[Reads]),
    ("shutdown", &[Destroys, Removes]),
    ("split", &[Creates]),
    ("start", &[Prepares, Creates]),
    ("stop", &[DestroysInFront, Removes]),
    ("store", &[Creates, Writes]),
    ("subscribe", &[Waits]),
    ("switch", &[Prepares, Chooses]),
    ("tail", &[Waits]),
    ("terminal", &[Runs]),
    ("terminate", &[Destroys, Removes]),
    ("transfer", &[DestroysInFront]),
    ("tree", &[Lists]),
    ("truncate", &[Destroys, Removes]),
    ("uninstall", &[Destroys, Removes]),
    ("update", &[DestroysInFront, Changes]),
    ("upload", &[Creates]),
    ("use", &[Prepares, Chooses]),
    ("view", &[Reads]),
    ("wait", &[Waits]),
    ("watch", &[Waits]),
    ("wipe", &[Destroys, Removes]),
    ("write", &[Destroys, Writes, Creates]),
];

/// Whether a word says that something is done in this way.
pub fn is_verb(word: &str, action: Action) -> bool {
    VERBS.iter().any(|(verb, says)| *verb == word && says.contains(&action))
}

/// The word of a name that says that this is done, if there is one.
pub fn does(name: &str, action: Action) -> Option<String> {
    let in_front = action == Action::DestroysInFront;
    words(name).into_iter().take(if in_front { 1 } else { usize::MAX }).find(|word| is_verb(word, action))
}

/// All that the words of a name say.
pub fn actions(name: &str) -> BTreeSet<Action> {
    let says =
        |word: String| VERBS.iter().find(|(verb, _)| *verb == word).map(|(_, says)| says.iter().copied());
    words(name).into_iter().filter_map(says).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_verb_stands_once_and_in_order() {
        assert!(VERBS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn a_name_says_what_is_done_by_whole_words() {
        assert_eq!(does("userDelete", Action::Destroys).as_deref(), Some("delete"));
        assert_eq!(does("dropdown_options", Action::Destroys), None);
        assert_eq!(does("list_email", Action::DestroysInFront), None);
        assert!(actions("create_note").contains(&Action::Creates));
    }
}
