//! The rules for numbers, exact across integers and floats.

use std::cmp::Ordering;

use serde_json::Value;

use crate::number::ExactNumber;

/// The rules of `minimum`, `maximum`, their exclusive forms, `multipleOf`, and the numbers of `enum` or `const`.
pub(super) struct Number {
    /// The range of integers within all bounds, and the same range for 64-bit integers.
    least: i128,
    most: i128,
    unsigned: Bounds<u64>,
    negative: Bounds<i64>,
    /// The bounds for floats.
    bounds: Vec<Bound>,
    /// The open interval in which a float satisfies all bounds, even if it is read back with a small error.
    surely: (f64, f64),
    pub(super) multiple_of: Option<i128>,
    /// The sorted numbers of `enum` or `const`.
    one_of: Option<Box<[i128]>>,
}

/// An inclusive range. Unlike `RangeInclusive`, it has no flag for an exhausted iterator.
struct Bounds<T>(T, T);

struct Bound {
    limit: ExactNumber,
    /// The accepted ordering of a number relative to the limit.
    side: Ordering,
    inclusive: bool,
}

impl Number {
    pub(super) fn unbounded() -> Number {
        Number {
            least: i128::MIN,
            most: i128::MAX,
            unsigned: Bounds(0, u64::MAX),
            negative: Bounds(i64::MIN, -1),
            bounds: Vec::new(),
            surely: (f64::NEG_INFINITY, f64::INFINITY),
            multiple_of: None,
            one_of: None,
        }
    }

    /// Sets the numbers of `enum` or `const`.
    pub(super) fn set_one_of(&mut self, mut all: Box<[i128]>) {
        all.sort_unstable();
        self.one_of = Some(all);
    }

    /// Adds the bound of a keyword.
    pub(super) fn bound(&mut self, keyword: &str, limit: &Value) -> Option<()> {
        let (side, inclusive) = match keyword {
            "minimum" => (Ordering::Greater, true),
            "exclusiveMinimum" => (Ordering::Greater, false),
            "maximum" => (Ordering::Less, true),
            "exclusiveMaximum" => (Ordering::Less, false),
            _ => return None,
        };
        let limit = ExactNumber::from_value(limit)?;
        let near = match limit {
            ExactNumber::Integer(limit) => limit as f64,
            ExactNumber::Float(limit) => limit,
        };
        // Far more than the error of an inexact parser, and far less than matters away from a limit.
        let slack = (near.abs() * 1e-9).max(f64::MIN_POSITIVE);
        if side == Ordering::Greater {
            self.surely.0 = self.surely.0.max(near + slack);
            let least = match limit {
                ExactNumber::Integer(limit) => limit.saturating_add((!inclusive).into()),
                ExactNumber::Float(limit) => limit.ceil() as i128,
            };
            self.least = self.least.max(least);
        } else {
            self.surely.1 = self.surely.1.min(near - slack);
            let most = match limit {
                ExactNumber::Integer(limit) => limit.saturating_sub((!inclusive).into()),
                ExactNumber::Float(limit) => limit.floor() as i128,
            };
            self.most = self.most.min(most);
        }
        self.bounds.push(Bound { limit, side, inclusive });
        let unsigned = (u64::try_from(self.least.max(0)), u64::try_from(self.most.min(u64::MAX.into())));
        self.unsigned = if let (Ok(least), Ok(most)) = unsigned { Bounds(least, most) } else { Bounds(1, 0) };
        let negative = (i64::try_from(self.least.max(i64::MIN.into())), i64::try_from(self.most.min(-1)));
        self.negative = if let (Ok(least), Ok(most)) = negative { Bounds(least, most) } else { Bounds(0, -1) };
        Some(())
    }

    #[inline]
    pub(super) fn admits_unsigned(&self, value: u64) -> bool {
        self.unsigned.hold(value) && (self.compares_only() || self.admits_exactly(value.into()))
    }

    /// Returns true if a negative integer is allowed.
    #[inline]
    pub(super) fn admits_negative(&self, value: i64) -> bool {
        self.negative.hold(value) && (self.compares_only() || self.admits_exactly(value.into()))
    }

    #[inline(never)]
    fn admits_exactly(&self, value: i128) -> bool {
        self.multiple_of.is_none_or(|of| value % of == 0)
            && self.one_of.as_ref().is_none_or(|all| all.binary_search(&value).is_ok())
    }

    /// Returns true if a float is certainly allowed. Division and equality are left to the slow path.
    #[inline]
    pub(super) fn admits_float(&self, value: f64) -> bool {
        self.admits_around(value) || (self.compares_only() && self.bounds.iter().all(|bound| bound.admits(value)))
    }

    /// Returns true if a float is allowed even if it is not read back exactly as written.
    #[inline]
    pub(super) fn admits_around(&self, value: f64) -> bool {
        self.surely.0 < value && value < self.surely.1 && self.compares_only()
    }

    #[inline]
    fn compares_only(&self) -> bool {
        self.multiple_of.is_none() && self.one_of.is_none()
    }
}

impl<T: PartialOrd> Bounds<T> {
    #[inline]
    fn hold(&self, value: T) -> bool {
        self.0 <= value && value <= self.1
    }
}

impl Bound {
    fn admits(&self, value: f64) -> bool {
        let found = ExactNumber::from_float(value).compare(self.limit);
        found == self.side || (self.inclusive && found == Ordering::Equal)
    }
}
