// Small floods of processes; `npm run test:long -- floods` has the large ones, and the times that they may take.
import { expect, test } from "vitest";
import { floodAndStop } from "../support/flood.ts";
import { verifies } from "../support/verifies.ts";

test.each([
  ["sleeping children who ignore SIGTERM", "trap '' TERM; for i in $(seq 40); do sleep 600 & done; wait"],
  ["a loop of forks, capped", "bomb() { bomb | bomb & }; bomb; sleep 600"],
])("%s are ended, and the next command works", async (_, text) => {
  verifies("G12");
  const ended = await floodAndStop(text, { maxProcesses: 150, growMs: 500 });
  // Where it cannot be run, that was said.
  if (ended) expect(ended.stoppedMs).toBeLessThan(5_000);
});
