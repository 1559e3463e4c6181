toolkit::import!(mod github = "manifests/unsound.json");
toolkit::import!(mod fine = "manifests/unsound.json", except = ["bad"]);

fn main() {}
