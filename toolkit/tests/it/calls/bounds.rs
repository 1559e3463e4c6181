//! Bounds of a schema apply to the 64-bit integer that was sent, even if a tree rounds it. Wider integers are compared as
//! floats.

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

const TO_100: f64 = 1_267_650_600_228_229_401_496_703_205_376.0;
const BELOW_2_TO_60: u64 = (1 << 60) - 1;

bounded_integers! {
    max_u64 u64 schemars(range(max = BELOW_2_TO_60));
    min_u64 u64 schemars(range(min = BELOW_2_TO_60));
    above_i64 i64 schemars(extend("exclusiveMinimum" = BELOW_2_TO_60));
    below_i128 i128 schemars(extend("exclusiveMaximum" = BELOW_2_TO_60));
    not_u128 u128 schemars(extend("not" = { "const": BELOW_2_TO_60 }));
}

/// A tool with its bounds as exact numbers.
type Bounded = (&'static str, fn(&BigInt) -> bool);

const BOUNDED: [Bounded; 5] = [
    ("max_u64", |n| *n <= BELOW_2_TO_60.into()),
    ("min_u64", |n| *n >= BELOW_2_TO_60.into()),
    ("above_i64", |n| *n > BELOW_2_TO_60.into()),
    ("below_i128", |n| *n < BELOW_2_TO_60.into()),
    ("not_u128", |n| *n != BELOW_2_TO_60.into()),
];

static WITHIN: LazyLock<Dispatcher> = LazyLock::new(|| {
    let tools = catalog![max_u64, min_u64, above_i64, below_i128, not_u128];
    Dispatcher::new(tools.unwrap()).unwrap()
});

proptest! {
    #![proptest_config(test_support::random(300))]

    #[test]
    fn a_64_bit_integer_is_compared_exactly_with_a_bound(
        (bits, off, negative) in (
            prop_oneof![Just(60_u32), 53_u32..64],
            prop_oneof![-3_i64..=3, -5000_i64..=5000],
            any::<bool>(),
        ),
        is_respelled: bool,
    ) {
        let n = (BigInt::from(1) << bits) + off;
        let n = if negative { -n } else { n };
        let spelled = if is_respelled { format!("{n}.0") } else { n.to_string() };
        for (tool, holds) in BOUNDED {
            let is_held = match tool {
                "above_i64" => i64::try_from(&n).is_ok(),
                "below_i128" => true,
                _ => u64::try_from(&n).is_ok(),
            };
            for result in [with_plan(&WITHIN, tool, &spelled), without_plan(&WITHIN, tool, &spelled)] {
                match result {
                    Ok((value, _)) => {
                        assert!(holds(&n) && value == json!(n.to_string()), "{tool} takes {spelled}: {value}");
                    }
                    // A float that rounds to the other side of a bound is refused.
                    Err(error) => assert!(is_respelled || !(holds(&n) && is_held), "{tool} refuses {spelled}: {error}"),
                }
            }
        }
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
