//! Our own evaluator against the official suite.

mod support;

use wallfacer_schema::{CompileError, Judgement, Schema};

/// Left out, each with its reason.
const NOT_OURS: [(&str, &str); 8] = [
    ("format.json: ", "formats are always asserted, also where a draft makes them mere annotations"),
    ("vocabulary.json", "a metaschema of one's own lies outside the document"),
    ("idn-hostname", "the tables of IDNA are not here; host names are made from a safe subset"),
    ("A-label (punycode)", "the same"),
    ("idn-email.json", "the same, for the host part"),
    ("validation of host names", "whether two hyphens may follow each other changed between drafts"),
    ("optional/zeroTerminatedFloats.json", "1.0 is an integer in every draft but the fourth"),
    ("optional/float-overflow.json", "numbers beyond a double cannot be held"),
];

#[test]
fn the_evaluator_agrees_with_the_official_suite() {
    let mut wrong = Vec::new();
    for draft in ["draft4", "draft6", "draft7", "draft2019-09", "draft2020-12"] {
        let Some(cases) = support::suite(draft) else { return };
        for case in cases {
            if NOT_OURS.iter().any(|(part, _)| case.name.starts_with(part) || case.name.contains(part)) {
                continue;
            }
            let schema = match Schema::compile(&case.schema) {
                Ok(schema) => schema,
                Err(CompileError::Remote { .. }) => continue,
                Err(error) => {
                    wrong.push(format!("{draft}/{}: {error}", case.name));
                    continue;
                }
            };
            for (value, valid, description) in &case.tests {
                let expected = if *valid { Judgement::Valid } else { Judgement::Invalid };
                let judged = schema.judge(value);
                if judged != expected {
                    wrong.push(format!("{draft}/{}: {description}: {judged:?}", case.name));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} disagreements:\n{}", wrong.len(), wrong.join("\n"));
}
