toolkit::import!(mod github = "manifests/collision.json");

fn main() {}
