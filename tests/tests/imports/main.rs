//! `import!`: generated types and calls, and the check of a server against an import.

mod calls;
mod drift;
mod hard;
mod programs;
mod shapes;

toolkit::import!(mod fixture = "manifests/fixture.json");
toolkit::import!(mod github = "manifests/github.json");
toolkit::import!(mod odd = "manifests/odd.json");
toolkit::import!(mod math = "manifests/lock.json");
toolkit::import!(mod gh = "manifests/versions.json");
