//! Sets of JSON types.

use serde_json::{Value, json};
use toolkit_schema::types::Types;

#[test]
fn a_type_is_that_of_a_value_and_that_of_its_name() {
    for (value, types, name) in [
        (json!(null), Types::NULL, "null"),
        (json!(true), Types::BOOLEAN, "boolean"),
        (json!(1), Types::INTEGER, "integer"),
        (json!(1.0), Types::INTEGER, "integer"),
        (json!(1e300), Types::INTEGER, "integer"),
        (json!("a"), Types::STRING, "string"),
        (json!([]), Types::ARRAY, "array"),
        (json!({}), Types::OBJECT, "object"),
    ] {
        assert_eq!((Types::from_value(&value), Types::named(&json!(name))), (types, types), "{value}");
        assert_eq!(types.names(), [name]);
        assert!(types.is_within(Types::ALL) && types.meets(Types::ALL) && !types.is_empty());
        assert_eq!(types.each().collect::<Vec<_>>(), [types]);
    }
    assert_eq!(Types::from_value(&json!(1.5)), Types::FRACTION);
    assert_eq!(Types::named(&json!("number")), Types::INTEGER.or(Types::FRACTION));
    assert_eq!(Types::named(&json!(["string", "null", "other", 1])), Types::STRING.or(Types::NULL));
    assert_eq!((Types::named(&json!("other")), Types::named(&Value::Null)), (Types::NONE, Types::ALL));
}

#[test]
fn sets_are_compared_and_combined_type_by_type() {
    let (numbers, integer_or_null) = (Types::NUMBER, Types::INTEGER.or(Types::NULL));
    assert_eq!(numbers.and(integer_or_null), Types::INTEGER);
    assert_eq!(numbers.without(integer_or_null), Types::FRACTION);
    assert_eq!(numbers.or(integer_or_null), Types::NUMBER.or(Types::NULL));
    assert!(Types::INTEGER.is_within(numbers) && !numbers.is_within(integer_or_null));
    assert!(numbers.meets(integer_or_null) && !Types::STRING.meets(numbers));
    assert!(Types::NONE.is_empty() && Types::NONE.is_within(Types::NONE) && !Types::NONE.meets(Types::ALL));
    assert_eq!((Types::ALL.each().count(), Types::NONE.each().count()), (7, 0));
    assert_eq!(Types::ALL.to_string(), "object or array or string or number or boolean or null");
    assert_eq!((Types::NUMBER.to_string(), integer_or_null.to_string()), ("number".into(), "integer or null".into()));
}
