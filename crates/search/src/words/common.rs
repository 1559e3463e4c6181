//! Words that requests and tools of any kind contain, for `evidence`. Stop words are in `words`.

/// Returns true if a stem belongs to a common word, or is a number. Such words carry no topic of a request.
pub(crate) fn is_common(stem: &str) -> bool {
    stem.bytes().all(|byte| byte.is_ascii_digit()) || COMMON_STEMS.binary_search(&stem).is_ok()
}

/// The stems of common words, in ascending order.
#[rustfmt::skip]
const COMMON_STEMS: [&str; 185] = [
    "access", "act", "action", "add", "addit", "allow", "anoth", "appli", "ask", "avail", "base", "basic", "begin",
    "best", "better", "bring", "chang", "check", "choos", "come", "common", "complet", "consid", "contain",
    "correct", "creat", "current", "data", "default", "defin", "describ", "descript", "detail", "determin",
    "differ", "display", "easili", "either", "end", "ensur", "enter", "everi", "exact", "exampl", "exist", "expect",
    "explain", "fetch", "find", "first", "follow", "format", "full", "general", "generat", "get", "go", "good",
    "great", "group", "handl", "hold", "id", "identifi", "import", "includ", "individu", "info", "inform", "input",
    "interest", "item", "keep", "kind", "know", "last", "late", "latest", "learn", "list", "long", "lot", "main",
    "make", "manag", "mani", "much", "multipl", "name", "new", "next", "note", "now", "number", "obtain", "old",
    "one", "open", "option", "origin", "output", "particular", "per", "perform", "possibl", "potenti", "prefer",
    "prepar", "present", "previous", "proper", "provid", "put", "question", "quick", "read", "realli", "receiv",
    "recent", "recommend", "record", "regard", "relat", "relev", "remov", "replac", "request", "requir", "result",
    "retriev", "return", "right", "run", "save", "search", "second", "see", "select", "send", "seri", "set",
    "sever", "share", "show", "similar", "simpl", "singl", "specif", "specifi", "start", "still", "stop", "suggest",
    "suppli", "support", "sure", "take", "test", "thing", "think", "third", "three", "togeth", "total", "tri",
    "turn", "two", "type", "uniqu", "updat", "use", "valu", "varieti", "various", "via", "view", "way", "well",
    "whole", "wish", "within", "without", "work", "write", "yes",
];

#[cfg(test)]
mod tests {
    use super::COMMON_STEMS;

    #[test]
    fn common_stems_are_sorted() {
        assert!(COMMON_STEMS.is_sorted());
    }
}
