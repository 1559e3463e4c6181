//! Horizontal bars, each with its name and its value.

use crate::scale::{Scale, exact, short};
use crate::svg::{CHARACTER, Svg};

const WIDTH: f64 = 760.0;
const BAR: f64 = 13.0;
const GAP: f64 = 6.0;

/// A plot of bars in groups.
pub(crate) struct Bars {
    pub(crate) title: String,
    /// The meaning of the values, and their unit.
    pub(crate) axis: String,
    pub(crate) is_log: bool,
    /// A value that all others are compared with.
    pub(crate) reference: Option<f64>,
    pub(crate) groups: Vec<Group>,
}

/// Bars under a heading, which may be empty.
pub(crate) struct Group {
    pub(crate) heading: String,
    pub(crate) bars: Vec<Bar>,
}

/// A value, with its range over the rounds.
pub(crate) struct Bar {
    pub(crate) name: String,
    /// True for a bar of this project.
    pub(crate) is_own: bool,
    pub(crate) value: f64,
    pub(crate) range: Option<[f64; 2]>,
}

impl Bars {
    pub(crate) fn to_svg(&self) -> String {
        let mut svg = Svg::new(WIDTH);
        let bars = || self.groups.iter().flat_map(|group| &group.bars);
        let longest = bars().map(|bar| bar.name.chars().count()).max().unwrap_or(0);
        let left = 12.0 + longest as f64 * CHARACTER;
        let (top, right) = (62.0, WIDTH - 52.0);
        let values = bars().flat_map(|bar| [bar.value, bar.range.map_or(bar.value, |range| range[1])]);
        let scale = match self.is_log {
            true => Scale::log(values.chain(self.reference), left, right),
            false => Scale::linear(values, left, right),
        };
        let n_headings = self.groups.iter().filter(|group| !group.heading.is_empty()).count();
        let height = top + (bars().count() as f64 + 1.3 * n_headings as f64) * (BAR + GAP) + 8.0;
        svg.text(10.0, 20.0, "title", "start", &self.title);
        svg.text(10.0, 38.0, "quiet", "start", &self.axis);
        for tick in scale.ticks() {
            let x = scale.at(tick);
            svg.line([x, top - 4.0], [x, height - 8.0], "grid");
            svg.text(x, top - 8.0, "quiet", "middle", &short(tick));
        }
        let mut y = top;
        for group in &self.groups {
            if !group.heading.is_empty() {
                y += 0.3 * (BAR + GAP);
                svg.text(10.0, y + 11.0, "heading", "start", &group.heading);
                y += BAR + GAP;
            }
            for bar in &group.bars {
                let end = scale.at(bar.value).max(left + 1.0);
                svg.text(left - 6.0, y + 11.0, "", "end", &bar.name);
                svg.bar(left, y, end - left, BAR, if bar.is_own { "own" } else { "other" });
                let mut label = end;
                if let Some([low, high]) = bar.range {
                    let middle = y + BAR / 2.0;
                    svg.line([scale.at(low).max(left), middle], [scale.at(high), middle], "range");
                    label = label.max(scale.at(high));
                }
                svg.text(label + 5.0, y + 11.0, "", "start", &exact(bar.value));
                y += BAR + GAP;
            }
        }
        if let Some(reference) = self.reference {
            let x = scale.at(reference);
            svg.line([x, top - 4.0], [x, height - 8.0], "reference");
        }
        let described = self.groups.iter().map(|group| {
            let bars: Vec<String> =
                group.bars.iter().map(|bar| format!("{}: {}", bar.name, exact(bar.value))).collect();
            format!("{} {}", group.heading, bars.join("; ")).trim().to_owned()
        });
        let described: Vec<String> = described.collect();
        svg.finish(height, &self.title, &format!("{}. {}", self.axis, described.join(". ")))
    }
}
