toolkit::import!(mod github = "manifests/broken.json");

fn main() {}
