//! Tools of public servers under other names, each in the shape in which its author wrote it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use toolkit::tool;

/// Defines tools whose result is their arguments.
macro_rules! tools {
    ($($(#[$attr:meta])* fn $name:ident($($(#[$arg_attr:meta])* $arg:ident: $Arg:ty),* $(,)?);)*) => {
        $(
            $(#[$attr])*
            #[tool(namespace = "ported", version = "1.0.0", read_only)]
            fn $name($($(#[$arg_attr])* $arg: $Arg),*) -> Value {
                json!({ $(stringify!($arg): $arg),* })
            }
        )*
    };
}

#[derive(Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Sort {
    #[default]
    BestMatch,
    NewestFirst,
    #[serde(rename = "top")]
    MostStarred,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Stay {
    /// The city or region.
    location: String,
    place_id: Option<String>,
    check_in: Option<String>,
    #[serde(default = "one")]
    adults: u8,
    #[serde(default)]
    children: u8,
    min_price: Option<f64>,
    #[serde(default)]
    ignore_robots_text: bool,
}

fn one() -> u8 {
    1
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Container {
    image: String,
    name: Option<String>,
    #[serde(default)]
    ports: HashMap<String, String>,
    #[serde(default)]
    environment: BTreeMap<String, String>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
enum Cell {
    Text(String),
    Number(f64),
    Flag(bool),
    Empty,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
enum DateLike {
    Number(u32),
    Text(String),
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Relation {
    from: String,
    to: String,
    #[serde(rename = "relationType")]
    kind: String,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Entity {
    name: String,
    #[serde(rename = "entityType", alias = "type")]
    kind: String,
    observations: Vec<String>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct ImageMetadata {
    tags: Option<BTreeSet<String>>,
    description: Option<String>,
    people: Option<Vec<String>>,
    location: Option<String>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Color {
    r: u8,
    g: u8,
    b: u8,
    #[serde(default = "opaque")]
    a: f32,
}

fn opaque() -> f32 {
    1.0
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
enum Pages {
    List(#[schemars(length(min = 1))] Vec<u32>),
    Range(#[schemars(length(min = 1))] String),
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Source {
    #[schemars(length(min = 1))]
    path: Option<String>,
    #[schemars(url)]
    url: Option<String>,
    pages: Option<Pages>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Patch {
    #[serde(default = "first")]
    line_start: u32,
    line_end: Option<u32>,
    contents: String,
    range_hash: Option<String>,
}

fn first() -> u32 {
    1
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct FilePatches {
    path: String,
    file_hash: String,
    patches: Vec<Patch>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block {
    Paragraph { text: String, bold: Option<bool> },
    Heading { text: String, level: u8 },
    Divider,
    Table(Table),
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Table {
    rows: Vec<Vec<Option<String>>>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(tag = "kind", content = "value")]
enum Filter {
    Text(String),
    Number { min: Option<f64>, max: Option<f64> },
    Any(Vec<Filter>),
    Empty,
}

#[derive(Deserialize, Serialize, JsonSchema)]
enum Target {
    Channel(String),
    User { id: u64, is_bot: Option<bool> },
    Everyone,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Paging {
    /// The page, from 1.
    #[schemars(range(min = 1))]
    page: Option<u32>,
    #[serde(default = "per_page")]
    #[schemars(range(min = 1, max = 100))]
    per_page: u32,
}

fn per_page() -> u32 {
    30
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct IssueSearch {
    query: String,
    sort: Option<Sort>,
    #[serde(flatten)]
    paging: Paging,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Node {
    name: String,
    #[serde(default)]
    children: Vec<Node>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Thought {
    thought: String,
    #[serde(rename = "nextThoughtNeeded")]
    next_needed: bool,
    #[serde(rename = "thoughtNumber")]
    #[schemars(range(min = 1))]
    number: u32,
    #[serde(rename = "branchFromThought", skip_serializing_if = "Option::is_none")]
    branch_from: Option<u32>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Point(f64, f64);

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
struct Slug(#[schemars(regex(pattern = r"^[a-z0-9]+(-[a-z0-9]+)*$"))] String);

#[derive(Deserialize, Serialize, JsonSchema)]
struct Labels {
    owner: String,
    #[serde(flatten)]
    extra: Map<String, Value>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(default)]
struct Chart {
    title: String,
    width: u32,
    height: u32,
    theme: Theme,
}

impl Default for Chart {
    fn default() -> Self {
        Self { title: String::new(), width: 600, height: 400, theme: Theme::Plain }
    }
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Theme {
    Plain,
    Academy,
    Dark,
}

tools! {
    /// Searches for stays.
    fn find_stays(stay: Stay);
    /// Returns the documentation of a component.
    fn component_docs(#[serde(rename = "componentName")] component: String);
    /// Downloads a paper, or checks the status of its conversion.
    fn download(paper_id: String, #[serde(default)] check_status: bool);
    /// Returns the prices of all assets.
    fn prices();
    /// Searches the web.
    fn web_search(query: String, num_results: Option<f64>);
    /// Evaluates an expression.
    fn evaluate(expression: String);
    /// Creates a container.
    fn create_container(container: Container);
    /// Writes rows to a sheet.
    fn write_sheet(
        #[serde(rename = "fileAbsolutePath")] path: String,
        #[serde(rename = "newSheet")] is_new: bool,
        range: String,
        values: Vec<Vec<Cell>>,
    );
    /// Converts an amount.
    fn convert(base: String, target: String, amount: Option<f64>);
    /// Lists branches.
    fn branches(repo_path: String, branch_type: String, contains: Option<String>, not_contains: Option<String>);
    /// Searches news.
    fn news(query: String, #[serde(rename = "type")] kind: Option<Sort>, page: Option<u16>);
    /// Returns daily prices.
    fn daily(from: DateLike, to: DateLike, ticker: DateLike, adjusted: Option<bool>);
    /// Reads a wiki.
    fn wiki(
        #[schemars(url)] url: String,
        #[schemars(range(min = 0, max = 1))] max_depth: Option<u8>,
        verbose: Option<bool>,
    );
    /// Deletes relations.
    fn delete_relations(relations: Vec<Relation>);
    /// Creates entities.
    fn create_entities(entities: Vec<Entity>);
    /// Writes the metadata of an image.
    fn write_metadata(#[schemars(length(min = 1))] file: String, metadata: ImageMetadata, overwrite: Option<bool>);
    /// Estimates a tempo.
    fn tempo(series: String, #[serde(default = "hop")] hop_length: u32, start_bpm: Option<f64>, std_bpm: Option<f64>);
    /// Fetches a page.
    fn fetch(url: String, headers: Option<Map<String, Value>>);
    /// Inserts pictures into a slide.
    fn insert(deck: String, pictures: Vec<String>, #[serde(default = "one")] slide: u8, x: Option<f64>, y: Option<f64>);
    /// Fills a rectangle.
    fn fill(x: f64, y: f64, width: f64, height: f64, color: Color);
    /// Reads documents.
    fn read_documents(
        #[schemars(length(min = 1))] sources: Vec<Source>,
        include_full_text: Option<bool>,
        include_metadata: Option<bool>,
    );
    /// Edits files.
    fn edit(files: Vec<FilePatches>, #[serde(default = "utf8")] encoding: String);
    /// Returns the best companies of a sector.
    fn top(sector: Theme, top_n: Option<u32>);
    /// Appends blocks to a page.
    fn append(page_id: String, children: Vec<Block>, after: Option<String>);
    /// Queries a database.
    fn query(database: String, filter: Option<Filter>, sorts: Option<Vec<Sort>>);
    /// Sends a message.
    fn send(target: Target, text: String, attachments: Option<Vec<String>>);
    /// Searches issues.
    fn issues(search: IssueSearch);
    /// Writes a tree.
    fn write_tree(root: Node);
    /// Records a thought.
    fn think(thought: Thought);
    /// Returns the distance of points.
    fn distance(from: Point, to: Point, via: Option<Vec<Point>>);
    /// Returns a page by its slug.
    fn page(slug: Slug, locale: Option<String>);
    /// Sets labels.
    fn label(labels: Labels);
    /// Draws a chart.
    fn chart(data: Vec<BTreeMap<String, f64>>, options: Option<Chart>);
    /// Sets coordinates.
    fn locate(latitude: f32, longitude: f32, altitude: Option<i16>);
    /// Waits.
    fn wait(#[schemars(range(max = 60_000))] milliseconds: u32);
    /// Selects options of a form.
    fn select(element: String, #[serde(rename = "ref")] reference: String, values: Vec<String>);
    /// Clicks.
    fn click(x: i32, y: i32, button: Option<Button>, #[serde(rename = "doubleClick")] is_double: Option<bool>);
    /// Types a key.
    fn press(key: char, modifiers: Option<BTreeSet<Modifier>>);
    /// Runs a query.
    fn sql(statement: String, parameters: Option<Vec<Value>>);
    /// Creates an issue.
    fn create_issue(owner: String, repo: String, title: String, body: Option<String>, assignees: Option<Vec<String>>, milestone: Option<u64>);
    /// Pushes files.
    fn push(owner: String, repo: String, branch: String, files: Vec<NewFile>, message: String);
    /// Moves a file.
    fn move_file(source: String, destination: String);
    /// Reads the head or the tail of a file.
    fn read_text(path: String, head: Option<u32>, tail: Option<u32>);
    /// Lists a directory.
    fn list_sizes(path: String, #[serde(rename = "sortBy")] sort_by: Option<Sort>);
    /// Converts a time.
    fn convert_time(source_timezone: String, time: String, target_timezone: String);
    /// Creates a coupon.
    fn coupon(name: String, percent_off: Option<f64>, amount_off: Option<u64>, duration: Theme);
    /// Lists invoices.
    fn invoices(customer: Option<String>, #[schemars(range(min = 1, max = 100))] limit: Option<u8>);
    /// Creates a refund.
    fn refund(payment_intent: String, amount: Option<i64>, reason: Option<String>);
    /// Scrapes a page.
    fn scrape(url: String, formats: Option<Vec<Format>>, #[serde(rename = "waitFor")] wait_for: Option<u32>);
    /// Crawls a site.
    fn crawl(url: String, limit: Option<u32>, webhook: Option<Webhook>);
    /// Extracts values.
    fn extract(urls: Vec<String>, prompt: Option<String>, schema: Option<Value>);
    /// Sets the position of a player.
    fn seek(position: u64, device: Option<String>);
    /// Adds numbers.
    fn sum(numbers: Vec<f64>);
    /// Multiplies matrices.
    fn multiply(left: Vec<Vec<f64>>, right: Vec<Vec<f64>>);
    /// Returns the weather.
    fn weather(latitude: f64, longitude: f64, daily: Option<bool>, units: Option<Units>);
    /// Books a table.
    fn book(restaurant: u32, party: (u8, u8), at: String, notes: Option<String>);
    /// Tags a resource.
    fn tag(arn: String, tags: HashMap<String, Option<String>>);
    /// Sets a flag.
    fn set_flag(key: String, value: FlagValue);
    /// Replaces text.
    fn replace(path: String, edits: Vec<Edit>, #[serde(default, rename = "dryRun")] is_dry: bool);
    /// Returns a block of a chain.
    fn block(number: Option<u128>, hash: Option<String>, full: bool);
}

fn hop() -> u32 {
    512
}

fn utf8() -> String {
    "utf-8".to_owned()
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Button {
    Left,
    Right,
    Middle,
}

#[derive(Deserialize, Serialize, JsonSchema, PartialEq, Eq, PartialOrd, Ord)]
enum Modifier {
    Alt,
    Control,
    Shift,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct NewFile {
    path: String,
    content: String,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum Format {
    Markdown,
    RawHtml,
    #[serde(rename = "screenshot@fullPage")]
    FullPage,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
enum Webhook {
    Url(String),
    Full { url: String, headers: Option<BTreeMap<String, String>> },
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum Units {
    Metric,
    UsCustomary,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
enum FlagValue {
    Switch(bool),
    Percent(#[schemars(range(min = 0, max = 100))] u8),
    Variants(Vec<String>),
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Edit {
    old_text: String,
    new_text: String,
}
