//! The properties of an object, found by name or by prediction.

use std::sync::atomic::{AtomicU8, Ordering};

use super::special::head;

/// The properties of an object, at most 64 so that a set of them fits in one word.
pub(super) struct Properties {
    /// A hash table, at most half full.
    slots: Box<[Option<Property>]>,
    /// The shift that reduces a hash to a slot.
    shift: u32,
    first: Likely,
}

pub(super) struct Property {
    name: Box<str>,
    head: u64,
    /// The bit of the property in a set.
    pub(super) bit: u64,
    pub(super) node: NodeId,
    /// The name as JSON between a comma and a colon, since most keys are written more often than they are looked up.
    json: Box<[u8]>,
    /// The first eight bytes of `json`, and a mask of those that count.
    written: (u64, u64),
    next: Likely,
}

/// The slot of the property that followed this one at its first occurrence. Callers differ in the order of their keys,
/// but each of them keeps it.
struct Likely(AtomicU8);

const UNKNOWN: u8 = u8::MAX;

impl Properties {
    /// Returns `None` if there are too many properties.
    pub(super) fn new(all: Vec<Property>) -> Option<Properties> {
        let n_slots = (2 * all.len()).next_power_of_two().max(2);
        let mut slots: Box<[Option<Property>]> = (0..n_slots).map(|_| None).collect();
        let shift = u64::BITS - n_slots.trailing_zeros();
        for (place, property) in all.into_iter().enumerate() {
            let bit = 1_u64.checked_shl(u32::try_from(place).ok()?)?;
            let mut slot = slot(property.head, shift);
            while slots[slot].is_some() {
                slot = (slot + 1) % n_slots;
            }
            slots[slot] = Some(Property { bit, ..property });
        }
        Some(Properties { slots, shift, first: Likely::unknown() })
    }

    /// Returns the property named `key`. `head` contains the first bytes of `key`.
    #[inline]
    pub(super) fn find(&self, key: &[u8], head: u64) -> Option<&Property> {
        let mut slot = slot(head, self.shift);
        loop {
            let property = self.slots.get(slot)?.as_ref()?;
            if property.is_named(key, head) {
                return Some(property);
            }
            slot = if slot + 1 < self.slots.len() { slot + 1 } else { 0 };
        }
    }

    /// Returns the property that is predicted after this one, or at the start.
    #[inline]
    pub(super) fn likely_after(&self, property: Option<&Property>) -> Option<&Property> {
        let Likely(slot) = property.map_or(&self.first, |property| &property.next);
        self.slots.get(usize::from(slot.load(Ordering::Relaxed)))?.as_ref()
    }

    /// Stores the prediction after a property, or at the start, unless there is one.
    pub(super) fn learn(&self, after: Option<&Property>, property: &Property) {
        let Likely(likely) = after.map_or(&self.first, |after| &after.next);
        if likely.load(Ordering::Relaxed) == UNKNOWN {
            let slot = self.slots.iter().position(|slot| slot.as_ref().is_some_and(|slot| slot.bit == property.bit));
            let slot = slot.and_then(|slot| u8::try_from(slot).ok());
            likely.store(slot.unwrap_or(UNKNOWN), Ordering::Relaxed);
        }
    }
}

#[inline]
fn slot(head: u64, shift: u32) -> usize {
    // An odd number without a pattern. The upper bits of the product depend on every bit of the head.
    (head.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> shift) as usize
}

impl Property {
    /// Returns `None` for the names that `serde_json` reserves.
    pub(super) fn new(name: &str, node: NodeId) -> Option<Property> {
        if is_reserved(name.as_bytes()) {
            return None;
        }
        let json = format!(",{}:", serde_json::to_string(name).ok()?).into_bytes();
        let counts = u64::MAX >> (64 - 8 * json.len().min(8));
        Some(Property {
            name: name.into(),
            head: head(name.as_bytes()),
            bit: 0,
            node,
            written: (head(&json), counts),
            json: json.into(),
            next: Likely::unknown(),
        })
    }

    #[inline]
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    #[inline]
    fn is_named(&self, key: &[u8], head: u64) -> bool {
        let name = self.name.as_bytes();
        // Up to eight bytes, length and head are sufficient, and cheaper than a call to `memcmp`.
        self.head == head && name.len() == key.len() && (key.len() <= 8 || *name == *key)
    }

