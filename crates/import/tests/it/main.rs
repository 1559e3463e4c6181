//! Tests of the public interface of `toolkit-import`, which is `toolkit::import!`: generated types and calls, and the check
//! of a server against an import.

mod calls;
mod drift;
mod hard;
mod shapes;

toolkit::import!(mod github = "../../tests/manifests/github.json");
toolkit::import!(mod odd = "../../tests/manifests/odd.json");
toolkit::import!(mod math = "../../tests/manifests/lock.json");
toolkit::import!(mod gh = "../../tests/manifests/versions.json");
