// Uses the explorer in a browser as people do: `tests/explorer/run`.

import { apps } from "./apps.mjs";
import { features } from "./features.mjs";
import { counts, runAll, serve, serveProgram } from "./harness.mjs";
import { hostile } from "./hostile.mjs";
import { real } from "./real.mjs";
import { roundTrip } from "./roundtrip.mjs";
import { security } from "./security.mjs";
import { shots } from "./shots.mjs";
import { snippets } from "./snippets.mjs";

const open = await serve();
const locked = await serve({ EXPLORER_TOKEN: "s3cr3t-t0ken-mark" });
const witness = `${process.cwd()}/witness-${process.pid}`;
const hasData = process.env.EXPLORER_HAS_DATA === "1";
const many = hasData ? await serve({ EXPLORER_REAL: "1" }) : null;
const witnessed = hasData ? { ...(await serve({ EXPLORER_REAL: "1", EXPLORER_WITNESS: witness })), witness } : null;
const examples = await serveProgram();

// The long ones first, so that they end together.
real(() => many);
hostile(() => open);
roundTrip(() => witnessed);
shots(() => open, () => locked);
features(() => open);
security(() => open, () => locked);
snippets(() => open, () => locked, () => examples);
apps(examples.program);

const failed = await runAll();
const { checks, axe, hostile: texts, roundTrips, skipped } = counts;
console.log(`${checks} passed, ${failed} failed, ${skipped} skipped; ${axe} states checked with axe, ${texts} hostile texts, ${roundTrips} round trips`);
process.exit(failed === 0 ? 0 : 1);
