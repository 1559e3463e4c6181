//! Parser of the arguments of `import!`.

use std::collections::BTreeSet;

use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Error, Ident, LitStr, Path, Result, Token, Visibility, bracketed, parse_quote};

use crate::name::did_you_mean;

/// The arguments of
/// `import!(pub mod github = "github.json", server = "gh", only = ["create_issue"], except = ["x"], crate = ::tk)`.
pub(crate) struct Import {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) module: Ident,
    pub(crate) path: LitStr,
    /// The namespace of the tools. Defaults to the name of the module.
    pub(crate) server: String,
    pub(crate) only: Option<Vec<LitStr>>,
    pub(crate) except: Vec<LitStr>,
    pub(crate) krate: Path,
}

const OPTIONS: [&str; 4] = ["server", "only", "except", "crate"];

impl Parse for Import {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        if !input.peek(Token![mod]) {
            return Err(input.error("expected a module, as in `mod github = \"github.json\"`"));
        }
        input.parse::<Token![mod]>()?;
        let module: Ident = input.parse()?;
        input.parse::<Token![=]>()?;
        let path = input.parse()?;
        let server = module.to_string().trim_start_matches("r#").to_owned();
        let krate = parse_quote!(::toolkit);
        let mut import = Self { attributes, visibility, module, path, server, only: None, except: Vec::new(), krate };
        let mut seen = BTreeSet::new();
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            import.option(input, &mut seen)?;
        }
        Ok(import)
    }
}

impl Import {
    fn option(&mut self, input: ParseStream<'_>, seen: &mut BTreeSet<String>) -> Result<()> {
        // `crate` is a keyword.
        let option = input.call(Ident::parse_any)?;
        let name = option.to_string();
        if !OPTIONS.contains(&&*name) {
            let known = || format!("; expected one of {}", OPTIONS.map(|option| format!("`{option}`")).join(", "));
            let hint = did_you_mean(&name, OPTIONS.into_iter()).unwrap_or_else(known);
            return Err(Error::new(option.span(), format!("unknown option `{name}`{hint}")));
        }
        if !seen.insert(name.clone()) {
            return Err(Error::new(option.span(), format!("duplicate option `{name}`")));
        }
        input.parse::<Token![=]>()?;
        match &*name {
            "server" => self.server = namespace(&input.parse()?)?,
            "only" => self.only = Some(names(input)?),
            "except" => self.except = names(input)?,
            _ => self.krate = input.call(Path::parse_mod_style)?,
        }
        let is_absolute = self.krate.leading_colon.is_some()
            || self.krate.segments.first().is_some_and(|first| first.ident == "crate");
        if !is_absolute {
            return Err(Error::new_spanned(
                &self.krate,
                "`crate` must be an absolute path, as in `crate = ::my_toolkit`",
            ));
        }
        Ok(())
    }
}

/// Checks that the text can be a namespace. Its length is checked by the catalog.
fn namespace(text: &LitStr) -> Result<String> {
    let server = text.value();
    if server.is_empty() || !server.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')) {
        return Err(Error::new(text.span(), "`server` must be a namespace: use letters, digits, `_`, `-` and `.`"));
    }
    Ok(server)
}

fn names(input: ParseStream<'_>) -> Result<Vec<LitStr>> {
    let list;
    bracketed!(list in input);
    Ok(Punctuated::<LitStr, Token![,]>::parse_terminated(&list)?.into_iter().collect())
}
