// Uses the explorer in a browser as people do: `tests/explorer/run`.

import { counts, runAll, serve } from "./harness.mjs";
import { shots } from "./shots.mjs";

const open = await serve();
const locked = await serve({ EXPLORER_TOKEN: "s3cr3t-t0ken-mark" });

shots(() => open, () => locked);

const failed = await runAll();
console.log(`${counts.checks} passed, ${failed} failed, ${counts.skipped} skipped; ${counts.axe} states checked with axe`);
process.exit(failed === 0 ? 0 : 1);
