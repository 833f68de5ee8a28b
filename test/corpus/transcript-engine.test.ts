// Broken transcripts, at the level of the engine: whatever the store could save, the session goes on with a valid
// request, runs nothing again by itself, and tells the model which calls have an unknown outcome.
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { jsonlStore } from "../../keel/src/store/jsonl/store.ts";
import { memoryWorkspace } from "../../keel/src/testing/memory-workspace.ts";
import { reply } from "../../keel/src/testing/reply.ts";
import { findViolations } from "../../keel/src/testing/request-rules.ts";
import { scriptedModel } from "../../keel/src/testing/scripted-model.ts";
import { builtInTools } from "../../keel/src/tools/catalog.ts";
import { type Home, makeHome } from "../store/home.ts";
import { openTestSession } from "../support/test-session.ts";
import { verifies } from "../support/verifies.ts";
import { applyOps, baseLines, toBytes } from "./transcript-map.ts";
import { readBase, readRows } from "./transcript-rows.ts";

const session = "5f0c2d3e-1111-4222-8333-444455556666";
const rows = readRows().filter(({ ops, expect: expected }) => ops && expected.resumable !== false);

let place: Home;
beforeEach(async () => {
  place = await makeHome();
});
afterEach(() => place.remove());

test("the transcript corpus is here", () => {
  expect(rows.length).toBeGreaterThan(30);
});

describe.each(["lost", "continue"] as const)(
  "a changed transcript whose unfinished turn is %s",
  (unfinished) => {
    test.each(rows)("$id $class: $why", async (row) => {
      verifies("G2", "G3", "G4");
      const file = path.join(place.home, "projects", "project", `${session}.jsonl`);
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, toBytes(applyOps(baseLines(readBase(row.base)), row.ops ?? [])));
      const log = await jsonlStore({ home: place.home }).open(session);
      const workspace = memoryWorkspace({ shell: () => ({ output: "ran\n" }) });
      const model = scriptedModel(
        { replies: [], otherwise: reply("I go on.") },
        { check: "none", law: "none" },
      );
      // Nobody is there to allow anything: what runs, runs by itself.
      const opened = await openTestSession({
        log,
        workspace,
        model,
        tools: builtInTools(),
        unfinished,
        answer: () => ({ verdict: "deny", reason: "nobody is here" }),
      });
      await opened.session.run();
      await opened.say("go on");
      await opened.session.close("ended");

      for (const request of model.requests) expect(findViolations(request)).toEqual([]);
      expect(model.requests.length).toBeGreaterThan(0);
      expect(workspace.effects).toHaveLength(row.expect.reRun ?? 0);
      const told = JSON.stringify(model.requests.at(-1)?.messages);
      for (const id of row.expect.synthetic ?? []) expect(told).toContain(`"callId":"${id}"`);
      if (row.expect.checkProto) expect(({} as Record<string, unknown>)["callId"]).toBeUndefined();
    });
  },
);
