use toolkit::tool;

/// Never ends.
#[tool]
fn forecast() -> ! {
    loop {}
}

fn main() {}
