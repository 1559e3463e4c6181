//! Expansion of variables in a configuration file.

#[cfg(test)]
mod tests;

/// A source of variables.
pub(super) struct Variables<'c> {
    look_up: &'c dyn Fn(&str) -> Option<String>,
}

impl<'c> Variables<'c> {
    pub(super) fn new(look_up: &'c dyn Fn(&str) -> Option<String>) -> Self {
        Self { look_up }
    }

    /// Replaces `${NAME}`, `${NAME:-text}` and `${env:NAME}`. The values of variables are not expanded again.
    ///
    /// # Errors
    ///
    /// Returns an error for a variable that is not set, or one that only editors support. The error is a phrase without
    /// subject.
    pub(super) fn expand(&self, text: &str) -> Result<String, String> {
        let (mut expanded, mut rest) = (String::with_capacity(text.len()), text);
        while let Some((before, after)) = rest.split_once("${") {
            let Some((inside, after)) = after.split_once('}') else {
                break;
            };
            expanded.push_str(before);
            expanded.push_str(&self.value(inside)?);
            rest = after;
        }
        expanded.push_str(rest);
        Ok(expanded)
    }

    fn value(&self, inside: &str) -> Result<String, String> {
        let (name, instead) = match inside.split_once(":-") {
            Some((name, instead)) => (name, Some(instead)),
            None => (inside, None),
        };
        let name = name.strip_prefix("env:").unwrap_or(name);
        if name.contains(':') {
            return Err(format!("uses `${{{}}}`, which only editors support", inside.escape_debug()));
        }
        let set = (self.look_up)(name).filter(|value| instead.is_none() || !value.is_empty());
        set.or_else(|| instead.map(str::to_owned)).ok_or_else(|| {
            let name = name.escape_debug();
            format!(
                "refers to the environment variable `{name}`, which is not set; write `${{{name}:-…}}` for a default"
            )
        })
    }
}
