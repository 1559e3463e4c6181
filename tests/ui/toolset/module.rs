#[toolkit::toolset(namespace = "files")]
mod nothing {
    pub fn read() {}
}

#[toolkit::toolset(namespcae = "files")]
mod misspelled {
    /// Reads a file.
    #[toolkit::tool(versoin = "1.0.0")]
    pub fn read() {}
}

#[toolkit::toolset(name = "files")]
mod one_name {
    /// Reads a file.
    #[toolkit::tool]
    pub fn read() {}
}

#[toolkit::tool]
mod tools {}

fn main() {}
