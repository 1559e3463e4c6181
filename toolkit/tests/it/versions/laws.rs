//! Laws that hold for every version.

use std::cmp::Ordering;

use proptest::prelude::*;
use toolkit::version::{Version, is_compatible, parse, parse_req};

/// Versions from few values, so that ties and near misses are common, with all kinds of identifiers.
fn versions() -> impl Strategy<Value = Version> {
    let identifier = "0|[1-9]|10|[1-9][0-9]{18}|[aA-]|a1|0a|-1|rc";
    let pre = prop_oneof![Just(Vec::new()), prop::collection::vec(identifier, 1..4)];
    let build = prop_oneof![3 => Just(String::new()), 1 => "\\+(0|01|a)(\\.b-)?"];
    let number = || prop_oneof![8 => 0..3_u64, 1 => any::<u64>()];
    (number(), number(), number(), pre, build).prop_map(|(major, minor, patch, pre, build)| {
        let sign = if pre.is_empty() { "" } else { "-" };
        parse(&format!("{major}.{minor}.{patch}{sign}{}{build}", pre.join("."))).unwrap()
    })
}

/// The precedence of SemVer 2.0.0, section 11.
fn precedence(a: &Version, b: &Version) -> Ordering {
    let numbers = |v: &Version| [v.major, v.minor, v.patch];
    numbers(a).cmp(&numbers(b)).then_with(|| match (a.pre.is_empty(), b.pre.is_empty()) {
        // A release comes after its pre-releases.
        (true, _) | (_, true) => a.pre.is_empty().cmp(&b.pre.is_empty()),
        // A list comes after its prefixes.
        (false, false) => a.pre.split('.').map(Identifier::of).cmp(b.pre.split('.').map(Identifier::of)),
    })
}

/// Numbers come before words.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Identifier<'a> {
    Number(u128),
    Word(&'a [u8]),
}

impl<'a> Identifier<'a> {
    fn of(text: &'a str) -> Self {
        text.parse().map_or(Self::Word(text.as_bytes()), Self::Number)
    }
}

proptest! {
    #[test]
    fn a_version_that_is_printed_reads_as_itself(version in versions()) {
        prop_assert_eq!(&parse(&version.to_string()).unwrap(), &version);
        prop_assert_eq!(&parse(&format!("v{version}")).unwrap(), &version);
    }

    #[test]
    fn any_text_is_a_version_or_an_error(text in "\\PC{0,20}|v?[0-9]{1,2}(\\.[0-9]{1,2}){2}[-+.a0-9]{0,8}") {
        match parse(&text) {
            Ok(version) => prop_assert_eq!(version.to_string(), text.strip_prefix('v').unwrap_or(&text)),
            Err(error) => prop_assert!(error.to_string().contains(" is not a version: ")),
        }
    }

    #[test]
    fn a_requirement_means_the_same_with_and_without_v(
        members in prop::collection::vec(("[<>^~=]?|[<>]=", " {0,2}", "[0-9](\\.[0-9]){0,2}|1\\.2\\.3-v1\\.v"), 1..4),
        comma in " ?, {0,2}",
    ) {
        let spelled = |v: &str| {
            let members = members.iter().map(|(operator, space, version)| format!("{operator}{space}{v}{version}"));
            members.collect::<Vec<_>>().join(&comma)
        };
        let req = parse_req(&spelled("v")).unwrap();
        prop_assert_eq!(&req, &parse_req(&spelled("")).unwrap());
        prop_assert_eq!(&req, &parse_req(&req.to_string()).unwrap());
    }

    #[test]
    fn any_text_is_a_requirement_or_an_error(text in "\\PC{0,20}|[<>=^~v0-2.*, x-]{0,12}") {
        if let Ok(req) = parse_req(&text) {
            prop_assert_eq!(&parse_req(&req.to_string()).unwrap(), &req);
        }
    }

    #[test]
    fn versions_are_totally_ordered_as_semver_orders_them(a in versions(), b in versions(), c in versions()) {
        prop_assert_eq!(a.cmp_precedence(&b), precedence(&a, &b));
        prop_assert_eq!(a.cmp_precedence(&b), b.cmp_precedence(&a).reverse());
        // The order by `<` agrees with the precedence, and decides every tie except equality.
        prop_assert_eq!(a.cmp_precedence(&b).then(a.cmp(&b)), a.cmp(&b));
        prop_assert_eq!(a.cmp(&b) == Ordering::Equal, a == b);
        let mut sorted = [&a, &b, &c];
        sorted.sort();
        prop_assert!(sorted[0] <= sorted[2] && precedence(sorted[0], sorted[2]).is_le());
    }

    #[test]
    fn compatibility_is_the_caret_operator(a in versions(), b in versions()) {
        prop_assert_eq!(is_compatible(&a, &b), parse_req(&format!("^{b}")).unwrap().matches(&a));
        prop_assert!(is_compatible(&a, &a));
        prop_assert!(!is_compatible(&a, &b) || a.cmp_precedence(&b).is_ge());
    }
}
