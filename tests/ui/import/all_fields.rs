toolkit::import!(mod github = "manifests/github.json");

fn main() {
    let _ = github::star_repository::Args { owner: "octocat".to_owned() };
}
