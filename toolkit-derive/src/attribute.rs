//! The arguments of `#[tool(…)]`, `#[prompt(…)]` and `#[toolset(…)]`: which there are, and which exclude each other.

use std::time::Duration;

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::{Expr, ExprLit, Lit, LitInt, LitStr, Meta, Path, parse_quote};

use crate::json::members;
use crate::module::MODULE;
use crate::name::{check_alias, check_name};
use crate::requirements::{self, Icon, Requirements};
use crate::tags::{MAX_TAGS, normalize_tag};
use crate::value::{
    Report, as_literal, duration, flag, key_of, metas, suggest, text, text_expr, text_exprs, texts, unknown, value_of,
};

/// The checked arguments of one attribute.
#[derive(Clone, Default)]
pub(crate) struct Attribute {
    pub(crate) kind: RecordKind,
    pub(crate) krate: Option<Path>,
    pub(crate) namespace: Option<LitStr>,
    pub(crate) name: Option<LitStr>,
    pub(crate) version: Option<String>,
    pub(crate) title: Option<Expr>,
    pub(crate) description: Option<Expr>,
    /// True if `description` is given, also if its value is invalid.
    pub(crate) names_description: bool,
    pub(crate) category: Option<LitStr>,
    pub(crate) tags: Vec<String>,
    pub(crate) read_only: Option<bool>,
    pub(crate) destructive: Option<bool>,
    pub(crate) idempotent: Option<bool>,
    pub(crate) open_world: Option<bool>,
    pub(crate) aliases: Vec<LitStr>,
    pub(crate) deprecated: Option<LitStr>,
    pub(crate) icons: Vec<Icon>,
    /// A JSON object, which includes `ui` and `max_result`.
    pub(crate) meta: Option<Expr>,
    ui: Option<LitStr>,
    max_result: Option<LitInt>,
    pub(crate) examples: Vec<Expr>,
    pub(crate) requirements: Requirements,
    pub(crate) timeout: Option<Duration>,
    pub(crate) task: Option<Task>,
    /// The path `blocking`, if the flag is set; errors point to it.
    pub(crate) blocking: Option<Path>,
    pub(crate) show_errors: Option<bool>,
    pub(crate) enforce_formats: Option<bool>,
}

/// The kinds of records that a function becomes.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum RecordKind {
    #[default]
    Tool,
    Prompt,
}

impl RecordKind {
    /// Returns the name of the attribute, which is also the word for it in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            RecordKind::Tool => "tool",
            RecordKind::Prompt => "prompt",
        }
    }
}

/// The value of `task`.
#[derive(Clone, Copy)]
pub(crate) enum Task {
    Optional,
    Required,
}

const TOOL: &[&str] = &[
    "namespace",
    "name",
    "version",
    "title",
    "description",
    "category",
    "tags",
    "read_only",
    "destructive",
    "idempotent",
    "open_world",
    "aliases",
    "deprecated",
    "icons",
    "meta",
    "ui",
    "max_result",
    "examples",
    "requires",
    "timeout",
    "task",
    "blocking",
    "show_errors",
    "enforce_formats",
    "crate",
];

const PROMPT: &[&str] = &[
    "namespace",
    "name",
    "version",
    "title",
    "description",
    "tags",
    "icons",
    "meta",
    "requires",
    "timeout",
    "show_errors",
    "crate",
];

const TOOLSET: &[&str] = &[
    "namespace",
    "version",
    "category",
    "tags",
    "read_only",
    "destructive",
    "idempotent",
    "open_world",
    "timeout",
    "show_errors",
    "enforce_formats",
    "crate",
];

impl Attribute {
    // #[tool(namespace = "weather", version = "1.2.0", tags = ["forecast"], read_only, open_world = false)]
    // #[tool(requires(secret = "KEY"), timeout = "30s", crate = ::renamed)]
    pub(crate) fn tool(arguments: TokenStream, report: &mut Report) -> Self {
        Self::parse("#[tool]", TOOL, arguments, report)
    }

