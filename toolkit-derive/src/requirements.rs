//! Parsers of `requires(…)` and `icons = […]`.

use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use syn::{Expr, ExprLit, Lit, LitStr, Meta, Path};

use crate::value::{Report, flag, key_of, metas, text, texts, ungrouped, unknown, value_of};

/// The credentials that a tool requires.
#[derive(Clone, Default)]
pub(crate) struct Requirements {
    authorization: Vec<(LitStr, Vec<LitStr>)>,
    secrets: Vec<LitStr>,
    scopes: Vec<LitStr>,
    user_id: bool,
}

impl Requirements {
    /// Returns the value of the field `requirements`.
    pub(crate) fn expand(&self, krate: &Path) -> TokenStream {
        let authorization = self.authorization.iter().map(|(id, scopes)| {
            let scopes = quote!(#krate::texts(&[#(#scopes),*]));
            quote!(#krate::Authorization::new(#krate::text(#id), #scopes))
        });
        let Self { secrets, scopes, user_id, .. } = self;
        quote! {
            #krate::requirements(
                #krate::vec![#(#authorization),*],
                #krate::vec![#(#krate::Secret::new(#krate::text(#secrets))),*],
                #krate::texts(&[#(#scopes),*]),
                #user_id,
            )
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.authorization.is_empty() && self.secrets.is_empty() && self.scopes.is_empty() && !self.user_id
    }
}

/// Parses `requires(oauth2(id = "google", scopes = ["calendar"]), secret = "API_KEY", scopes = ["files:write"], user_id)`.
pub(crate) fn requires(meta: &Meta, report: &mut Report) -> Requirements {
    let mut requirements = Requirements::default();
    for meta in nested(meta, "requires(secret = \"API_KEY\")", report) {
        match key_of(&meta).as_str() {
            "oauth2" => requirements.authorization.extend(oauth2(&meta, report)),
            "secret" => requirements.secrets.extend(text(&meta, "API_KEY", report)),
            "scopes" => requirements.scopes.extend(texts(&meta, "files:write", report).unwrap_or_default()),
            "user_id" => requirements.user_id = flag(&meta, report) == Some(true),
            key => report.error(meta.path(), unknown("requires", key, &["oauth2", "scopes", "secret", "user_id"])),
        }
    }
    requirements
}

fn oauth2(meta: &Meta, report: &mut Report) -> Option<(LitStr, Vec<LitStr>)> {
    let mut id = None;
    let mut scopes = Vec::new();
    for meta in nested(meta, "oauth2(id = \"google\", scopes = [\"calendar\"])", report) {
        match key_of(&meta).as_str() {
            "id" => id = text(&meta, "google", report),
            "scopes" => scopes = texts(&meta, "calendar", report).unwrap_or_default(),
            key => report.error(meta.path(), unknown("oauth2", key, &["id", "scopes"])),
        }
    }
    if id.is_none() {
        report.error(meta.path(), "`oauth2` needs the id of a provider, as in `oauth2(id = \"google\")`");
    }
    Some((id?, scopes))
}

fn nested(meta: &Meta, example: &str, report: &mut Report) -> Vec<Meta> {
    let Meta::List(list) = meta else {
        report.error(meta, format!("`{}` takes a list, as in `{example}`", key_of(meta)));
        return Vec::new();
    };
    if let Some(TokenTree::Literal(value)) = list.tokens.clone().into_iter().next() {
        report.error(value, format!("expected the name of an argument before this value, as in `{example}`"));
        return Vec::new();
    }
    metas(list.tokens.clone(), report)
}

/// An icon that clients show.
#[derive(Clone)]
pub(crate) struct Icon {
    src: LitStr,
    mime_type: Option<LitStr>,
    sizes: Vec<LitStr>,
    theme: Option<LitStr>,
}

impl Icon {
    /// Returns one item of the field `icons`.
    pub(crate) fn expand(&self, krate: &Path) -> TokenStream {
        let option = |text: &Option<LitStr>| match text {
            Some(text) => quote!(#krate::Option::Some(#text)),
            None => quote!(#krate::Option::None),
        };
        let Self { src, sizes, .. } = self;
        let (mime_type, theme) = (option(&self.mime_type), option(&self.theme));
        quote!(#krate::icon(#src, #mime_type, &[#(#sizes),*], #theme))
    }
}

/// Parses `icons = ["https://example.com/a.png", icon(src = "…", mime_type = "image/png", sizes = ["48x48"], theme = "dark")]`.
pub(crate) fn icons(meta: &Meta, report: &mut Report) -> Vec<Icon> {
    let example = "icons = [icon(src = \"https://example.com/a.png\")]";
    let Some(Expr::Array(array)) = value_of(meta) else {
        report.error(meta, format!("`icons` must be a list, as in `{example}`"));
        return Vec::new();
    };
    let icons = array.elems.iter().filter_map(|item| match ungrouped(item) {
        Expr::Lit(ExprLit { lit: Lit::Str(src), .. }) => {
            Some(Icon { src: src.clone(), mime_type: None, sizes: Vec::new(), theme: None })
        }
        Expr::Call(call) if matches!(&*call.func, Expr::Path(path) if path.path.is_ident("icon")) => {
            let arguments = &call.args;
            let meta: Meta = syn::parse_quote!(icon(#arguments));
            icon(&meta, &call.func, report)
        }
        other => {
            report
                .error(other, format!("an icon must be a string literal (its source) or `icon(…)`, as in `{example}`"));
            None
        }
    });
    icons.collect()
}

fn icon(meta: &Meta, at: &Expr, report: &mut Report) -> Option<Icon> {
    let (mut src, mut mime_type, mut sizes, mut theme) = (None, None, Vec::new(), None);
    for meta in nested(meta, "icon(src = \"https://example.com/a.png\")", report) {
        match key_of(&meta).as_str() {
            "src" => src = text(&meta, "https://example.com/a.png", report),
            "mime_type" => mime_type = text(&meta, "image/png", report),
            "sizes" => sizes = texts(&meta, "48x48", report).unwrap_or_default(),
            "theme" => theme = text(&meta, "dark", report).and_then(|text| light_or_dark(text, report)),
            key => report.error(meta.path(), unknown("icon", key, &["src", "mime_type", "sizes", "theme"])),
        }
    }
    let Some(src) = src else {
        report.error(at, "an icon needs a source, as in `icon(src = \"https://example.com/a.png\")`");
        return None;
    };
    Some(Icon { src, mime_type, sizes, theme })
}

/// Accepts the two values that MCP defines. A strict client would reject the whole list for any other value.
fn light_or_dark(theme: LitStr, report: &mut Report) -> Option<LitStr> {
    if matches!(theme.value().as_str(), "light" | "dark") {
        return Some(theme);
    }
    report.error(&theme, "`theme` must be `\"light\"` or `\"dark\"`, the background that the icon is designed for");
    None
}
