use toolkit::ShowError;

#[derive(Debug)]
struct Full;

impl std::fmt::Display for Full {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("full")
    }
}

impl std::error::Error for Full {}

impl ShowError for Full {}

#[derive(Debug, ShowError)]
struct Silent;

#[derive(Debug, ShowError)]
#[show_error(krate = ::toolkit)]
struct Misspelled;

#[derive(Debug, ShowError)]
struct Generic<T>(T);

fn main() {}
