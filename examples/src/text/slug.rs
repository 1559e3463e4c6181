//! Third lesson, continued: defaults, which are part of the schema.

use toolkit::{ToolError, tool};

/// Converts a title into a short name for addresses and files: `Héllo, World!` becomes `hello-world`.
#[tool(namespace = "text", version = "1.0.0", category = "text", read_only, idempotent, open_world = false)]
pub fn slugify(
    /// The title.
    #[schemars(length(min = 1, max = 1000))]
    title: String,
    /// The separator between words.
    #[schemars(regex(pattern = "^[-_.]$"))]
    #[serde(default = "dash")]
    separator: String,
    /// The maximum number of characters of the result.
    #[schemars(range(min = 8, max = 200))]
    #[serde(default = "eighty")]
    max_length: usize,
) -> Result<String, ToolError> {
    let mut slug = String::new();
    for word in title.split(|c: char| !c.is_alphanumeric()) {
        let word: String = word.chars().filter_map(plain).flatten().collect();
        let room = max_length - slug.len().min(max_length);
        if word.is_empty() || (!slug.is_empty() && word.len() + separator.len() > room) {
            continue;
        }
        if !slug.is_empty() {
            slug.push_str(&separator);
        }
        slug.extend(word.chars().take(room));
    }
    if slug.is_empty() {
        return Err(ToolError::failed("nothing of the title can be written with a-z and 0-9; send a transliteration"));
    }
    Ok(slug)
}

/// Returns the ASCII form of a Latin letter or digit.
fn plain(c: char) -> Option<impl Iterator<Item = char>> {
    let lower = c.to_lowercase().next()?;
    let text = match lower {
        'a'..='z' | '0'..='9' => {
            return Some(String::from(lower).into_bytes().into_iter().map(char::from));
        }
        'ä' | 'æ' => "ae",
        'à'..='å' | 'ā' | 'ă' | 'ą' => "a",
        'ç' | 'ć' | 'č' => "c",
        'ď' | 'đ' | 'ð' => "d",
        'è'..='ë' | 'ē' | 'ė' | 'ę' | 'ě' => "e",
        'ì'..='ï' | 'ī' | 'į' | 'ı' => "i",
        'ł' | 'ľ' => "l",
        'ñ' | 'ń' | 'ň' => "n",
        'ò'..='õ' | 'ø' | 'ō' | 'ő' => "o",
        'ö' | 'œ' => "oe",
        'ř' => "r",
        'ß' => "ss",
        'ś' | 'š' | 'ş' | 'ș' => "s",
        'ť' | 'ţ' | 'ț' => "t",
        'ù'..='û' | 'ū' | 'ů' | 'ű' => "u",
        'ü' => "ue",
        'ý' | 'ÿ' => "y",
        'ź' | 'ż' | 'ž' => "z",
        'þ' => "th",
        _ => return None,
    };
    Some(text.to_owned().into_bytes().into_iter().map(char::from))
}

fn dash() -> String {
    "-".to_owned()
}

fn eighty() -> usize {
    80
}