    // #[prompt(namespace = "text", title = "Translate a text", tags = ["writing"])]
    pub(crate) fn prompt(arguments: TokenStream, report: &mut Report) -> Self {
        Self { kind: RecordKind::Prompt, ..Self::parse("#[prompt]", PROMPT, arguments, report) }
    }

    // #[toolset(namespace = "notes", version = "0.3.0", read_only)]
    pub(crate) fn toolset(arguments: TokenStream, report: &mut Report) -> Self {
        Self::parse("#[toolset]", TOOLSET, arguments, report)
    }

    fn parse(attribute: &str, keys: &[&str], arguments: TokenStream, report: &mut Report) -> Self {
        let mut parsed = Self::default();
        let first = arguments.clone().into_iter().next();
        if let Ok(text) = syn::parse2::<LitStr>(first.into_iter().collect()) {
            let is_sentence = text.value().contains(char::is_whitespace) && keys.contains(&"description");
            let key = if is_sentence { "description" } else { keys[0] };
            report.error(&text, format!("positional arguments are not supported; write `{key} = …`"));
            parsed.names_description = is_sentence;
            return parsed;
        }
        // A malformed description is reported once, and not as a missing description too.
        let is_description = |token: String| token == "description" || suggest(&token, keys) == Some("description");
        parsed.names_description = arguments.clone().into_iter().any(|token| is_description(token.to_string()));
        let metas = metas(arguments, report);
        let mut seen: Vec<String> = Vec::new();
        let mut module = None;
        for meta in &metas {
            let key = key_of(meta);
            if let Meta::List(list) = meta
                && key == MODULE
            {
                // `#[toolset]` on the module has reported errors in these arguments.
                module = Some(Self::toolset(list.tokens.clone(), &mut Report::default()));
            } else if seen.contains(&key) {
                report.error(meta.path(), format!("duplicate `{attribute}` argument `{key}`"));
            } else if keys.contains(&key.as_str()) {
                parsed.set(&key, meta, report);
                seen.push(key);
            } else {
                report.error(meta.path(), unknown(attribute, &key, keys));
            }
        }
        if let Some(uri) = parsed.ui.take() {
            let value = format!("{{\"resourceUri\":\"{}\"}}", uri.value());
            parsed.meta = with_member("ui", "ui", &value, &uri, parsed.meta.take(), report);
        }
        if let Some(max) = parsed.max_result.take() {
            let (name, value) = ("anthropic/maxResultSizeChars", max.base10_digits());
            parsed.meta = with_member("max_result", name, value, &max, parsed.meta.take(), report);
        }
        if parsed.read_only == Some(true) && parsed.destructive == Some(true) {
            let destructive = metas.iter().find(|meta| meta.path().is_ident("destructive"));
            report.error(destructive.map(Meta::path), "`destructive` contradicts `read_only`; remove one of the two");
        }
        match module {
            Some(module) => parsed.inherit(&module),
            None => parsed,
        }
    }

    fn set(&mut self, key: &str, meta: &Meta, report: &mut Report) {
        match key {
            "namespace" => self.namespace = named(meta, "weather", report),
            "name" => self.name = named(meta, "forecast", report),
            "version" => self.version = text(meta, "1.0.0", report).and_then(|text| version(&text, report)),
            "title" => self.title = text_expr(meta, "Weather forecast", report),
            "description" => self.description = description(meta, report),
            "category" => self.category = text(meta, "weather", report),
            "tags" => self.tags = tags(meta, report),
            "read_only" => self.read_only = flag(meta, report),
            "destructive" => self.destructive = flag(meta, report),
            "idempotent" => self.idempotent = flag(meta, report),
            "open_world" => self.open_world = flag(meta, report),
            "aliases" => self.aliases = aliases(meta, report),
            "deprecated" => self.deprecated = text(meta, "use `weather:outlook`", report),
            "icons" => self.icons = requirements::icons(meta, report),
            "meta" => self.meta = text_expr(meta, "{}", report),
            "ui" => self.ui = ui(meta, report),
            "max_result" => self.max_result = max_result(meta, report),
            "examples" => self.examples = text_exprs(meta, "{}", report).unwrap_or_default(),
            "requires" => self.requirements = requirements::requires(meta, report),
            "timeout" => self.timeout = text(meta, "30s", report).and_then(|text| duration(&text, report)),
            "task" => self.task = task(meta, report),
            "blocking" => self.blocking = flag(meta, report).and_then(|set| set.then(|| meta.path().clone())),
            "show_errors" => self.show_errors = flag(meta, report),
            "enforce_formats" => self.enforce_formats = flag(meta, report),
            _ => self.krate = krate(meta, report),
        }
    }

