//! The walk of a call that the documentation of `toolkit-mcp-server` states is that of the code.

use std::collections::BTreeSet;
use std::fs;

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{Visit, visit_item_enum, visit_item_struct, visit_item_trait};
use syn::{ImplItemFn, ItemEnum, ItemFn, ItemStruct, ItemTrait, TraitItemFn};

use super::root;

/// The limits of a walk.
const MAX_FILES: usize = 25;
const MAX_WRAPPERS: usize = 5;

/// A step: a function or a type, and its file.
#[derive(Debug, PartialEq)]
struct Step {
    item: String,
    file: String,
}

/// Returns the steps over a transport, in order: those of the lists over it, and of those over both transports.
fn steps(documentation: &str, transport: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut is_listed = false;
    for line in section(documentation).lines() {
        if line.starts_with("Over ") {
            is_listed = line.starts_with("Over both") || line.starts_with(&format!("Over {transport}"));
        }
        let step = line.split_once(". `").filter(|(number, _)| number.parse::<u32>().is_ok());
        if let (true, Some((_, step))) = (is_listed, step) {
            let (item, rest) = step.split_once("` (`").expect("a step has a file");
            let (file, _) = rest.split_once("`)").expect("a step has a file");
            steps.push(Step { item: item.to_owned(), file: file.to_owned() });
        }
    }
    steps
}

/// Returns the types that carry a call.
fn wrappers(documentation: &str) -> Vec<String> {
    let section = section(documentation);
    let sentence = section.split("A call is carried by").nth(1).expect("the types that carry a call");
    let sentence = sentence.split(", in this order").next().unwrap();
    sentence.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Returns the section about the walk, without comment marks.
fn section(documentation: &str) -> String {
    let lines = documentation.lines().map_while(|line| line.strip_prefix("//!"));
    let text: Vec<&str> = lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    let text = text.join("\n");
    let section = text.split("# ").find(|section| section.starts_with("The walk of a call\n"));
    section.expect("a section about the walk").to_owned()
}

/// The names of a file.
#[derive(Default)]
struct Names {
    /// Its functions and types.
    defined: BTreeSet<String>,
    /// All identifiers, also those in macros.
    words: BTreeSet<String>,
}

impl Names {
    fn read(file: &str) -> Self {
        let text = fs::read_to_string(root().join(file)).unwrap_or_else(|e| panic!("{file}: {e}"));
        let mut names = Self::default();
        names.visit_file(&syn::parse_file(&text).unwrap_or_else(|e| panic!("{file}: {e}")));
        names.add_words(text.parse().unwrap());
        names
    }

    fn add_words(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Ident(word) => drop(self.words.insert(word.to_string())),
                TokenTree::Group(group) => self.add_words(group.stream()),
                _ => {}
            }
        }
    }
}

impl<'ast> Visit<'ast> for Names {
    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.defined.insert(item.sig.ident.to_string());
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        self.defined.insert(item.sig.ident.to_string());
    }

    fn visit_trait_item_fn(&mut self, item: &'ast TraitItemFn) {
        self.defined.insert(item.sig.ident.to_string());
    }

    fn visit_item_struct(&mut self, item: &'ast ItemStruct) {
        self.defined.insert(item.ident.to_string());
        visit_item_struct(self, item);
    }

    fn visit_item_enum(&mut self, item: &'ast ItemEnum) {
        self.defined.insert(item.ident.to_string());
        visit_item_enum(self, item);
    }

    fn visit_item_trait(&mut self, item: &'ast ItemTrait) {
        self.defined.insert(item.ident.to_string());
        visit_item_trait(self, item);
    }
}

fn documentation() -> String {
    fs::read_to_string(root().join("crates/mcp-server/src/lib.rs")).unwrap()
}

#[test]
fn each_step_of_a_call_is_in_its_file_and_is_called_by_an_earlier_one() {
    let mut wrong = Vec::new();
    for transport in ["HTTP", "stdio"] {
        let steps = steps(&documentation(), transport);
        assert!(steps.len() > 15, "{transport}: {steps:?}");
        let mut words = BTreeSet::new();
        for (idx, Step { item, file }) in steps.iter().enumerate() {
            let names = Names::read(file);
            if !names.defined.contains(item) {
                wrong.push(format!("{transport}: {file} has no `{item}`"));
            }
            if idx > 0 && !words.contains(item) {
                wrong.push(format!("{transport}: no step before `{item}` of {file} names it"));
            }
            words.extend(names.words);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_call_passes_at_most_25_files_and_5_wrappers() {
    let mut words = BTreeSet::new();
    for transport in ["HTTP", "stdio"] {
        let files: BTreeSet<String> = steps(&documentation(), transport).into_iter().map(|step| step.file).collect();
        println!("{transport}: {} files", files.len());
        assert!(files.len() <= MAX_FILES, "{transport}: {} files", files.len());
        words.extend(files.iter().flat_map(|file| Names::read(file).words));
    }
    let wrappers = wrappers(&documentation());
    assert!((1..=MAX_WRAPPERS).contains(&wrappers.len()), "{wrappers:?}");
    let unknown: Vec<_> = wrappers.iter().filter(|wrapper| !words.contains(*wrapper)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn a_step_that_was_renamed_is_found() {
    let documentation = "//! # The walk of a call\n//!\n//! A call is carried by `A` and `B`, in this order.\n//!\n\
                         //! Over HTTP:\n//!\n//! 1. `steps` (`tests/walk.rs`) reads.\n//! 2. `x` (`y.rs`) ends.\n";
    let step = |item: &str, file: &str| Step { item: item.to_owned(), file: file.to_owned() };
    assert_eq!(steps(documentation, "HTTP"), [step("steps", "tests/walk.rs"), step("x", "y.rs")]);
    assert_eq!(steps(documentation, "stdio"), []);
    assert_eq!(wrappers(documentation), ["A", "B"]);
    let names = Names::read("tests/tests/architecture/walk.rs");
    assert!(names.defined.contains("steps") && !names.defined.contains("missing_step"));
}
