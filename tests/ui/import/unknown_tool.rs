toolkit::import!(mod a = "manifests/github.json", only = ["get_me", "create_isue"]);
toolkit::import!(mod b = "manifests/github.json", except = ["delete_everything"]);

fn main() {}