    /// Fills in missing arguments from the outer attribute; tags add up.
    pub(crate) fn inherit(mut self, outer: &Self) -> Self {
        self.namespace = self.namespace.or_else(|| outer.namespace.clone());
        self.version = self.version.or_else(|| outer.version.clone());
        self.category = self.category.or_else(|| outer.category.clone());
        self.krate = self.krate.or_else(|| outer.krate.clone());
        self.timeout = self.timeout.or(outer.timeout);
        self.show_errors = self.show_errors.or(outer.show_errors);
        self.enforce_formats = self.enforce_formats.or(outer.enforce_formats);
        // An inherited hint that contradicts a hint of the attribute itself is dropped.
        self.read_only = self.read_only.or(outer.read_only.filter(|_| self.destructive != Some(true)));
        self.destructive = self.destructive.or(outer.destructive.filter(|_| self.read_only != Some(true)));
        self.idempotent = self.idempotent.or(outer.idempotent);
        self.open_world = self.open_world.or(outer.open_world);
        let own = std::mem::take(&mut self.tags);
        self.tags = outer.tags.iter().filter(|tag| !own.contains(tag)).cloned().chain(own.clone()).collect();
        self
    }
}

fn named(meta: &Meta, example: &str, report: &mut Report) -> Option<LitStr> {
    let text = text(meta, example, report)?;
    match check_name(&text.value()) {
        Ok(()) => Some(text),
        Err(reason) => {
            report.error(&text, format!("`{}` {reason}", key_of(meta)));
            None
        }
    }
}

fn version(text: &LitStr, report: &mut Report) -> Option<String> {
    let written = text.value();
    let bare = written.strip_prefix('v').unwrap_or(&written);
    if semver::Version::parse(bare).is_ok() {
        return Some(bare.to_owned());
    }
    let fix = [format!("{bare}.0"), format!("{bare}.0.0")];
    let fix = fix.iter().find(|version| semver::Version::parse(version).is_ok());
    let fix = match fix {
        Some(version) => format!("did you mean `\"{version}\"`?"),
        None => "write `\"major.minor.patch\"`, as in `\"1.0.0\"`".to_owned(),
    };
    report.error(text, format!("`{written}` is not a semantic version; {fix}"));
    None
}

fn description(meta: &Meta, report: &mut Report) -> Option<Expr> {
    let text = text_expr(meta, "Forecast for a city.", report)?;
    if let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = &text
        && text.value().trim().is_empty()
    {
        report.error(text, "the description is empty; a model reads it to decide whether to call the tool");
    }
    Some(text)
}

fn tags(meta: &Meta, report: &mut Report) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for text in texts(meta, "forecast", report).unwrap_or_default() {
        let written = text.value();
        let Some(tag) = normalize_tag(&written) else {
            let message = format!("the tag `{written}` has no valid characters; use letters, digits, `-`, `_` and `.`");
            report.error(&text, message);
            continue;
        };
        // A truncated tag is as long as the limit, and the original text was longer.
        if written.chars().filter(|c| !c.is_whitespace()).count() > tag.len() && tag.len() == crate::tags::MAX_TAG_LEN {
            let message = format!("the tag is too long; a tag has at most {} characters", crate::tags::MAX_TAG_LEN);
            report.error(&text, message);
        } else if kept.contains(&tag) {
            report.error(&text, format!("duplicate tag `{tag}`"));
        } else if kept.len() == MAX_TAGS {
            report.error(&text, format!("a tool has at most {MAX_TAGS} tags; remove this one"));
        } else {
            kept.push(tag);
        }
    }
    kept
}

