//! Values of any type of the zoo, from bytes that proptest chooses and shrinks.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Value, json};

/// Bytes to make choices by; zeros once they are used up, so that recursive values end.
pub(crate) struct Source<'a>(pub(crate) std::slice::Iter<'a, u8>);

impl Source<'_> {
    pub(crate) fn byte(&mut self) -> u8 {
        self.0.next().copied().unwrap_or(0)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        usize::from(self.byte()) % n
    }
}

pub(crate) trait Sample: Sized {
    fn sample(s: &mut Source) -> Self;
}

macro_rules! integers {
    ($($ty:ident)*) => {$(
        impl Sample for $ty {
            fn sample(s: &mut Source) -> Self {
                match s.below(5) {
                    0 => 0,
                    1 => $ty::MIN,
                    2 => $ty::MAX,
                    _ => s.byte() as $ty,
                }
            }
        }
    )*};
}
integers!(i8 u8 i16 u16 i32 u32 i64 u64 usize);

macro_rules! choices {
    ($($ty:ty: $($value:expr),+;)*) => {$(
        impl Sample for $ty {
            fn sample(s: &mut Source) -> Self {
                let mut all = vec![$($value),+];
                let chosen = s.below(all.len());
                all.swap_remove(chosen)
            }
        }
    )*};
}
choices! {
    bool: false, true;
    f64: 0.0, -1.5, 1e300, 0.1;
    f32: 0.0, -1.5, 0.1;
    char: 'a', 'é';
    (): ();
    Value: Value::Null, json!(1), json!("s"), json!([{}]), json!({ "a": { "b": 1 } });
    String: String::new(), "a".to_owned(), "two words".to_owned(), "é\n".to_owned();
}

impl<T: Sample> Sample for Option<T> {
    fn sample(s: &mut Source) -> Self {
        (s.below(2) == 1).then(|| T::sample(s))
    }
}

impl<T: Sample> Sample for Box<T> {
    fn sample(s: &mut Source) -> Self {
        Box::new(T::sample(s))
    }
}

impl<T: Sample> Sample for Vec<T> {
    fn sample(s: &mut Source) -> Self {
        (0..s.below(3)).map(|_| T::sample(s)).collect()
    }
}

impl<T: Sample> Sample for [T; 2] {
    fn sample(s: &mut Source) -> Self {
        [T::sample(s), T::sample(s)]
    }
}

impl<A: Sample, B: Sample> Sample for (A, B) {
    fn sample(s: &mut Source) -> Self {
        (A::sample(s), B::sample(s))
    }
}

impl<T: Sample> Sample for BTreeMap<String, T> {
    fn sample(s: &mut Source) -> Self {
        (0..s.below(3)).map(|i| (format!("key{i}"), T::sample(s))).collect()
    }
}

impl<T: Sample> Sample for BTreeMap<u8, T> {
    fn sample(s: &mut Source) -> Self {
        (0..s.below(3)).map(|_| (s.byte(), T::sample(s))).collect()
    }
}

impl<T: Sample> Sample for HashMap<String, T> {
    fn sample(s: &mut Source) -> Self {
        BTreeMap::sample(s).into_iter().collect()
    }
}

impl Sample for serde_json::Map<String, Value> {
    fn sample(s: &mut Source) -> Self {
        BTreeMap::sample(s).into_iter().collect()
    }
}
