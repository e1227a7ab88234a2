use super::*;

fn write(value: Value, asked: u64, answered: u64) -> Operation {
    Operation { asked, answered: Some(answered), act: Act::Write { value, done: Done::Yes } }
}

fn read(values: &[Value], asked: u64, answered: u64) -> Operation {
    let shown = |value: &Value| Shown { value: *value, times: 1, torn: false };
    Operation { asked, answered: Some(answered), act: Act::Read(values.iter().map(shown).collect()) }
}

#[test]
fn what_some_order_explains_is_no_anomaly() {
    let history = [
        read(&[], 0, 1),
        write(1, 2, 9),
        write(2, 2, 8),
        // While both are under way, either may show or not.
        read(&[2], 3, 4),
        read(&[1, 2], 5, 7),
        read(&[1, 2], 10, 11),
    ];
    assert_eq!(anomalies(&history), []);
}

#[test]
fn an_acknowledged_write_that_a_later_read_does_not_show_is_lost() {
    let history = [write(1, 0, 5), write(2, 0, 5), read(&[2], 6, 7)];
    assert_eq!(anomalies(&history), [Anomaly::Lost { value: 1, write: 0, read: 2 }]);
}

#[test]
fn a_write_without_an_answer_may_show_or_not() {
    let maybe = |answered| Operation { asked: 0, answered, act: Act::Write { value: 1, done: Done::Maybe } };
    assert_eq!(anomalies(&[maybe(None), read(&[], 6, 7)]), []);
    assert_eq!(anomalies(&[maybe(None), read(&[1], 6, 7)]), []);
    assert_eq!(anomalies(&[maybe(None), read(&[], 2, 3), read(&[1], 6, 7)]), []);
}

#[test]
fn what_was_seen_must_be_seen_again() {
    let maybe = Operation { asked: 0, answered: None, act: Act::Write { value: 1, done: Done::Maybe } };
    let history = [maybe, read(&[1], 1, 2), read(&[], 3, 4)];
    assert_eq!(anomalies(&history), [Anomaly::Vanished { value: 1, seen: 1, read: 2 }]);
    let at_once = [write(1, 0, 9), read(&[1], 1, 4), read(&[], 3, 5)];
    assert_eq!(anomalies(&at_once), [], "reads that overlap have no order");
}

#[test]
fn what_the_read_before_showed_has_vanished_where_nobody_wrote_since() {
    let history = [write(1, 0, 1), read(&[1], 2, 3), read(&[], 4, 5)];
    assert_eq!(anomalies(&history), [Anomaly::Vanished { value: 1, seen: 1, read: 2 }]);
    let written_since = [write(1, 0, 1), read(&[1], 2, 3), write(2, 2, 4), read(&[2], 5, 6)];
    assert_eq!(anomalies(&written_since), [Anomaly::Lost { value: 1, write: 0, read: 3 }]);
}

#[test]
fn what_was_refused_or_not_yet_asked_for_must_not_show() {
    let refused = Operation { asked: 0, answered: Some(1), act: Act::Write { value: 1, done: Done::No } };
    assert_eq!(anomalies(&[refused, read(&[1], 2, 3)]), [Anomaly::Phantom { value: 1, write: 0, read: 1 }]);
    let early = [read(&[7], 0, 1), write(7, 2, 3), read(&[7], 4, 5)];
    assert_eq!(anomalies(&early), [Anomaly::Phantom { value: 7, write: 1, read: 0 }]);
}

#[test]
fn one_write_shows_once_and_as_a_whole() {
    let shown = |times, torn| Operation {
        asked: 2,
        answered: Some(3),
        act: Act::Read(vec![Shown { value: 1, times, torn }]),
    };
    assert_eq!(
        anomalies(&[write(1, 0, 1), shown(2, false)]),
        [Anomaly::Doubled { value: 1, write: 0, read: 1 }]
    );
    assert_eq!(anomalies(&[write(1, 0, 1), shown(1, true)]), [Anomaly::Torn { value: 1, write: 0, read: 1 }]);
}

#[test]
fn a_store_that_cannot_be_read_any_more_is_told_first() {
    let broken = Operation { asked: 6, answered: Some(7), act: Act::Unreadable };
    let history = [read(&[], 0, 1), write(1, 2, 3), write(2, 2, 3), broken.clone()];
    assert_eq!(anomalies(&history), [Anomaly::Unreadable { before: 0, read: 3 }]);
    let passing = [read(&[], 0, 1), broken, read(&[], 8, 9)];
    assert_eq!(anomalies(&passing), [], "it is read again");
}
