toolkit::import!(mod github = "manifests/gihtub.json");

fn main() {}
