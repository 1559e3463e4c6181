fn add(a: i64) -> i64 {
    a
}
::core::compile_error! {
    "unknown `#[tool]` argument `namspace`; did you mean `namespace`?"
}
::core::compile_error! {
    "missing description; add a doc comment to this function (a model reads it to decide whether to call the tool)"
}
