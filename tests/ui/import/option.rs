toolkit::import!(mod a = "manifests/github.json", sever = "github");
toolkit::import!(mod b = "manifests/github.json", colour = "red");
toolkit::import!(mod c = "manifests/github.json", server = "a", server = "b");
toolkit::import!(mod d = "manifests/github.json", crate = toolkit);
toolkit::import!(mod e = "manifests/github.json", server = "git hub");
toolkit::import!(github = "manifests/github.json");

fn main() {}
