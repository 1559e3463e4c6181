// Event streams that are read with `fetch`, whose requests can have a token.

const MAX_EVENT = 64 << 20;

/** Calls a function with the data of each event. */
export async function readEvents(response, receive) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let data = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    if (rest.length > MAX_EVENT) throw new Error("an event of the server is too large");
    for (const full of lines) {
      const line = full.endsWith("\r") ? full.slice(0, -1) : full;
      if (line === "") {
        if (data.length > 0) receive(data.join("\n"));
        data = [];
        size = 0;
      } else if (line.startsWith("data:")) {
        size += line.length;
        if (size > MAX_EVENT) throw new Error("an event of the server is too large");
        data.push(line.slice(line[5] === " " ? 6 : 5));
      }
    }
  }
}
