//! Tables: padded columns below a header on a terminal, and otherwise tab-separated lines without a header.

use std::io::{self, Write};

#[cfg(any(feature = "durable", feature = "export"))]
use super::terminal_width;
use super::{DIM, Paint, padded, width};

/// The rows of a table, which contain neither tabs nor line breaks.
pub(crate) struct Table<const N: usize> {
    headers: [&'static str; N],
    rows: Vec<[String; N]>,
    columns: [usize; N],
}

impl<const N: usize> Table<N> {
    pub(crate) fn new(headers: [&'static str; N], rows: impl Iterator<Item = [String; N]>) -> Self {
        let rows: Vec<[String; N]> = rows.collect();
        let columns = std::array::from_fn(|nth| {
            let cells = rows.iter().map(|row| width(&row[nth]));
            cells.max().unwrap_or(0).max(width(headers[nth]))
        });
        Self { headers, rows, columns }
    }

    /// Writes the table to stdout. `paint` returns the style of a row of a terminal by its position.
    #[cfg(any(feature = "durable", feature = "export"))]
    pub(crate) fn write(&self, paint: impl Fn(usize) -> Paint) -> io::Result<()> {
        if terminal_width().is_none() {
            let mut out = io::stdout().lock();
            return self.rows.iter().try_for_each(|row| writeln!(out, "{}", row.join("\t")));
        }
        let mut out = anstream::stdout().lock();
        if !self.rows.is_empty() {
            self.write_header(&mut out)?;
        }
        (0..self.rows.len()).try_for_each(|nth| self.write_row(&mut out, nth, paint(nth)))
    }

    pub(crate) fn write_header(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "{DIM}{}{}", self.line(self.headers), DIM.clear())
    }

    pub(crate) fn write_row(&self, out: &mut impl Write, nth: usize, paint: Paint) -> io::Result<()> {
        writeln!(out, "{paint}{}{}", self.line(self.rows[nth].each_ref().map(String::as_str)), paint.clear())
    }

    fn line(&self, cells: [&str; N]) -> String {
        let cells = std::iter::zip(cells, self.columns).map(|(cell, columns)| padded(cell, columns));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    }
}
