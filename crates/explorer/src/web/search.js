// Search in the list of tools: words, `is:HINT` and `tag:TAG`.

/** Splits a query. */
export function parseQuery(text) {
  const query = { words: [], hints: [], tags: [] };
  for (const part of text.toLowerCase().split(/\s+/)) {
    if (part.startsWith("is:")) query.hints.push(part.slice(3));
    else if (part.startsWith("tag:")) query.tags.push(part.slice(4));
    else if (part !== "") query.words.push(...part.split(/[_:./-]+/).filter((word) => word !== ""));
  }
  return query;
}

function prepare(tool) {
  const words = (text) => text.replace(/([a-z\d])([A-Z])/g, "$1 $2").toLowerCase().split(/[^\p{L}\p{N}]+/u);
  return {
    name: words(tool.id.replace(/:\d[^:]*$/, "")),
    title: words(tool.title ?? ""),
    summary: words(tool.summary),
    tags: (tool.tags ?? []).map((tag) => tag.toLowerCase()),
  };
}

/** A search over tools. */
export class Search {
  constructor(tools) {
    this.tools = tools.map((tool) => ({ tool, words: prepare(tool) }));
  }

  /** Returns the tools that a query finds, the best first; all tools in their order for an empty query. */
  find(text) {
    const query = parseQuery(text);
    const scored = [];
    this.tools.forEach(({ tool, words }, idx) => {
      const hasLabels =
        query.hints.every((hint) => (tool.hints ?? []).includes(hint)) && query.tags.every((tag) => words.tags.includes(tag));
      if (!hasLabels) return;
      let score = 0;
      for (const word of query.words) {
        const own = wordScore(word, words);
        if (own === 0) return;
        score += own;
      }
      scored.push({ tool, score, idx });
    });
    scored.sort((a, b) => b.score - a.score || a.idx - b.idx);
    return scored.map(({ tool }) => tool);
  }
}

function wordScore(word, words) {
  const best = (list, exact, prefix) =>
    list.includes(word) ? exact : list.some((other) => other.startsWith(word)) ? prefix : 0;
  const name = best(words.name, 10, 7) || (words.name.join("").includes(word) ? 4 : 0);
  return Math.max(name, best(words.title, 6, 4), best(words.tags, 5, 3), best(words.summary, 3, 2));
}
