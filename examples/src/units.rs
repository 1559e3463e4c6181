//! Second lesson: a choice from a documented list, and an error that names the valid choices.
//!
//! An enum with documented variants becomes a list of allowed values with descriptions. A schema cannot express that a
//! length does not convert into a mass, so the tool returns an error that leads to a valid call.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolkit::{ToolError, tool};

/// Physical dimension of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Dimension {
    /// Distance.
    Length,
    /// Mass.
    Mass,
    /// Time.
    Time,
    /// Temperature.
    Temperature,
    /// Amount of data.
    Data,
    /// Speed.
    Speed,
}

/// Defines each unit in one line: its dimension, its size in the base unit of the dimension, and the offset of its
/// zero.
macro_rules! units {
    ($(#[doc = $doc:literal] $symbol:literal $unit:ident: $dimension:ident, $size:expr, $zero:expr;)*) => {
        /// A unit of measurement.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        pub enum Unit { $( #[doc = $doc] #[serde(rename = $symbol)] $unit, )* }

        impl Unit {
            const ALL: &[Unit] = &[$(Unit::$unit),*];

            const fn symbol(self) -> &'static str {
                match self { $(Unit::$unit => $symbol,)* }
            }

            const fn definition(self) -> (Dimension, f64, f64) {
                match self { $(Unit::$unit => (Dimension::$dimension, $size, $zero),)* }
            }
        }
    };
}

units! {
    /// Millimeter.
    "mm" Millimeter: Length, 0.001, 0.0;
    /// Centimeter.
    "cm" Centimeter: Length, 0.01, 0.0;
    /// Meter.
    "m" Meter: Length, 1.0, 0.0;
    /// Kilometer.
    "km" Kilometer: Length, 1000.0, 0.0;
    /// Inch.
    "in" Inch: Length, 0.0254, 0.0;
    /// Foot.
    "ft" Foot: Length, 0.3048, 0.0;
    /// International mile.
    "mi" Mile: Length, 1609.344, 0.0;
    /// Nautical mile.
    "nmi" NauticalMile: Length, 1852.0, 0.0;
    /// Gram.
    "g" Gram: Mass, 0.001, 0.0;
    /// Kilogram.
    "kg" Kilogram: Mass, 1.0, 0.0;
    /// Metric ton.
    "t" Ton: Mass, 1000.0, 0.0;
    /// Ounce.
    "oz" Ounce: Mass, 0.028_349_523_125, 0.0;
    /// Pound.
    "lb" Pound: Mass, 0.453_592_37, 0.0;
    /// Second.
    "s" Second: Time, 1.0, 0.0;
    /// Minute.
    "min" Minute: Time, 60.0, 0.0;
    /// Hour.
    "h" Hour: Time, 3600.0, 0.0;
    /// Day of 24 hours.
    "d" Day: Time, 86_400.0, 0.0;
    /// Kelvin.
    "K" Kelvin: Temperature, 1.0, 0.0;
    /// Degree Celsius.
    "°C" Celsius: Temperature, 1.0, 273.15;
    /// Degree Fahrenheit.
    "°F" Fahrenheit: Temperature, 5.0 / 9.0, 459.67 * 5.0 / 9.0;
    /// Byte.
    "B" Byte: Data, 1.0, 0.0;
    /// Kilobyte of 1000 bytes.
    "kB" Kilobyte: Data, 1e3, 0.0;
    /// Megabyte of 1000 kilobytes.
    "MB" Megabyte: Data, 1e6, 0.0;
    /// Gigabyte of 1000 megabytes.
    "GB" Gigabyte: Data, 1e9, 0.0;
    /// Kibibyte of 1024 bytes.
    "KiB" Kibibyte: Data, 1024.0, 0.0;
    /// Mebibyte of 1024 kibibytes.
    "MiB" Mebibyte: Data, 1_048_576.0, 0.0;
    /// Gibibyte of 1024 mebibytes.
    "GiB" Gibibyte: Data, 1_073_741_824.0, 0.0;
    /// Meter per second.
    "m/s" MeterPerSecond: Speed, 1.0, 0.0;
    /// Kilometer per hour.
    "km/h" KilometerPerHour: Speed, 1.0 / 3.6, 0.0;
    /// Mile per hour.
    "mph" MilePerHour: Speed, 0.44704, 0.0;
    /// Knot.
    "kn" Knot: Speed, 1852.0 / 3600.0, 0.0;
}

/// A converted value.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Converted {
    /// The value in the target unit.
    pub value: f64,
    /// The target unit.
    pub unit: Unit,
    /// The dimension of both units.
    pub dimension: Dimension,
}

/// Converts a value from one unit to another of the same dimension.
#[tool(
    namespace = "units",
    version = "1.0.0",
    tags = ["conversion"],
    category = "numbers",
    read_only,
    idempotent,
    open_world = false,
    examples = [r#"{"value": 26.2, "from": "mi", "to": "km"}"#]
)]
pub fn convert_units(
    /// The value to convert.
    value: f64,
    /// The unit of the value.
    from: Unit,
    /// The target unit.
    to: Unit,
) -> Result<Converted, ToolError> {
    let (dimension, size, zero) = from.definition();
    let (other, to_size, to_zero) = to.definition();
    if dimension != other {
        return Err(mismatch(from, to));
    }
    let base = value * size + zero;
    // 0 K equals -459.67 °F only up to the rounding of floats.
    if dimension == Dimension::Temperature && base < -1e-9 {
        let symbol = from.symbol();
        return Err(ToolError::failed(format!("{value} {symbol} is below absolute zero")));
    }
    let value = if from == to { value } else { (base - to_zero) / to_size };
    if !value.is_finite() {
        return Err(ToolError::failed("the result is too large to be written as a number"));
    }
    Ok(Converted { value, unit: to, dimension })
}

#[cold]
fn mismatch(from: Unit, to: Unit) -> ToolError {
    let name = |unit: Unit| format!("{:?}", unit.definition().0).to_lowercase();
    let same = Unit::ALL.iter().filter(|unit| unit.definition().0 == from.definition().0);
    let possible: Vec<&str> = same.map(|unit| unit.symbol()).collect();
    ToolError::failed(format!(
        "`{}` measures {}, and `{}` measures {}; from `{0}` it goes to `{}`",
        from.symbol(),
        name(from),
        to.symbol(),
        name(to),
        possible.join("`, `")
    ))
}
