use super::Variables;

#[test]
fn variables_are_replaced_by_their_values_or_defaults() {
    let look_up = |name: &str| match name {
        "A" => Some("a".to_owned()),
        "EMPTY" => Some(String::new()),
        _ => None,
    };
    for (text, expected) in [
        ("", Ok("")),
        ("plain $A {A}", Ok("plain $A {A}")),
        ("-${A}-${env:A}-", Ok("-a-a-")),
        ("${EMPTY}${A}", Ok("a")),
        ("${EMPTY:-x}${A:-x}${NONE:-x}${NONE:-}", Ok("xax")),
        ("${NONE:-${A}}", Ok("${A}")),
        ("${A", Ok("${A")),
        ("${A} ${", Ok("a ${")),
        ("${NONE}", Err("`NONE`, which is not set; write `${NONE:-…}` for a default")),
        ("${workspace:a}", Err("uses `${workspace:a}`, which only editors support")),
    ] {
        match (Variables::new(&look_up).expand(text), expected) {
            (Ok(expanded), Ok(expected)) => assert_eq!(expanded, expected, "{text}"),
            (Err(error), Err(expected)) => assert!(error.ends_with(expected), "{text}: {error}"),
            (expanded, _) => panic!("{text}: {expanded:?}"),
        }
    }
}
