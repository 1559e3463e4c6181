// Compiles the declarations in a folder with `tsc --strict`: none has a diagnostic, valid calls have none, and calls
// that are not valid have one.
//
//     node typescript.mjs FOLDER
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

const folder = process.argv[2];
const read = (name) => readFileSync(join(folder, name), "utf8");
// The compiler parses its own declarations only once.
const library = new Map();

/** Returns the diagnostics of some files, which are one program. */
function compile(names) {
  const { ES2022: target } = ts.ScriptTarget;
  const options = { strict: true, noEmit: true, skipDefaultLibCheck: true, target, lib: ["lib.es2022.d.ts"], types: [] };
  const host = ts.createCompilerHost(options);
  const { getSourceFile } = host;
  host.getSourceFile = (name, ...rest) => {
    if (!library.has(name)) library.set(name, getSourceFile(name, ...rest));
    return library.get(name);
  };
  const program = ts.createProgram(names.map((name) => join(folder, name)), options, host);
  return ts.getPreEmitDiagnostics(program);
}

const message = ({ file, start, messageText }) =>
  `${file?.fileName}:${file?.getLineAndCharacterOfPosition(start).line}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`;

/** Returns the lines of a file that have diagnostics. There are none in the declarations. */
function rejected(name) {
  const lines = new Map();
  for (const diagnostic of compile([`${name}.d.ts`, `${name}.ts`])) {
    assert.ok(diagnostic.file?.fileName.endsWith(`${name}.ts`), message(diagnostic));
    lines.set(diagnostic.file.getLineAndCharacterOfPosition(diagnostic.start).line, message(diagnostic));
  }
  return lines;
}

/** Returns the structure of a node, without names and texts. */
function shape(node) {
  const parts = [];
  ts.forEachChild(node, (child) => void parts.push(shape(child)));
  const isName = ts.isIdentifier(node) || ts.isStringLiteral(node);
  return isName ? "text" : `${ts.SyntaxKind[node.kind]}(${parts.join(",")})`;
}

const percent = (part, whole) => `${((100 * part) / whole).toFixed(1)} %`;
const names = readdirSync(folder).filter((name) => /^(real|hostile)-.*\.d\.ts$/.test(name));
for (const name of names) assert.deepEqual(compile([name]).map(message), [], name);
console.log(`${names.length} files of declarations compiled by tsc ${ts.version}`);

let nHostile = 0;
for (const name of names.filter((name) => name.startsWith("hostile"))) {
  const file = ts.createSourceFile(name, read(name), ts.ScriptTarget.ES2022);
  const [namespace, ...others] = file.statements;
  const functions = namespace.body.statements.filter(ts.isFunctionDeclaration);
  const [harmless, ...hostile] = functions.map(shape);
  assert.deepEqual(others, []);
  for (const [nth, found] of hostile.entries()) assert.equal(found, harmless, `${name}: ${nth + 1}`);
  nHostile += hostile.length;
}
console.log(`${nHostile} tools with hostile texts have the structure of a harmless one`);

{
  const cases = JSON.parse(read("names.json"));
  assert.deepEqual([...rejected("names").values()], []);
  console.log(`${cases.length} tools are called by their names`);
}

if (existsSync(join(folder, "calls.json"))) {
  const cases = JSON.parse(read("calls.json"));
  const wrong = rejected("calls");
  const count = (filter) => cases.filter(filter).length;
  const isAccepted = (_, line) => !wrong.has(line);
  const nValid = count((one) => one.valid);
  const nAccepted = count((one, line) => one.valid && isAccepted(one, line));
  console.log(`${nAccepted} of ${nValid} valid calls are accepted, ${percent(nAccepted, nValid)}`);
  if (process.env.VERBOSE) cases.forEach((one, line) => one.valid && wrong.has(line) && console.log(wrong.get(line)));
  let [nInvalid, nRejected] = [0, 0];
  for (const kind of ["type", "enum", "required", "call"]) {
    const ofKind = count((one) => !one.valid && one.kind === kind);
    const found = count((one, line) => !one.valid && one.kind === kind && wrong.has(line));
    if (kind !== "call") [nInvalid, nRejected] = [nInvalid + ofKind, nRejected + found];
    console.log(`${found} of ${ofKind} invalid calls are rejected (${kind})`);
  }
  console.log(`${nRejected} of ${nInvalid} mutations are rejected, ${percent(nRejected, nInvalid)}`);
  assert.ok(nAccepted >= 0.99 * nValid && nRejected >= 0.9 * nInvalid);
}

if (existsSync(join(folder, "suite.json"))) {
  const cases = JSON.parse(read("suite.json"));
  const wrong = rejected("suite");
  const unreported = [];
  let nExact = 0;
  for (const [line, one] of cases.entries()) {
    if (one === null) continue;
    const isExact = wrong.has(line) !== one.valid;
    nExact += isExact;
    const isReported = one.valid ? one.narrowed : one.widened;
    if (!isExact && !isReported) unreported.push(`${one.kind} (valid: ${one.valid}) ${wrong.get(line) ?? ""}`);
  }
  assert.deepEqual(unreported, []);
  console.log(`${nExact} of ${cases.length - 1} instances of the official suite agree; a loss reports each other`);
}
