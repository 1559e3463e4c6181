use toolkit::tool;

/// Forecast.
#[tool]
fn serde(#[serde(defualt)] days: u8, #[serde(rename = 1)] city: String, #[serde(default = "a b")] unit: String) {
    drop((days, city, unit));
}

/// Forecast.
#[tool]
fn schemars(
    #[schemars(rnage(min = 1))] days: u8,
    #[schemars(range(mni = 1))] hours: u8,
    #[schemars(alias = "town")] city: String,
    #[serde(range(min = 1))] minutes: u8,
    #[serde] unit: String,
) {
    drop((days, hours, city, minutes, unit));
}

/// Forecast.
#[tool]
fn bounds(
    #[schemars(range(min = 1))] city: String,
    #[schemars(length(max = 9))] days: Option<u8>,
    #[schemars(regex(pattern = "[a-z"))] unit: String,
    #[schemars(regex(pattern = r"^\d+$"))] zip: u32,
) {
    drop((city, days, unit, zip));
}

fn main() {}
