//! Statements in the SQL that SQLite and Postgres share, and their values.

use std::borrow::Cow;

/// A statement with its parameters: `?1` is the first.
#[derive(Clone)]
pub(crate) struct Statement {
    pub(crate) sql: Cow<'static, str>,
    pub(crate) parameters: Vec<SqlValue>,
    /// True unless the statement only reads.
    pub(crate) writes: bool,
}

/// A parameter, or the value of a column.
#[derive(Clone, Debug)]
pub(crate) enum SqlValue {
    Integer(Option<i64>),
    Text(Option<String>),
}

/// A row that a statement returns.
pub(crate) struct Row(pub(crate) Vec<SqlValue>);

impl Statement {
    pub(crate) fn read(sql: impl Into<Cow<'static, str>>) -> Self {
        Self { sql: sql.into(), parameters: Vec::new(), writes: false }
    }

    pub(crate) fn write(sql: impl Into<Cow<'static, str>>) -> Self {
        Self { writes: true, ..Self::read(sql) }
    }

    /// Adds the next parameter.
    pub(crate) fn bind(mut self, value: impl Into<SqlValue>) -> Self {
        self.parameters.push(value.into());
        self
    }

    /// Adds a parameter for each text, and returns the list of their places: `?3, ?4`.
    pub(crate) fn bind_list<'v>(
        mut self,
        sql: impl FnOnce(&str) -> String,
        values: impl IntoIterator<Item = &'v str>,
    ) -> Self {
        let first = self.parameters.len();
        self.parameters.extend(values.into_iter().map(SqlValue::from));
        let places: Vec<String> = (first..self.parameters.len()).map(|nth| format!("?{}", nth + 1)).collect();
        self.sql = sql(&places.join(", ")).into();
        self
    }
}

impl Row {
    /// Returns the number of a column, or 0 if there is none.
    pub(crate) fn integer(&self, column: usize) -> i64 {
        match self.0.get(column) {
            Some(SqlValue::Integer(Some(number))) => *number,
            _ => 0,
        }
    }

    /// Takes the text of a column, if there is one.
    pub(crate) fn take_text(&mut self, column: usize) -> Option<String> {
        match self.0.get_mut(column) {
            Some(SqlValue::Text(text)) => text.take(),
            _ => None,
        }
    }

    /// Takes the text of a column that has one in each row.
    pub(crate) fn text(&mut self, column: usize) -> String {
        self.take_text(column).unwrap_or_default()
    }
}

impl From<i64> for SqlValue {
    fn from(number: i64) -> Self {
        Self::Integer(Some(number))
    }
}

impl From<usize> for SqlValue {
    fn from(number: usize) -> Self {
        Self::Integer(Some(i64::try_from(number).unwrap_or(i64::MAX)))
    }
}

impl From<Option<i64>> for SqlValue {
    fn from(number: Option<i64>) -> Self {
        Self::Integer(number)
    }
}

impl From<&str> for SqlValue {
    fn from(text: &str) -> Self {
        Self::Text(Some(text.to_owned()))
    }
}

impl From<Option<&str>> for SqlValue {
    fn from(text: Option<&str>) -> Self {
        Self::Text(text.map(str::to_owned))
    }
}
