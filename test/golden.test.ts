// Old data is sacred: every log that a release wrote loads for ever, whole and without a word.
import { globSync } from "node:fs";
import { copyFile, mkdir, readFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Durable, durableEventSchema, logVersion } from "../keel/src/protocol/event/durable.ts";
import { jsonlStore } from "../keel/src/store/jsonl/store.ts";
import { type Home, makeHome, readAll } from "./store/home.ts";

const folder = path.join(import.meta.dirname, "golden/logs");
const names = globSync("v*-*.jsonl", { cwd: folder }).sort();
const session = "0193f0a0-0000-7000-8000-000000000001";

let place: Home;
beforeEach(async () => {
  place = await makeHome();
});
afterEach(() => place.remove());

describe("golden logs", () => {
  test.each(names)("%s loads, every record of it, and can be continued", async (name) => {
    const { notices, events, records } = await load(name);
    expect(notices).toEqual([]);
    expect(events).toHaveLength(records.length);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  });

  test("of today's format hold every event that there is; `npm run golden-log` adds one that does", async () => {
    const types = new Set<string>();
    for (const name of names.filter((each) => each.startsWith(`v${logVersion}-`))) {
      for (const { type } of (await load(name)).events) types.add(type);
    }
    const known = durableEventSchema.def.options.map((option) => option.shape.type.def.values[0]);
    expect([...types].sort()).toEqual([...known].sort());
  });

  test("of today's format are read as they were written", async () => {
    const { events, records } = await load(`v${logVersion}-every-event.jsonl`);
    expect(events).toEqual(records);
  });
});

type Loaded = { readonly notices: unknown; readonly events: Durable[]; readonly records: unknown[] };

async function load(name: string): Promise<Loaded> {
  const file = path.join(place.home, "projects", "project", `${session}.jsonl`);
  await mkdir(path.dirname(file), { recursive: true });
  await copyFile(path.join(folder, name), file);
  const log = await jsonlStore({ home: place.home }).open(session);
  const events = await readAll(log.read());
  await log.append([{ seq: log.lastSeq + 1, at: 1, session, type: "context.cleared" }]);
  await log.close();
  const [, ...lines] = (await readFile(path.join(folder, name), "utf8")).trimEnd().split("\n");
  return { notices: log.notices, events, records: lines.map(withoutSum) };
}

function withoutSum(line: string): unknown {
  const { sum: _, ...record } = JSON.parse(line);
  return record;
}
