//! Checks that `before.txt` has one row for each test of this suite: how it went on the build before the suite was written.

use std::collections::BTreeSet;
use std::process::Command;

const TABLE: &str = include_str!("before.txt");

#[test]
fn every_row_says_what_it_did_on_the_build_before() {
    let mut told = BTreeSet::new();
    for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
        let (row, why) = line.split_once('#').unwrap_or((line, ""));
        let [seen, name] = row.split_whitespace().collect::<Vec<_>>()[..] else { panic!("{line}") };
        assert!(["failed", "held", "none"].contains(&seen), "{line}");
        assert!(seen != "none" || !why.is_empty(), "what says nothing has a reason: {line}");
        assert!(told.insert(name.to_owned()), "{name} is there twice");
    }
    let suite = std::env::current_exe().unwrap();
    let listed = Command::new(suite).args(["--list", "--format", "terse"]).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let rows = listed.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned);
    assert_eq!(told, rows.filter(|row| !row.starts_with("before::")).collect());
}
