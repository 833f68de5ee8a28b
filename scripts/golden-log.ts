// Adds a golden log: `npm run golden-log -- NAME` writes test/golden/logs/v<format>-NAME.jsonl with the store of today.
// A golden log is never changed afterwards: logs of every release load for ever.
import { constants } from "node:fs";
import { copyFile, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { logVersion } from "../keel/src/protocol/event/durable.ts";
import { jsonlStore } from "../keel/src/store/jsonl/store.ts";
import { everyEvent } from "../test/store/every-event.ts";

const USAGE_EXIT = 64;
const STARTED_AT = Date.UTC(2026, 10, 15, 10);
const session = "0193f0a0-0000-7000-8000-000000000001";
const [name] = process.argv.slice(2);

if (!name || !/^[a-z0-9-]+$/.test(name)) {
  console.error("Use: npm run golden-log -- NAME (small letters, digits and hyphens)");
  process.exit(USAGE_EXIT);
}

const home = await mkdtemp(path.join(tmpdir(), "keel-golden-"));
try {
  const store = jsonlStore({ home, clock: { now: () => STARTED_AT } });
  const log = await store.create(session, { cwd: "/srv/project" });
  await log.append(
    everyEvent.map((event, index) => ({ seq: index + 1, at: STARTED_AT + index, session, ...event })),
  );
  await log.close();
  const target = path.resolve(import.meta.dirname, `../test/golden/logs/v${logVersion}-${name}.jsonl`);
  await mkdir(path.dirname(target), { recursive: true });
  await copyFile(store.location(session) ?? "", target, constants.COPYFILE_EXCL);
  console.log(`golden log: ${path.relative(process.cwd(), target)}, ${everyEvent.length} events`);
} finally {
  await rm(home, { recursive: true });
}
