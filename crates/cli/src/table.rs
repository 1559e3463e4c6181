//! Tables of properties, with nested objects indented below their row.

use std::io::{self, Write};

use crate::shape::{Kind, Property, Shape, constraints, describe_kind};
use crate::style::{BOLD, DIM, PLAIN, padded, printable, width, wrapped};

/// The maximum depth of nested objects, at which recursive types end.
const MAX_DEPTH: usize = 4;
/// The maximum width of the type column, which a long enumeration could fill otherwise.
const MAX_KIND_COLUMNS: usize = 34;
const MIN_TEXT_COLUMNS: usize = 24;

/// The origin of the properties, which determines the column "required".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Arguments of the tool: required ones are marked.
    Arguments,
    /// The result of the tool: optional ones are marked.
    Result,
}

struct Row {
    name: String,
    kind: String,
    need: String,
    text: String,
}

/// Writes a table of `properties`, wrapped to `columns` if possible.
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
        // If a cell is too long, the description starts on the next line.
        let first = if fits { lines.next() } else { None };
        let first = first.unwrap_or_default();
        let mut cells = vec![(BOLD, &row.name, name_columns), (PLAIN, &row.kind, kind_columns)];
        if need_columns > 0 {
            cells.push((DIM, &row.need, need_columns));
        }
        cells.push((PLAIN, &first, 0));
        // No trailing spaces.
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

/// Adds the rows of `properties`; `within` are the enclosing objects.
fn add_rows<'s>(properties: &[Property<'s>], side: Side, within: &mut Vec<Shape<'s>>, rows: &mut Vec<Row>) {
    for property in properties {
        let kind = property.kind();
        rows.push(row(property, &kind, side, within.len()));
        let nested = match &kind {
            Kind::List(shape) | Kind::Map(Some(shape)) => Some(shape.clone()),
            _ => property.shape().cloned(),
        };
        let Some(nested) = nested else { continue };
        // A recursive type is expanded once.
        let is_explained = within.iter().any(|outer| outer.is_same(&nested));
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
        kind: format!("{}{or_null}", printable(&describe_kind(kind))),
        need: printable(&need).into_owned(),
        text,
    }
}
