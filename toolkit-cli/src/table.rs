//! The properties of an object as a table, nested objects indented below their own row.

use std::io::{self, Write};

use crate::shape::{Kind, Property, Shape, constraints, kind_in_words};
use crate::style::{FAINT, PLAIN, STRONG, padded, printable, width, wrapped};

/// Deeper than this a table explains nothing; a recursive type has no bottom.
const MAX_DEPTH: usize = 4;
/// A long list of choices must not push the descriptions off the page.
const MAX_KIND_COLUMNS: usize = 34;
const MIN_TEXT_COLUMNS: usize = 24;

/// Whose properties they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// The caller gives them, and must know which it needs to give.
    Arguments,
    /// The tool gives them.
    Result,
}

struct Row {
    name: String,
    kind: String,
    need: String,
    text: String,
}

/// Writes `properties` in at most `columns`, as far as they fit at all.
pub(crate) fn write(out: &mut impl Write, side: Side, properties: &[Property<'_>], columns: usize) -> io::Result<()> {
    let mut rows = Vec::new();
    add_rows(properties, side, &mut Vec::new(), &mut rows);
    let widest = |cell: fn(&Row) -> &str, most: usize| {
        let widths = rows.iter().map(|row| width(cell(row)));
        widths.filter(|columns| *columns <= most).max().unwrap_or(0)
    };
    let name_columns = widest(|row| &row.name, 32);
    let kind_columns = widest(|row| &row.kind, MAX_KIND_COLUMNS);
    let need_columns = widest(|row| &row.need, 24);
    let indent = 2 + name_columns + 2 + kind_columns + 2 + need_columns + 2;
    let text_columns = columns.saturating_sub(indent).max(MIN_TEXT_COLUMNS);

    for row in &rows {
        let mut lines = wrapped(&row.text, text_columns).into_iter();
        let fits =
            width(&row.name) <= name_columns && width(&row.kind) <= kind_columns && width(&row.need) <= need_columns;
        // A row whose cells are too long has its text on the lines below.
        let first = if fits { lines.next() } else { None };
        let first = first.unwrap_or_default();
        let mut cells = vec![(STRONG, &row.name, name_columns), (PLAIN, &row.kind, kind_columns)];
        if need_columns > 0 {
            cells.push((FAINT, &row.need, need_columns));
        }
        cells.push((PLAIN, &first, 0));
        // No spaces behind the last cell that says something.
        while cells.last().is_some_and(|(_, text, _)| text.is_empty()) {
            cells.pop();
        }
        let n_cells = cells.len();
        for (idx, (paint, text, columns)) in cells.into_iter().enumerate() {
            let columns = if idx + 1 == n_cells { 0 } else { columns };
            write!(out, "  {paint}{}{}", padded(text, columns), paint.clear())?;
        }
        writeln!(out)?;
        for line in lines {
            writeln!(out, "{}{line}", " ".repeat(indent))?;
        }
    }
    Ok(())
}

/// `within` are the objects around these properties.
fn add_rows<'s>(properties: &[Property<'s>], side: Side, within: &mut Vec<Shape<'s>>, rows: &mut Vec<Row>) {
    for property in properties {
        let kind = property.kind();
        rows.push(row(property, &kind, side, within.len()));
        let nested = match &kind {
            Kind::List(shape) | Kind::Map(Some(shape)) => Some(shape.clone()),
            _ => property.shape().cloned(),
        };
        let Some(nested) = nested else { continue };
        // A recursive type is explained where it begins.
        let is_explained = within.iter().any(|outer| outer.is(&nested));
        if is_explained || within.len() == MAX_DEPTH {
            continue;
        }
        if let Kind::Object(properties) = nested.kind() {
            within.push(nested);
            add_rows(&properties, side, within, rows);
            within.pop();
        }
    }
}

fn row(property: &Property<'_>, kind: &Kind<'_>, side: Side, depth: usize) -> Row {
    let need = match (side, property.default()) {
        (Side::Arguments, Some(default)) => format!("default {default}"),
        (Side::Arguments, None) if property.required => "required".to_owned(),
        (Side::Result, _) if property.required => String::new(),
        _ => "optional".to_owned(),
    };
    let mut text = String::new();
    if let Some(description) = property.description() {
        text.push_str(&printable(description));
    }
    let limits = property.shape().map(constraints).unwrap_or_default();
    if !limits.is_empty() {
        let space = if text.is_empty() { "" } else { " " };
        text.push_str(&format!("{space}({})", printable(&limits.join("; "))));
    }
    if let Kind::Choice(choices) = kind {
        for choice in choices {
            if let Some(description) = choice.description {
                let line_break = if text.is_empty() { "" } else { "\n" };
                text.push_str(&format!("{line_break}{}: {}", printable(choice.value), printable(description)));
            }
        }
    }
    let or_null = if property.is_nullable() && property.required { " or null" } else { "" };
    Row {
        name: format!("{}{}", "  ".repeat(depth), printable(property.name)),
        kind: format!("{}{or_null}", printable(&kind_in_words(kind))),
        need: printable(&need).into_owned(),
        text,
    }
}
