//! One type for every way that serde has of shaping JSON.

use std::collections::{BTreeMap, HashMap};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::case::{Case, cases};
use super::sample::{Sample, Source};

/// Declares types as they stand, and how to sample them.
macro_rules! zoo {
    () => {};
    ($(#[$meta:meta])* struct $name:ident $(<$p:ident>)? { $($(#[$fm:meta])* $field:ident: $ty:ty,)* } $($rest:tt)*) => {
        #[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
        $(#[$meta])*
        pub(crate) struct $name $(<$p>)? { $($(#[$fm])* $field: $ty,)* }
        impl $(<$p: Sample>)? Sample for $name $(<$p>)? {
            fn sample(_s: &mut Source) -> Self { Self { $($field: Sample::sample(_s),)* } }
        }
        zoo! { $($rest)* }
    };
    ($(#[$meta:meta])* struct $name:ident ($($(#[$fm:meta])* $ty:ty),*); $($rest:tt)*) => {
        #[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
        $(#[$meta])*
        pub(crate) struct $name ($($(#[$fm])* $ty),*);
        impl Sample for $name {
            fn sample(_s: &mut Source) -> Self { Self($(<$ty as Sample>::sample(_s)),*) }
        }
        zoo! { $($rest)* }
    };
    ($(#[$meta:meta])* enum $name:ident { $(
        $(#[$vm:meta])* $variant:ident
        $( ( $($ty:ty),* ) )?
        $( { $($(#[$fm:meta])* $field:ident: $fty:ty,)* } )?
    ,)* } $($rest:tt)*) => {
        #[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
        $(#[$meta])*
        pub(crate) enum $name { $(
            $(#[$vm])* $variant $( ( $($ty),* ) )? $( { $($(#[$fm])* $field: $fty,)* } )?,
        )* }
        impl Sample for $name {
            fn sample(s: &mut Source) -> Self {
                let makers: &[fn(&mut Source) -> Self] = &[$(
                    |_s| Self::$variant $( ( $(<$ty as Sample>::sample(_s)),* ) )? $( { $($field: Sample::sample(_s),)* } )?,
                )*];
                makers[s.below(makers.len())](s)
            }
        }
        zoo! { $($rest)* }
    };
}

zoo! {
    #[derive(Default)]
    struct Empty {}
    struct UnitLike();

    /// Two numbers.
    struct Point { x: i32, y: Option<i32>, }

    struct Numbers {
        a: i8, b: u8, c: i16, d: u16, e: i32, f: u32, g: i64, h: u64, i: usize, j: f32, k: f64, l: Option<u8>,
        m: Vec<i32>,
    }
    #[serde(rename_all = "camelCase")]
    struct Renamed { first_name: String, #[serde(rename = "the-last")] last_name: String, #[serde(alias = "years")] how_old: u8, }
    struct Defaulted { #[serde(default)] a: i32, #[serde(default = "seven")] b: i32, #[serde(default)] point: Empty, }
    #[serde(default)]
    #[derive(Default)]
    struct AllDefaulted { a: i32, b: String, }
    #[expect(dead_code, reason = "what serde skips is not read here either")]
    struct Skipped {
        #[serde(skip)] hidden: i32,
        #[serde(skip_serializing_if = "Option::is_none")] maybe: Option<Point>,
        #[serde(default, skip_serializing)] write_never: i32,
        kept: bool,
    }
    #[serde(deny_unknown_fields)]
    struct Denying { a: i32, inner: Point, }
    #[serde(transparent)]
    struct Transparent { only: Point, }
    struct Newtype(Point);
    struct Pair(Point, String);
    struct Keyword { properties: Point, items: Vec<Point>, format: String, #[serde(rename = "$ref")] reference: Option<Point>, title: Point, }
    struct Anything { any: Value, map: serde_json::Map<String, Value>, list: Vec<Value>, }
    struct Nested {
        /// The first one.
        one: Point,
        list: Vec<Point>,
        option_list: Option<Vec<Point>>,
        map: HashMap<String, Point>,
        tree: BTreeMap<String, Vec<Point>>,
        by_number: BTreeMap<u8, Point>,
        tuple: (Point, String),
        array: [Point; 2],
        letter: char,
        unit: (),
        boxed: Box<Point>,
    }
    struct Page<T> { items: Vec<T>, next: Option<String>, }
    struct Generic { points: Page<Point>, texts: Page<String>, }

    struct Tree { value: i32, children: Vec<Tree>, }
    struct List { head: Point, tail: Option<Box<List>>, }
    struct Even { odd: Option<Box<Odd>>, }
    struct Odd { even: Option<Box<Even>>, label: Point, }
    struct Forest { trees: Vec<Tree>, even: Even, }
    enum Expr { Number(i32), Negated(Box<Expr>), Sum(Box<Expr>, Box<Expr>), Let { name: String, value: Box<Expr>, }, }
    #[serde(tag = "op")]
    enum TaggedExpr { Number { value: i32, }, Negated(BoxedExpr), Both { left: Box<TaggedExpr>, right: Box<TaggedExpr>, }, }
    struct BoxedExpr { of: Box<TaggedExpr>, }

    enum Units { Red, Green, }
    /// A level.
    enum Documented {
        /// Nothing to see.
        Low,
        /// Look
        /// at once.
        High,
    }
    enum External { Unit, One(Point), Number(i32), Two(i32, Point), Shape { a: Point, }, Nothing {}, }
    /// Says what it is.
    #[serde(tag = "type")]
    enum Internal { Unit, Shape { a: Point, b: Option<i32>, }, One(Point), Denied(Denying), Nested(Adjacent), Deep(Outer), Nothing(Empty), }
    #[serde(tag = "type")]
    enum InternalMap { One(Point), Mapped(BTreeMap<String, Value>), }
    #[serde(tag = "type")]
    enum InternalTypedMap { One(FlatTypedMap), }
    #[serde(tag = "type")]
    enum InternalNested { Inner(Inner), Flat(FlatAdjacent), Other(UntaggedObjects), }
    #[serde(tag = "kind")]
    enum Inner { A { a: i32, }, B(Point), }
    #[serde(tag = "t", content = "c")]
    enum Adjacent { Unit, One(Point), Two(i32, Point), Shape { a: Point, }, }
    #[serde(tag = "t", content = "c", deny_unknown_fields)]
    enum AdjacentDenying { Unit, One(Point), }
    #[serde(untagged)]
    enum Untagged { Shape { only_here: i32, p: Point, }, One(Point), Text(String), Listed(Vec<Point>), }
    #[serde(tag = "type", deny_unknown_fields)]
    enum InternalDenying { Unit, Shape { a: Point, }, }
    #[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
    enum RenamedVariants { FirstOne { some_field: i32, }, #[serde(rename = "2nd")] Second, }
    #[serde(tag = "type")]
    enum PartlyUntagged { Known { a: i32, }, #[serde(untagged)] Unknown { raw: Point, }, }
    enum Docs {
        /// A point.
        One(Point),
        /// Nothing.
        Unit,
    }

    struct FlatStruct { id: i32, #[serde(flatten)] point: Point, }
    struct FlatDeep { name: String, #[serde(flatten)] flat: FlatStruct, }
    struct FlatOption { id: i32, #[serde(flatten)] point: Option<Point>, }
    struct FlatDenying { id: i32, #[serde(flatten)] denying: Denying, }
    struct FlatExternal { id: i32, #[serde(flatten)] either: FlatChoice, }
    enum FlatChoice { Unit, One(Point), Shape { a: Point, }, }
    struct FlatInternal { id: i32, #[serde(flatten)] either: Internal2, }
    #[serde(tag = "type")]
    enum Internal2 { Unit, Shape { a: Point, }, One(Point), Denied(Denying), }
    struct FlatAdjacent { id: i32, #[serde(flatten)] either: Adjacent, }
    struct FlatUntagged { id: i32, #[serde(flatten)] either: UntaggedObjects, }
    #[serde(untagged)]
    enum UntaggedObjects { Shape { only_here: i32, p: Point, }, One(Point), }
    struct FlatUnits { id: i32, #[serde(flatten)] either: Units, }
    struct FlatOptionEnum { id: i32, #[serde(flatten)] either: Option<Internal2>, }
    struct FlatOptionUntagged { id: i32, #[serde(flatten)] either: Option<UntaggedObjects>, }
    struct OnlyFlat { #[serde(flatten)] either: Internal2, }
    struct FlatTwo { id: i32, #[serde(flatten)] one: Inner, #[serde(flatten)] two: Adjacent, }
    struct FlatTwoDeep { at: Point, #[serde(flatten)] one: UntaggedObjects, #[serde(flatten)] two: FlatChoice, tree: Option<Tree>, }
    struct FlatMap { id: i32, point: Point, #[serde(flatten)] rest: BTreeMap<String, Value>, }
    struct FlatTypedMap { id: i32, #[serde(flatten)] rest: BTreeMap<String, Point>, }
    struct FlatMapAndEnum { id: i32, #[serde(flatten)] either: Internal2, #[serde(flatten)] rest: BTreeMap<String, Value>, }
    struct FlatRecursive { #[serde(flatten)] tree: Tree, next: Option<Box<FlatRecursive>>, }
    struct FlatTwice { #[serde(flatten)] flat: FlatInternal, #[serde(flatten)] more: Empty, }
    #[serde(tag = "outer")]
    enum Outer { Flat(FlatExternal), Two(FlatTwo), Here { #[serde(flatten)] point: Point, z: i32, }, }

    #[serde(try_from = "String", into = "String")]
    struct Converted { text: String, }
    #[serde(from = "Point", into = "Point")]
    struct FromPoint { x: i32, }
    struct With {
        #[serde(with = "in_words")] #[schemars(with = "String")] number: u8,
        #[serde(serialize_with = "write_twice", deserialize_with = "read_twice")] #[schemars(with = "Pair")] twice: Point,
        #[serde(with = "ElsewhereDef")] #[schemars(with = "ElsewhereDef")] elsewhere: Elsewhere,
    }
    struct Constrained {
        #[schemars(range(max = 1000))] days: u8,
        #[schemars(range(min = -1000))] loose: i8,
        #[schemars(length(max = 9))] text: String,
    }
    #[schemars(extend("additionalProperties" = true))]
    struct Opened { a: Point, }
}

fn seven() -> i32 {
    7
}

impl TryFrom<String> for Converted {
    type Error = &'static str;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        if text.len() > 100 {
            return Err("too long");
        }
        Ok(Self { text })
    }
}

impl From<Converted> for String {
    fn from(converted: Converted) -> Self {
        converted.text
    }
}

impl From<Point> for FromPoint {
    fn from(point: Point) -> Self {
        Self { x: point.x }
    }
}

impl From<FromPoint> for Point {
    fn from(FromPoint { x }: FromPoint) -> Self {
        Self { x, y: None }
    }
}

/// A type of another crate, which derives nothing.
#[derive(Debug, Clone)]
pub(crate) struct Elsewhere {
    pub(crate) north: Point,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Elsewhere")]
struct ElsewhereDef {
    north: Point,
}

impl Sample for Elsewhere {
    fn sample(s: &mut Source) -> Self {
        Self { north: Sample::sample(s) }
    }
}

mod in_words {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(crate) fn serialize<S: Serializer>(n: &u8, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&n.to_string())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<u8, D::Error> {
        String::deserialize(d)?.parse().map_err(D::Error::custom)
    }
}

fn write_twice<S: serde::Serializer>(point: &Point, s: S) -> Result<S::Ok, S::Error> {
    (point, "again").serialize(s)
}

fn read_twice<'de, D: serde::Deserializer<'de>>(d: D) -> Result<Point, D::Error> {
    Ok(<(Point, String)>::deserialize(d)?.0)
}

/// The types of the zoo, each with the places where it is open: where an object may have any key.
pub(crate) fn zoo() -> Vec<Case> {
    cases! {
        Empty, UnitLike, Point, Numbers, Renamed, Defaulted, AllDefaulted, Skipped, Denying, Transparent, Newtype, Pair,
        Keyword, Page<Tree>, Generic, Tree, List, Even, Forest, Expr, TaggedExpr, Units, Documented, External,
        Internal, InternalNested, Adjacent, AdjacentDenying, Untagged, InternalDenying, RenamedVariants, PartlyUntagged, Docs,
        FlatStruct, FlatDeep, FlatOption, FlatDenying, FlatExternal, FlatInternal, FlatAdjacent, FlatUntagged,
        FlatUnits, FlatOptionEnum, FlatOptionUntagged, OnlyFlat, FlatTwo, FlatTwoDeep, FlatRecursive, FlatTwice, Outer,
        Converted, FromPoint, With, Constrained, Option<Point>, Vec<Internal2>, (Point, FlatTwo),
        Box<FlatInternal>, Nested, i32, String;
        Anything: "/any/**", "/map/**", "/list/**";
        Value: "/**";
        HashMap<String, Point>: "";
        FlatMap: "/**";
        FlatTypedMap: "";
        InternalTypedMap: "";
        FlatMapAndEnum: "", "/key0/**", "/key1/**";
        InternalMap: "/**";
        Opened: "";
    }
}
