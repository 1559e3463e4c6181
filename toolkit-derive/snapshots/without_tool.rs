/// Tests.
#[other]
fn f(#[other] a: A) {
    fn g(#[arg] a: A) {}
}
::core::compile_error! {
    "unknown `#[tool]` argument `colour`; expected one of `namespace`, `name`, `version`, `title`, `description`, `category`, `tags`, `read_only`, `destructive`, `idempotent`, `open_world`, `aliases`, `deprecated`, `icons`, `meta`, `ui`, `max_result`, `examples`, `requires`, `timeout`, `task`, `blocking`, `show_errors`, `enforce_formats`, `crate`"
}
#[other]
impl A {
    /// Tests.
    #[other]
    fn f(#[other] &self, a: A) {}
    fn g() {}
}
::core::compile_error! {
    "unknown `#[toolset]` argument `colour`; expected one of `namespace`, `version`, `category`, `tags`, `read_only`, `destructive`, `idempotent`, `open_world`, `timeout`, `show_errors`, `enforce_formats`, `crate`"
}
::core::compile_error! {
    "missing description; add a doc comment to this function (a user reads it to select the prompt)"
}
#[other]
struct A;
::core::compile_error! {
    "`#[toolset]` applies to `impl` blocks and modules; put `#[tool]` on a free function"
}
