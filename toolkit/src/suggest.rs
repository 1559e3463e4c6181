//! "Did you mean": the nearest of the names there are, where one is near.

/// The candidate nearest to `typed`, if it is near enough to be a typing error of it.
pub(crate) fn suggest<'a>(typed: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // Nobody mistypes a name this long; the distance is quadratic.
    if typed.len() > 128 {
        return None;
    }
    let lower = typed.to_lowercase();
    let n_chars = lower.chars().count();
    candidates
        .filter(|candidate| candidate.len() <= 128)
        // No distance is less than the difference in length, which costs little to know.
        .filter(|candidate| {
            let candidate = candidate.chars().count();
            n_chars.abs_diff(candidate) <= candidate / 3 + 2
        })
        .map(|candidate| {
            let distance = strsim::osa_distance(&lower, &candidate.to_lowercase());
            (distance, candidate)
        })
        .filter(|&(distance, candidate)| distance <= candidate.chars().count() / 3 + 1)
        .filter(|&(distance, candidate)| distance < candidate.chars().count())
        .min_by_key(|&(distance, candidate)| (distance, candidate))
        .map(|(_, candidate)| candidate)
}
