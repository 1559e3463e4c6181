//! Tools with hostile texts.

use serde_json::json;
use toolkit::Tool;

/// The texts. They try to become markup, links, scripts or requests, to end the element that contains them, and to
/// hide characters.
pub const TEXTS: [&str; 22] = [
    "</script><script>document.title='hacked'</script>",
    "\"><img src=x onerror=\"document.title='hacked'\">",
    "'><svg/onload=document.title='hacked'>",
    "</style><style>body{display:none}</style>",
    "<!-- <script> --><!DOCTYPE html><base href=//evil.example/>",
    "]]><!--",
    "<meta http-equiv=refresh content=0;url=https://evil.example/>",
    "<iframe src=https://evil.example/></iframe><link rel=stylesheet href=https://evil.example/x.css>",
    "</code></pre></details></article></main><h1>Another page</h1>",
    "[click](javascript:document.title='hacked') [again](JaVaScRiPt:alert) [data](data:text/html,<script>)",
    "[page](//evil.example) [file](file:///etc/passwd) [fine](https://example.org/?a=1&b=\"2\"'3')",
    "![pixel](https://evil.example/pixel.gif) [![badge](https://evil.example/b.svg)](https://example.org)",
    "<https://example.org/> <javascript:alert(1)> [a]: javascript:x\n\n[a]\n\n[a]: javascript:alert(1)",
    "turned \u{202e}around\u{202c}, joined\u{200b}up, \u{2066}kept apart\u{2069}, \u{feff}marked",
    "a line\u{2028}and a paragraph\u{2029}within",
    "tags \u{e0048}\u{e0069}\u{e007f} and \u{7}bells\0",
    "&lt;script&gt; &#60;b&#62; &amp;amp; &NotEqualTilde;",
    "| a | b |\n|:-:|--:|\n| <td> | `</td>` |\n\n# Heading {#main}\n\n```html onload=x\n</code>\n```",
    "${7*7} {{7*7}} <%= 7*7 %> `\u{202e}code` ``` </textarea></title>",
    "id=\"~page-search\" name=found",
    "> > > > > > > > > > > > > > > > > > > > - - - - - - - deep",
    "*[_`<a href=\"https://evil.example\" onclick=x>`_](https://example.org 'title\" onclick=x')*",
];

/// Returns a tool for each of the texts, with the text in every field that accepts one.
///
/// # Panics
///
/// Panics if a tool with one of the texts is rejected.
#[must_use]
pub fn tools() -> Vec<Tool> {
    TEXTS.iter().enumerate().map(|(idx, text)| tool(idx, text)).collect()
}

/// Texts that try to end a comment or a literal of a program, to be an instruction to its compiler, or to hide.
const CODE: [&str; 25] = [
    "*/",
    "**/*.ts",
    "*\u{200b}/",
    "/*",
    "//",
    "\n",
    "\r",
    "\r\n",
    "\u{2028}",
    "\u{2029}",
    "\u{85}",
    "\u{b}\u{c}",
    "\"",
    "'",
    "`",
    "\\",
    "\\u002a/",
    "${tools}",
    "@ts-ignore",
    "@ts-expect-error",
    "@ts-nocheck",
    "/ <reference path=\"x\" />",
    "\u{202e}}\u{2066}",
    "\u{feff}\0\u{7f}",
    "# sourceMappingURL=x",
];

/// Returns tools with texts that would change the structure of a program in which they are not escaped. The first one
/// has a harmless text.
///
/// # Panics
///
/// Panics if a tool with one of the texts is rejected.
#[must_use]
pub fn tools_of_code() -> Vec<Tool> {
    let mut texts = vec!["harmless".to_owned()];
    for code in CODE.iter().chain(&TEXTS) {
        texts.push((*code).to_owned());
        texts.push(format!("{code} evil(): void; x: {{"));
        texts.push(format!("some text {code}}}; export const evil = 1; //"));
        texts.push(format!("a\n{code}\n  {code}"));
        texts.push(format!("{code}{code}"));
    }
    texts.iter().enumerate().map(|(idx, text)| tool(idx, text)).collect()
}

fn tool(idx: usize, text: &str) -> Tool {
    let schema = json!({
        "type": "object",
        "title": text,
        "description": text,
        "properties": {
            text: { "description": text, "default": text, "enum": [text, "other"], "pattern": text, "format": text },
            "nested": {
                "anyOf": [
                    { "title": text, "type": text, "properties": { text: { "type": [text], "const": text } } },
                    { "type": "array", "items": { "oneOf": [{ "const": text, "description": text }] } },
                    { "minLength": text, "minimum": text, "$ref": text },
                ],
            },
        },
        "required": [text],
        "examples": [{ text: text }],
    });
    let tool = json!({
        "name": format!("{idx}{text}"),
        "namespace": text,
        "version": text,
        "title": text,
        "description": text,
        "category": text,
        "tags": [text],
        "annotations": { "title": text, "readOnlyHint": false, "destructiveHint": true },
        "aliases": [format!("{text}{idx}")],
        "deprecated": text,
        "examples": [{ text: text }],
        "requirements": {
            "authorization": [{ "id": text, "oauth2": { "scopes": [text] } }],
            "secrets": [{ "id": text }],
            "user_id": true,
        },
        "inputSchema": schema,
        "outputSchema": schema,
    });
    Tool::from_json(tool).unwrap_or_else(|error| panic!("{text:?}: {error}"))
}
