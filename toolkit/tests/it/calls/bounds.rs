//! Bounds of a schema apply to the integer that was sent, even if a tree rounds it.

use std::sync::LazyLock;

use num_bigint::BigInt;
use proptest::prelude::*;
use serde_json::json;
use toolkit::{Dispatcher, catalog, tool};

use super::numbers::{with_plan, without_plan};

macro_rules! bounded_integers {
    ($($name:ident $ty:ident $bounds:meta;)*) => {$(
        /// Takes an integer within bounds.
        #[tool(namespace = "bounded")]
        fn $name(#[$bounds] n: $ty, #[serde(default)] other: u8) -> String {
            let _ = other;
            n.to_string()
        }
    )*};
}

const TO_64: f64 = 18_446_744_073_709_551_616.0;
const TO_100: f64 = 1_267_650_600_228_229_401_496_703_205_376.0;

bounded_integers! {
    signed_min i128 schemars(range(min = i64::MIN));
    unsigned_max i128 schemars(range(max = u64::MAX));
    min_64 i128 schemars(range(min = TO_64));
    max_64 u128 schemars(range(max = TO_64));
    above_100 u128 schemars(extend("exclusiveMinimum" = TO_100));
    below_100 i128 schemars(extend("exclusiveMaximum" = TO_100));
    above_minus_100 i128 schemars(extend("exclusiveMinimum" = -TO_100));
    not_100 i128 schemars(extend("not" = { "const": TO_100 }));
}

/// A tool with its bounds as exact numbers.
type Bounded = (&'static str, fn(&BigInt) -> bool);

const BOUNDED: [Bounded; 8] = [
    ("signed_min", |n| *n >= i64::MIN.into()),
    ("unsigned_max", |n| *n <= u64::MAX.into()),
    ("min_64", |n| *n >= BigInt::from(1) << 64),
    ("max_64", |n| *n <= BigInt::from(1) << 64),
    ("above_100", |n| *n > BigInt::from(1) << 100),
    ("below_100", |n| *n < BigInt::from(1) << 100),
    ("above_minus_100", |n| -n < BigInt::from(1) << 100),
    ("not_100", |n| *n != BigInt::from(1) << 100),
];

static WITHIN: LazyLock<Dispatcher> = LazyLock::new(|| {
    let tools = catalog![signed_min, unsigned_max, min_64, max_64, above_100, below_100, above_minus_100, not_100];
    Dispatcher::new(tools.unwrap()).unwrap()
});

fn check_bounds(n: &BigInt, spelled: &str) {
    for (tool, holds) in BOUNDED {
        let is_held =
            if ["max_64", "above_100"].contains(&tool) { u128::try_from(n).is_ok() } else { i128::try_from(n).is_ok() };
        for result in [with_plan(&WITHIN, tool, spelled), without_plan(&WITHIN, tool, spelled)] {
            match result {
                Ok((value, _)) => assert!(holds(n) && value == json!(n.to_string()), "{tool} takes {spelled}: {value}"),
                Err(error) => assert!(!(holds(n) && is_held), "{tool} refuses {spelled}: {error}"),
            }
        }
    }
}

proptest! {
    #![proptest_config(test_support::random(300))]

    #[test]
    fn an_integer_beyond_64_bits_is_compared_exactly_with_a_bound(
        (bits, off, negative) in (
            prop_oneof![Just(63_u32), Just(64), Just(100), 60_u32..128],
            prop_oneof![-3_i64..=3, -5000_i64..=5000, any::<i64>()],
            any::<bool>(),
        ),
        is_respelled: bool,
    ) {
        let n = (BigInt::from(1) << bits) + off;
        let n = if negative { -n } else { n };
        check_bounds(&n, &if is_respelled { format!("{n}.0") } else { n.to_string() });
    }
}

/// Takes a float, which is what it is rounded to.
#[tool(namespace = "bounded")]
fn float_below_100(#[schemars(extend("exclusiveMaximum" = TO_100))] n: f64, #[serde(default)] other: u8) -> f64 {
    n + f64::from(other)
}

#[test]
fn a_float_is_compared_as_it_reaches_the_function() {
    let dispatcher = Dispatcher::new(catalog![float_below_100].unwrap()).unwrap();
    let below: BigInt = (BigInt::from(1) << 100_u32) - 1_u32;
    for n in [below.to_string(), format!("{below}.0")] {
        assert!(with_plan(&dispatcher, "float_below_100", &n).is_err());
        assert!(without_plan(&dispatcher, "float_below_100", &n).is_err());
    }
    assert!(with_plan(&dispatcher, "float_below_100", "1e30").is_ok());
}