    /// Appends the name as JSON with a colon, and with a comma unless it is the first.
    #[inline]
    pub(super) fn write(&self, is_first: bool, out: &mut Vec<u8>) {
        if self.json.len() > 8 {
            return out.extend_from_slice(self.json(is_first));
        }
        // Copying a whole word is cheaper than copying a few bytes.
        let comma = usize::from(is_first);
        let end = out.len() + self.json.len() - comma;
        out.extend_from_slice(&(self.written.0 >> (8 * comma)).to_le_bytes());
        out.truncate(end);
    }

    fn json(&self, is_first: bool) -> &[u8] {
        self.json.get(usize::from(is_first)..).unwrap_or_default()
    }

    /// Returns the length of the written name if `text` starts with it.
    #[inline]
    pub(super) fn is_written_at(&self, text: &[u8], is_first: bool) -> Option<usize> {
        let (written, counts) = self.written;
        let comma = usize::from(is_first);
        let differs = (head(text) ^ (written >> (8 * comma))) & (counts >> (8 * comma));
        let is_it = differs == 0 && (self.json.len() <= 8 || text.starts_with(self.json(is_first)));
        is_it.then_some(self.json.len() - comma)
    }
}

impl Likely {
    fn unknown() -> Self {
        Likely(AtomicU8::new(UNKNOWN))
    }
}

/// The index of a node.
pub(super) type NodeId = u32;

/// The node of the schema `true`.
pub(super) const ANY: NodeId = 0;
/// The node of the schema `false`.
pub(super) const NEVER: NodeId = 1;

/// The prefix of the names of structs and keys by which `serde_json` transfers numbers and raw JSON.
const PREFIX: &[u8] = b"$serde_json::private::";

/// Returns true if `serde_json` reserves a name. What it transfers under such a name would not be validated.
#[inline]
pub(super) fn is_reserved(name: &[u8]) -> bool {
    name.starts_with(PREFIX)
}

#[cfg(test)]
mod tests {
    use super::{Properties, Property, head};

    fn properties(names: &[String]) -> Option<Properties> {
        Properties::new(names.iter().map(|name| Property::new(name, 0)).collect::<Option<Vec<_>>>()?)
    }

    #[test]
    fn names_with_the_same_first_bytes_are_told_apart() {
        let names: Vec<String> = (0..64).map(|i| format!("property{i}")).collect();
        let properties = properties(&names).unwrap();
        let find = |name: &str| properties.find(name.as_bytes(), head(name.as_bytes()));
        let mut bits = 0;
        for name in &names {
            let property = find(name).unwrap();
            assert_eq!(property.name(), name);
            bits |= property.bit;
        }
        assert_eq!(bits, u64::MAX);
        for name in ["", "property", "property64", "Property0", "property\0"] {
            assert!(find(name).is_none(), "{name:?}");
        }
    }

    #[test]
    fn a_set_of_properties_fits_in_a_word() {
        let names: Vec<String> = (0..65).map(|i| i.to_string()).collect();
        assert!(properties(&names[..64]).is_some());
        assert!(properties(&names).is_none());
    }

    #[test]
    fn the_first_successor_of_a_property_is_predicted() {
        let names = ["a", "b", "c"].map(str::to_owned);
        let properties = properties(&names).unwrap();
        let [a, b, c] = ["a", "b", "c"].map(|name| properties.find(name.as_bytes(), head(name.as_bytes())).unwrap());
        let likely = |after| properties.likely_after(after).map(Property::name);
        assert_eq!(likely(None), None);
        properties.learn(None, b);
        properties.learn(Some(b), a);
        properties.learn(Some(b), c);
        assert_eq!((likely(None), likely(Some(b)), likely(Some(a))), (Some("b"), Some("a"), None));
    }

    #[test]
    fn a_key_is_recognized_as_it_is_written() {
        for name in ["", "a", "sevenby", "eightbyt", "longer than a word", "quote\"", "\u{e9}"] {
            let property = Property::new(name, 0).unwrap();
            for is_first in [true, false] {
                let mut json = Vec::new();
                property.write(is_first, &mut json);
                let comma = if is_first { "" } else { "," };
                assert_eq!(json, format!("{comma}{}:", serde_json::to_string(name).unwrap()).into_bytes());
                assert_eq!(property.is_written_at(&json, is_first), Some(json.len()));
                let length = json.len();
                json.extend_from_slice(b" 1 ");
                assert_eq!(property.is_written_at(&json, is_first), Some(length));
                json[length - 2] ^= 1;
                assert_eq!(property.is_written_at(&json, is_first), None, "{name}");
            }
        }
    }
}
