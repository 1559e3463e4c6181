//! Suggestions for misspelled names in `import!`. At run time, those of `toolkit-schema` are used, on which no macro depends.

/// Returns ``; did you mean `x`?`` for the most similar candidate, if one is similar enough.
pub(crate) fn did_you_mean<'a>(typed: &str, candidates: impl Iterator<Item = &'a str>) -> Option<String> {
    let distance = |candidate: &&str| strsim::osa_distance(typed, candidate);
    let near = |candidate: &&str| distance(candidate) <= candidate.len() / 3 + 1;
    candidates.filter(near).min_by_key(distance).map(|name| format!("; did you mean `{name}`?"))
}
