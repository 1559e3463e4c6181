// Has ajv compile every schema of the exports in two folders, each by the dialect that it names: in ajv's strict mode
// those that are written here, and as they are those that others wrote.
//
//     node schemas.mjs OURS THEIRS
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import Ajv from "ajv";
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

// Where the schemas of a tool are.
const PLACES = {
  mcp: (tool) => [tool.inputSchema, tool.outputSchema],
  openai: (tool) => [tool.parameters, tool.output_schema],
  "openai-chat": (tool) => [tool.function.parameters],
  anthropic: (tool) => [tool.input_schema],
  "gemini-interactions": (tool) => [tool.parameters],
  gemini: (tool) => tool.functionDeclarations.flatMap((each) => [each.parametersJsonSchema, each.responseJsonSchema]),
};

function schemasOf(folder, file, places) {
  const exported = JSON.parse(readFileSync(join(folder, file), "utf8"));
  return (exported.tools ?? exported).flatMap(places).filter((schema) => schema !== undefined);
}

function compilers(strict) {
  const made = [Ajv, Ajv2020].map((Dialect) => {
    // Strict about all but types that also allow `null`.
    const ajv = new Dialect({ strict, allowUnionTypes: true, logger: false });
    addFormats(ajv);
    // Gemini's keyword, which JSON Schema does not have.
    ajv.addKeyword({ keyword: "propertyOrdering", schemaType: "array" });
    // schemars' name for the format of a `chrono::NaiveDateTime`.
    return ajv.addFormat("partial-date-time", true);
  });
  return (schema) => {
    const ajv = made[schema.$schema?.includes("draft-07") ? 0 : 1];
    ajv.compile(schema);
    ajv.removeSchema(schema);
  };
}

const failures = [];
let total = 0;
process.argv.slice(2).forEach((folder, nth) => {
  const seen = new Set();
  const compile = compilers(nth === 0);
  for (const file of readdirSync(folder)) {
    const format = basename(file, ".json").replace("--strict", "");
    if (!(format in PLACES)) continue;
    for (const schema of schemasOf(folder, file, PLACES[format])) {
      try {
        compile(schema);
      } catch (error) {
        failures.push(`${file}: ${error.message}\n  ${JSON.stringify(schema)}`);
      }
      seen.add(format);
      total += 1;
    }
  }
  assert.deepEqual([...seen].sort(), Object.keys(PLACES).sort(), `every format has schemas in ${folder}`);
});
assert.deepEqual(failures, []);
console.log(`${total} schemas compiled by ajv`);
