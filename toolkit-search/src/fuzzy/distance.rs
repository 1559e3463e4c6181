//! The distance of two words.

/// The length in bytes up to which the fast path applies.
const MAX_LEN: usize = 64;

/// Returns the number of wrong characters (optimal string alignment) of two words if it is at most `most`, which is at
/// most 2.
pub(super) fn distance_up_to(most: usize, a: &str, b: &str) -> Option<usize> {
    let distance = match a.is_ascii() && b.is_ascii() && a.len() <= MAX_LEN && b.len() <= MAX_LEN {
        true => distance_in_band(most, a.as_bytes(), b.as_bytes()),
        false => strsim::osa_distance(a, b),
    };
    (distance <= most).then_some(distance)
}

/// Computes only the cells of the matrix that can be at most `most`; a larger distance is returned as any number above
/// it.
fn distance_in_band(most: usize, a: &[u8], b: &[u8]) -> usize {
    if a.len().abs_diff(b.len()) > most {
        return most + 1;
    }
    // Outside of the band, distances are larger than `most`.
    let outside = most as u8 + 1;
    let mut rows = [[outside; MAX_LEN + 2]; 3];
    for (cell, distance) in rows[1].iter_mut().zip(0..outside) {
        *cell = distance;
    }
    for i in 1..=a.len() {
        let [two_above, above, mut row] = rows;
        let (start, end) = (i.saturating_sub(most).max(1), b.len().min(i + most));
        row[start - 1] = if start == 1 { outside.min(i as u8) } else { outside };
        for j in start..=end {
            let is_same = a[i - 1] == b[j - 1];
            let mut cell = (above[j - 1] + u8::from(!is_same)).min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                cell = cell.min(two_above[j - 2] + 1);
            }
            row[j] = cell;
        }
        row[end + 1] = outside;
        rows = [above, row, two_above];
    }
    usize::from(rows[1][b.len()])
}

#[cfg(test)]
mod tests {
    use super::distance_up_to;

    #[test]
    fn the_distance_is_that_of_the_whole_matrix() {
        let words: Vec<String> = (0..729_u32)
            .flat_map(|number| {
                let letters: String =
                    (0..6).map(|nth| ['a', 'b', 'c'][(number / 3_u32.pow(nth) % 3) as usize]).collect();
                [letters[..4 + number as usize % 3].to_owned(), letters.clone() + "bcacab"]
            })
            .step_by(3)
            .collect();
        for a in &words {
            for b in &words {
                let whole = strsim::osa_distance(a, b);
                for most in 0..=2 {
                    assert_eq!(distance_up_to(most, a, b), (whole <= most).then_some(whole), "{a} and {b}");
                }
            }
        }
        assert_eq!(distance_up_to(1, "größe", "große"), Some(1));
    }
}
