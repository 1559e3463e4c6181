//! The part of JSON Schema that a target reads, as data.

/// The part of JSON Schema that a target reads.
///
/// Limits and keyword lists are what the providers' documents and SDKs said in November 2026; they are data, so that a
/// host that knows better can say so.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Dialect {
    /// What it is called in messages.
    pub name: &'static str,
    /// The keywords that it reads beside `type`, `description`, `properties`, `required` and `items`; `None` for all.
    pub keywords: Option<&'static [&'static str]>,
    /// The values of `format` that it reads; `None` for any.
    pub formats: Option<&'static [&'static str]>,
    /// Whether every object is closed (`additionalProperties: false`), because the target demands it.
    pub closed: bool,
    /// Whether every property is required: what was optional is then nullable.
    pub all_required: bool,
    /// Whether `type` may be a list.
    pub type_lists: bool,
    /// Whether null is said by `nullable: true` and not by a type.
    pub nullable: bool,
    /// Whether `$ref` may lead back to where it stands.
    pub recursion: bool,
    /// Whether nothing may stand beside a `$ref`.
    pub bare_references: bool,
    /// Whether a value may be of any type.
    pub untyped: bool,
    /// Whether the root may be a choice (`anyOf`, `oneOf`, `allOf`).
    pub root_choice: bool,
    /// Whether `enum` may hold other than texts.
    pub mixed_enums: bool,
    /// The largest `minItems`; `None` for any.
    pub max_min_items: Option<u64>,
    /// Whether types are written in capitals.
    pub upper_case_types: bool,
    /// Whether every argument has a description.
    pub described_arguments: bool,
    /// How large a schema may be.
    pub limits: Limits,
}

/// How large a schema may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Properties of all objects together.
    pub properties: usize,
    /// Levels of objects and lists.
    pub levels: usize,
    /// Values of all enums together.
    pub enum_values: usize,
    /// Characters of all names of properties and values of enums together.
    pub characters: usize,
    /// Characters of all values together of one enum that has more than 250 values.
    pub long_enum_characters: usize,
}

impl Limits {
    /// None.
    pub const NONE: Self = Self {
        properties: usize::MAX,
        levels: usize::MAX,
        enum_values: usize::MAX,
        characters: usize::MAX,
        long_enum_characters: usize::MAX,
    };
}

/// The words of draft 2020-12, all of them, about an object.
const ALL: Dialect = Dialect {
    name: "JSON Schema",
    keywords: None,
    formats: None,
    closed: false,
    all_required: false,
    type_lists: true,
    nullable: false,
    recursion: true,
    bare_references: false,
    untyped: true,
    root_choice: true,
    mixed_enums: true,
    max_min_items: None,
    upper_case_types: false,
    described_arguments: false,
    limits: Limits::NONE,
};

const STRICT_FORMATS: &[&str] = &["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

impl Dialect {
    /// All of JSON Schema, with an object at the root.
    pub const JSON_SCHEMA: Self = ALL;

    /// What OpenAI reads without `strict`: hints to the model, with an object and no choice at the root.
    pub const OPENAI: Self = Self { name: "OpenAI", root_choice: false, ..ALL };

    /// What OpenAI enforces under `strict: true` (guide to structured outputs).
    pub const OPENAI_STRICT: Self = Self {
        name: "OpenAI strict",
        keywords: Some(&[
            "enum",
            "anyOf",
            "$ref",
            "$defs",
            "additionalProperties",
            "pattern",
            "format",
            "multipleOf",
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "minItems",
            "maxItems",
        ]),
        formats: Some(STRICT_FORMATS),
        closed: true,
        all_required: true,
        bare_references: true,
        untyped: false,
        root_choice: false,
        limits: Limits {
            properties: 5000,
            levels: 10,
            enum_values: 1000,
            characters: 120_000,
            long_enum_characters: 15_000,
        },
        ..ALL
    };

    /// What Anthropic reads without `strict`: all but a choice at the root.
    pub const ANTHROPIC: Self = Self { name: "Anthropic", root_choice: false, ..ALL };

    /// What Anthropic enforces under `strict: true` (structured outputs). A default would be read; the official SDK
    /// moves it into the description, and so does this.
    pub const ANTHROPIC_STRICT: Self = Self {
        name: "Anthropic strict",
        keywords: Some(&[
            "enum",
            "const",
            "anyOf",
            "allOf",
            "$ref",
            "$defs",
            "additionalProperties",
            "format",
            "minItems",
        ]),
        formats: Some(&["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"]),
        closed: true,
        type_lists: false,
        recursion: false,
        untyped: false,
        root_choice: false,
        max_min_items: Some(1),
        ..ALL
    };

    /// What Gemini reads as `parametersJsonSchema`.
    pub const GEMINI: Self = Self {
        name: "Gemini",
        keywords: Some(&[
            "title",
            "enum",
            "anyOf",
            "format",
            "minimum",
            "maximum",
            "minItems",
            "maxItems",
            "prefixItems",
            "additionalProperties",
        ]),
        recursion: false,
        root_choice: false,
        ..ALL
    };

    /// What Gemini reads as `parameters`: the schema of OpenAPI 3.0, in part.
    pub const GEMINI_OPENAPI: Self = Self {
        name: "Gemini's `Schema`",
        keywords: Some(&[
            "title",
            "enum",
            "anyOf",
            "format",
            "minimum",
            "maximum",
            "minItems",
            "maxItems",
            "minLength",
            "maxLength",
            "minProperties",
            "maxProperties",
            "pattern",
            "default",
        ]),
        type_lists: false,
        nullable: true,
        recursion: false,
        root_choice: false,
        mixed_enums: false,
        upper_case_types: true,
        ..ALL
    };

    /// What Open Tool Calling has in a definition: no references, and a description on every argument.
    pub const OTC: Self = Self { name: "Open Tool Calling", recursion: false, described_arguments: true, ..ALL };

    /// Whether a keyword is read.
    #[must_use]
    pub fn reads(&self, keyword: &str) -> bool {
        let always = matches!(keyword, "type" | "description" | "properties" | "required" | "items");
        always || self.keywords.is_none_or(|keywords| keywords.contains(&keyword))
    }
}
