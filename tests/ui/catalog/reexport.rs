
mod math {
    mod inner {
        /// Adds.
        #[toolkit::tool]
        pub fn add(a: i64) -> i64 { a }
    }
    pub use inner::add as plus;
}

fn plain(a: i64) -> i64 { a }

fn catalogue() {
    let _ = toolkit::catalog![math::plus, plain];
}

fn main() {}
