//! Division of numbers as they are written, integers of any size and decimals.

use serde_json::Number;

use crate::number::integer;

/// Returns true if `number` is a multiple of `divisor`. Both are the decimal numbers that were written: 0.3 is a multiple of
/// 0.1, although the floats are not.
pub(super) fn is_multiple(number: &Number, divisor: &Number) -> bool {
    let scaled = |(digits, exponent): (i128, i32), to: i32| {
        digits.checked_mul(10_i128.checked_pow(u32::try_from(exponent - to).ok()?)?)
    };
    let exact = || {
        let (number, divisor) = (decimal(number)?, decimal(divisor)?);
        let exponent = number.1.min(divisor.1);
        scaled(number, exponent)?.checked_rem(scaled(divisor, exponent)?)
    };
    match exact() {
        Some(rest) => rest == 0,
        // Beyond 38 digits.
        None => number.as_f64().zip(divisor.as_f64()).is_some_and(|(number, divisor)| number % divisor == 0.0),
    }
}

/// Returns the shortest digits of a number, with the power of ten to multiply them by.
fn decimal(number: &Number) -> Option<(i128, i32)> {
    if let Some(integer) = integer(number) {
        return Some((integer, 0));
    }
    let text = format!("{:e}", number.as_f64()?);
    let (digits, exponent) = text.split_once('e')?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let n_fraction = i32::try_from(fraction.len()).ok()?;
    Some(([whole, fraction].concat().parse().ok()?, exponent.parse::<i32>().ok()? - n_fraction))
}

#[cfg(test)]
mod tests {
    use serde_json::Number;

    use super::is_multiple;

    fn number(text: &str) -> Number {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_whole_float_is_a_multiple_as_the_integer_is() {
        for (text, divisor, expected) in [
            ("6", "3", true),
            ("6.0", "3", true),
            ("7", "3", false),
            ("6.5", "3", false),
            ("0.3", "0.1", true),
            ("-19.99", "0.01", true),
            ("19.995", "0.01", false),
            ("4", "0.5", true),
            ("1e300", "7", false),
            ("0.1", "1e308", false),
            ("1e-300", "1e-301", true),
        ] {
            assert_eq!(is_multiple(&number(text), &number(divisor)), expected, "{text} {divisor}");
        }
    }
}
