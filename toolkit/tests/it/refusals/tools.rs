//! The tools of these tests, which belong to a shop.

use expect_test::expect;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use toolkit::tool;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Size {
    Small,
    Medium,
    Large,
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Payment {
    Card {
        #[schemars(regex(pattern = r"^[0-9]{4}$"))]
        last_digits: String,
    },
    Invoice {
        days: u8,
    },
    Cash,
}

#[derive(Deserialize, JsonSchema)]
pub enum Delivery {
    Pickup,
    Courier { street: String, floor: Option<i8> },
    Locker(u16),
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Amount {
    Exact(#[expect(dead_code, reason = "only what is refused is of interest")] u32),
    Range { least: u32, most: u32 },
}

#[derive(Deserialize, JsonSchema)]
pub struct Item {
    #[schemars(length(min = 2, max = 5))]
    pub name: String,
    pub size: Size,
    pub amount: Option<Amount>,
    #[serde(default)]
    pub parts: Vec<Item>,
}

#[derive(Deserialize, JsonSchema)]
pub struct Login {
    pub user: String,
    #[schemars(extend("writeOnly" = true), length(min = 6))]
    pub password: String,
}

#[derive(Deserialize, JsonSchema)]
pub struct Order {
    pub items: Vec<Item>,
    pub payment: Payment,
    pub delivery: Option<Delivery>,
    #[serde(default)]
    pub colors: BTreeSet<String>,
    #[serde(default)]
    pub prices: BTreeMap<String, f64>,
    #[schemars(range(min = 1, max = 14))]
    #[serde(default)]
    pub days: u8,
    pub login: Option<Login>,
}

/// Orders items.
#[tool(namespace = "shop")]
pub fn order(order: Order) -> usize {
    let Order { items, payment, delivery, colors, prices, days, login } = order;
    let n_parts = items.iter().map(|item| item.parts.len() + item.name.len()).sum::<usize>();
    let _ = items.first().map(|item| (matches!(item.size, Size::Small | Size::Medium | Size::Large), &item.amount));
    if let Some(Amount::Range { least, most }) = items.first().and_then(|item| item.amount.as_ref()) {
        return (least + most) as usize;
    }
    let paid = match payment {
        Payment::Card { last_digits } => last_digits.len(),
        Payment::Invoice { days } => days.into(),
        Payment::Cash => 0,
    };
    let delivered = match delivery {
        Some(Delivery::Courier { street, floor }) => street.len() + usize::from(floor.is_some()),
        Some(Delivery::Locker(number)) => number.into(),
        Some(Delivery::Pickup) | None => 0,
    };
    let asked = login.map_or(0, |login| login.user.len() + login.password.len());
    n_parts + paid + delivered + colors.len() + prices.len() + usize::from(days) + asked
}

/// Takes nothing.
#[tool(namespace = "shop")]
pub fn close() {}

/// Resizes to a size.
#[tool(namespace = "shop", examples = [r#"{"size":"large","note":"as an example"}"#])]
pub fn resize(size: Size, note: String) -> bool {
    matches!(size, Size::Large) && note.is_empty()
}

#[derive(Deserialize, JsonSchema)]
pub struct Point {
    x: i32,
    y: i32,
}

#[derive(Deserialize, JsonSchema)]
pub enum Shape {
    Circle { center: Point, radius: u32 },
    Square { corner: Point, side: u32 },
}

#[derive(Deserialize, JsonSchema)]
pub struct Nothing {}

/// Places a shape.
#[tool(namespace = "shop")]
pub fn place(
    origin: Option<Point>,
    path: Option<Vec<Point>>,
    floors: Option<BTreeMap<u8, String>>,
    shape: Option<Shape>,
    nothing: Option<Nothing>,
) -> usize {
    let points = path.into_iter().flatten().chain(origin).filter(|Point { x, y }| x <= y).count();
    let sides = match (shape, nothing) {
        (Some(Shape::Circle { center, radius }), _) => center.x as usize + radius as usize,
        (Some(Shape::Square { corner, side }), _) => corner.y as usize + side as usize,
        (None, Some(Nothing {}) | None) => 0,
    };
    points + sides + floors.map_or(0, |floors| floors.len())
}
