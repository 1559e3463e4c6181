toolkit::import!(mod gh = "manifests/nameless.json");

fn main() {}
