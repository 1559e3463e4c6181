use toolkit::{prompt, tool};

/// Has an argument of a tool.
#[prompt(read_only, blocking)]
fn read() -> String {
    String::new()
}

/// Has a mistake in an argument.
#[prompt(tilte = "A title")]
fn misspelled() -> String {
    String::new()
}

#[prompt]
fn undescribed() -> String {
    String::new()
}

/// Is both.
#[prompt]
#[tool]
fn both() -> String {
    String::new()
}

/// Is generic.
#[prompt]
fn generic<T>(value: T) -> String {
    String::new()
}

/// Is not a function.
#[prompt]
struct Text(String);

fn main() {}
