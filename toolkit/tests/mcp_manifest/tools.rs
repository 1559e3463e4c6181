//! The listed tools.

use super::*;

/// A place on a map.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Place {
    /// Degrees north.
    #[schemars(range(min = -90.0, max = 90.0))]
    lat: f32,
    /// Degrees east.
    lon: f32,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Trip {
    /// Where it starts.
    from: Place,
    /// Where it ends.
    to: Place,
    /// Where it leads through.
    #[serde(default)]
    via: Vec<Place>,
    /// What else to know.
    note: Option<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) enum Unit {
    Metric,
    Imperial,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) enum Speed {
    /// At once.
    Fast,
    /// When there is time.
    Slow,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum Shape {
    /// A circle.
    Circle {
        /// From the middle to the rim.
        radius: f64,
    },
    /// A rectangle.
    Rectangle { width: f64, height: f64 },
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Amount {
    Exact(i64),
    Text(String),
}

/// A folder with folders in it.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Folder {
    name: String,
    #[serde(default)]
    folders: Vec<Folder>,
}

/// A number, or sums of sums.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Sum {
    Number(i64),
    Of(Vec<Sum>),
}

/// Takes nothing and gives nothing.
#[tool]
pub(crate) fn nothing() {}

/// Takes a struct.
///
/// Its second paragraph is for models, too.
#[tool(namespace = "travel", version = "1.0.0", title = "Plan a trip")]
pub(crate) fn plan(trip: Trip) -> usize {
    trip.via.len() + usize::from(trip.note.is_some() && trip.from.lat <= trip.to.lon)
}

/// Takes parameters.
#[tool(namespace = "travel", version = "1.0.0")]
pub(crate) fn fare(
    /// How far, in kilometres.
    distance: f64,
    /// How many travel.
    #[schemars(range(min = 1, max = 9))]
    people: u8,
    discount: Option<i64>,
    unit: Option<Unit>,
) -> f64 {
    let unit = if unit.is_some() { 1.0 } else { 0.0 };
    distance * f64::from(people) - discount.unwrap_or(0) as f64 + unit
}

/// Takes one lone enum of objects.
#[tool]
pub(crate) fn area(shape: Shape) -> f64 {
    match shape {
        Shape::Circle { radius } => radius * radius * std::f64::consts::PI,
        Shape::Rectangle { width, height } => width * height,
    }
}

/// Takes enums of every kind.
#[tool]
pub(crate) fn kinds(unit: Unit, speed: Speed, shape: Shape, amount: Amount) -> Unit {
    let _ = (area(shape), matches!(speed, Speed::Fast));
    match amount {
        Amount::Exact(0) => unit,
        Amount::Exact(_) => Unit::Metric,
        Amount::Text(text) => {
            if text.is_empty() {
                Unit::Metric
            } else {
                Unit::Imperial
            }
        }
    }
}

/// Takes maps and tuples.
#[tool]
pub(crate) fn containers(scores: HashMap<String, u64>, range: (i64, i64), pair: (String, f32)) -> Vec<String> {
    let total = scores.values().sum::<u64>();
    vec![format!("{total} {range:?} {pair:?}")]
}

/// Takes any JSON.
#[tool]
pub(crate) fn any(value: Value, more: Vec<Value>) -> Value {
    json!([value, more])
}

/// Takes and gives a recursive type.
#[tool]
pub(crate) fn folder(folder: Folder) -> Folder {
    folder
}

/// Takes and gives a recursive type that is no object.
#[tool]
pub(crate) fn sum(#[arg] sum: Sum) -> Sum {
    sum
}

/// Gives a list of a recursive type.
#[tool]
pub(crate) fn folders(#[arg] folders: Vec<Folder>) -> Vec<Folder> {
    folders
}

/// Takes and gives an enum of objects.
#[tool]
pub(crate) fn turn(shape: Shape) -> Shape {
    match shape {
        Shape::Rectangle { width, height } => Shape::Rectangle { width: height, height: width },
        circle => circle,
    }
}

/// Gives a struct.
#[tool]
pub(crate) fn locate(city: String) -> Place {
    Place { lat: city.len() as f32, lon: 1.5 }
}

/// Gives a struct, perhaps.
#[tool]
pub(crate) fn search(city: String) -> Option<Place> {
    (!city.is_empty()).then(|| locate(city))
}

/// Gives a number.
#[tool]
pub(crate) fn count(words: Vec<String>) -> i64 {
    words.len() as i64
}

/// Gives a text.
#[tool]
pub(crate) fn shout(text: String) -> Result<String, ToolError> {
    Ok(text.to_uppercase())
}

/// Gives a map.
#[tool]
pub(crate) fn lengths(words: Vec<String>) -> BTreeMap<String, usize> {
    words.into_iter().map(|w| (w.clone(), w.len())).collect()
}

/// Gives a picture.
#[tool]
pub(crate) fn picture() -> Content {
    Content::image(b"abc", "image/png")
}

/// Gives a number, and says it.
#[tool]
pub(crate) fn both() -> Structured<u8> {
    Structured::new(1, [Content::text("one")])
}

/// Has everything that can be said of a tool.
#[tool(
    namespace = "acme.mail",
    version = "2.0.0",
    title = "Send a mail",
    category = "mail",
    tags = ["Mail", "Send"],
    read_only = false,
    destructive = false,
    idempotent = false,
    open_world,
    aliases = ["acme.mail:post"],
    deprecated = "use `acme.mail:queue`.",
    icons = [
        "https://example.com/a.svg",
        icon(src = "https://example.com/b.png", mime_type = "image/png", sizes = ["48x48"], theme = "dark"),
    ],
    meta = "{\"com.example/team\": {\"z\": 1, \"a\": 2}}",
    examples = ["{\"to\": \"a@example.com\"}"],
    requires(oauth2(id = "google", scopes = ["mail.send"]), secret = "MAIL_KEY", user_id),
    timeout = "5s"
)]
pub(crate) fn send(to: String) -> bool {
    !to.is_empty()
}

/// Says only that it does not read only.
#[tool(read_only = false)]
pub(crate) fn write() {}

pub(crate) mod old {
    /// The first.
    #[toolkit::tool(namespace = "clock", version = "1.9.0")]
    pub(crate) fn tick() {}
}

pub(crate) mod new {
    /// The tenth.
    #[toolkit::tool(namespace = "clock", version = "1.10.0")]
    pub(crate) fn tick() {}
}

pub(crate) mod next {
    /// Not released yet.
    #[toolkit::tool(namespace = "clock", version = "2.0.0-rc.1")]
    pub(crate) fn tick() {}
}
