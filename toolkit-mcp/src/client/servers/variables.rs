//! Variables in the values of a configuration.

/// Where variables are looked up.
pub(super) struct Variables<'c> {
    look_up: &'c dyn Fn(&str) -> Option<String>,
}

impl<'c> Variables<'c> {
    pub(super) fn new(look_up: &'c dyn Fn(&str) -> Option<String>) -> Self {
        Self { look_up }
    }

    /// The text with `${NAME}`, `${NAME:-text}` and `${env:NAME}` replaced; what a variable holds is taken as it is.
    ///
    /// # Errors
    ///
    /// A variable is not set, or only an editor knows what is meant: a sentence without its subject.
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
            return Err(format!("asks for `${{{}}}`, which only an editor can give", inside.escape_debug()));
        }
        let set = (self.look_up)(name).filter(|value| instead.is_none() || !value.is_empty());
        set.or_else(|| instead.map(str::to_owned)).ok_or_else(|| {
            let name = name.escape_debug();
            format!("needs the environment variable `{name}`, which is not set; `${{{name}:-…}}` has a text instead")
        })
    }
}