fn aliases(meta: &Meta, report: &mut Report) -> Vec<LitStr> {
    let mut kept = Vec::new();
    for text in texts(meta, "weather:outlook", report).unwrap_or_default() {
        match check_alias(&text.value()) {
            Err(reason) => report.error(&text, format!("an alias {reason}")),
            Ok(()) => kept.push(text),
        }
    }
    kept
}

fn ui(meta: &Meta, report: &mut Report) -> Option<LitStr> {
    let text = text(meta, "ui://sales/chart.html", report)?;
    let uri = text.value();
    let is_uri = uri.strip_prefix("ui://").is_some_and(|path| {
        !path.is_empty() && !path.contains(|c: char| c.is_control() || c.is_whitespace() || "\"\\<>".contains(c))
    });
    if !is_uri {
        report.error(&text, "`ui` must be a `ui://` URI, as in `ui = \"ui://sales/chart.html\"`");
    }
    is_uri.then_some(text)
}

/// The fewest characters of `max_result`: less would be cut to the note about it.
const MIN_RESULT: u32 = 1_000;

fn max_result(meta: &Meta, report: &mut Report) -> Option<LitInt> {
    let value = value_of(meta);
    if let Some(Expr::Lit(ExprLit { lit: Lit::Int(number), .. })) = &value
        && number.suffix().is_empty()
        && number.base10_parse::<u32>().is_ok_and(|number| number >= MIN_RESULT)
    {
        return Some(number.clone());
    }
    let message = "`max_result` must be the number of characters that a result has at most, from 1000, as in `max_result = 50_000`";
    match value {
        Some(value) => report.error(value, message),
        None => report.error(meta, message),
    }
    None
}

/// Adds a member to `meta`, which the catalog validates.
fn with_member(
    key: &str,
    name: &str,
    value: &str,
    place: &impl ToTokens,
    meta: Option<Expr>,
    report: &mut Report,
) -> Option<Expr> {
    let text = match &meta {
        None => "{}".to_owned(),
        Some(meta) => match as_literal(meta) {
            Some(text) => text.value(),
            None => {
                let message =
                    format!("write `meta` as a JSON object beside `{key}`, or the member `{name}` in the constant");
                report.error(meta, message);
                return None;
            }
        },
    };
    let Ok(members) = members(&text) else {
        return meta;
    };
    if members.iter().any(|(other, _)| other == name) {
        report.error(
            place,
            format!("`meta` has a member `{name}` too; write `{key} = …`, or the whole object in `meta`"),
        );
        return meta;
    }
    let comma = if members.is_empty() { "" } else { "," };
    let rest = text.trim_start().strip_prefix('{').unwrap_or_default();
    let json = format!("{{\"{name}\":{value}{comma}{rest}");
    let span = place.to_token_stream().into_iter().next().map_or_else(Span::call_site, |token| token.span());
    let text = LitStr::new(&json, span);
    Some(parse_quote!(#text))
}

fn task(meta: &Meta, report: &mut Report) -> Option<Task> {
    let value = match value_of(meta) {
        None if matches!(meta, Meta::Path(_)) => return Some(Task::Optional),
        Some(Expr::Lit(ExprLit { lit: Lit::Str(text), .. })) if text.value() == "optional" => {
            return Some(Task::Optional);
        }
        Some(Expr::Lit(ExprLit { lit: Lit::Str(text), .. })) if text.value() == "required" => {
            return Some(Task::Required);
        }
        value => value,
    };
    let message = "write `task`, or `task = \"required\"` if only clients that support tasks can call the tool";
    match value {
        Some(value) => report.error(value, message),
        None => report.error(meta, message),
    }
    None
}

pub(crate) fn krate(meta: &Meta, report: &mut Report) -> Option<Path> {
    match value_of(meta) {
        Some(Expr::Path(path)) if path.qself.is_none() => Some(path.path.clone()),
        _ => {
            report.error(meta.to_token_stream(), "`crate` must be a path, as in `crate = ::my_toolkit`");
            None
        }
    }
}
