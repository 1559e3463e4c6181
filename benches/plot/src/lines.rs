//! Lines over a logarithmic axis, each with its name at its end.

use crate::scale::{Scale, short};
use crate::svg::{CHARACTER, Svg};

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 300.0;

/// A plot of lines.
pub(crate) struct Lines {
    pub(crate) title: String,
    /// The meaning of the values, and their unit.
    pub(crate) axis: String,
    pub(crate) x_axis: String,
    /// True for a logarithmic axis of the values.
    pub(crate) is_log: bool,
    pub(crate) lines: Vec<Line>,
}

/// A line through points from left to right.
pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) points: Vec<[f64; 2]>,
}

impl Lines {
    pub(crate) fn to_svg(&self) -> String {
        let mut svg = Svg::new(WIDTH);
        let longest = self.lines.iter().map(|line| line.name.chars().count()).max().unwrap_or(0);
        let (left, right) = (52.0, WIDTH - 22.0 - longest as f64 * CHARACTER);
        let (top, bottom) = (54.0, HEIGHT - 40.0);
        let of = |axis: usize| self.lines.iter().flat_map(move |line| line.points.iter().map(move |point| point[axis]));
        let x = Scale::log(of(0), left, right);
        let y = match self.is_log {
            true => Scale::log(of(1), bottom, top),
            false => Scale::linear(of(1), bottom, top),
        };
        svg.text(10.0, 20.0, "title", "start", &self.title);
        svg.text(10.0, 38.0, "quiet", "start", &self.axis);
        for tick in y.ticks() {
            svg.line([left, y.at(tick)], [right, y.at(tick)], "grid");
            svg.text(left - 6.0, y.at(tick) + 4.0, "quiet", "end", &short(tick));
        }
        for tick in x.ticks() {
            svg.line([x.at(tick), top], [x.at(tick), bottom], "grid");
            svg.text(x.at(tick), bottom + 16.0, "quiet", "middle", &short(tick));
        }
        svg.text((left + right) / 2.0, HEIGHT - 8.0, "quiet", "middle", &self.x_axis);
        for (nth, line) in self.lines.iter().enumerate() {
            let points: Vec<[f64; 2]> = line.points.iter().map(|[at, value]| [x.at(*at), y.at(*value)]).collect();
            svg.path(&points, &format!("c{nth}"));
            points.iter().for_each(|point| svg.point(*point, &format!("f{nth}")));
        }
        for (name, [end, at]) in self.labels(&x, &y) {
            svg.text(end + 8.0, at + 4.0, "", "start", name);
        }
        let described: Vec<String> = self.lines.iter().map(Line::described).collect();
        svg.finish(HEIGHT, &self.title, &format!("{}, by {}. {}", self.axis, self.x_axis, described.join(". ")))
    }

    /// Returns the names at the ends of the lines, moved apart where they would overlap.
    fn labels(&self, x: &Scale, y: &Scale) -> Vec<(&str, [f64; 2])> {
        const HEIGHT: f64 = 14.0;

        let ends = self.lines.iter().filter_map(|line| Some((&*line.name, *line.points.last()?)));
        let mut labels: Vec<(&str, [f64; 2])> =
            ends.map(|(name, [at, value])| (name, [x.at(at), y.at(value)])).collect();
        labels.sort_by(|a, b| b.1[1].total_cmp(&a.1[1]));
        for nth in 1..labels.len() {
            let below = labels[nth - 1].1[1];
            let label = &mut labels[nth].1[1];
            *label = label.min(below - HEIGHT);
        }
        labels
    }
}

impl Line {
    fn described(&self) -> String {
        let points: Vec<String> = self.points.iter().map(|[x, y]| format!("{} at {}", short(*y), short(*x))).collect();
        format!("{}: {}", self.name, points.join(", "))
    }
}
