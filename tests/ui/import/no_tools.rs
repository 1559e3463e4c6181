toolkit::import!(mod empty = "manifests/empty.json");
toolkit::import!(mod response = "manifests/response.json");
toolkit::import!(mod arithmetic = "manifests/lock.json");

fn main() {}
