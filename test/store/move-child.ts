// A process that moves sessions between files and the database, and says when it begins.
import { writeSync } from "node:fs";
import { jsonlStore, leasesOf } from "../../keel/src/store/jsonl/store.ts";
import { logPlaces } from "../../keel/src/store/log-places.ts";

const [home = "", to = ""] = process.argv.slice(2);
const places = logPlaces({
  home,
  now: Date.now,
  wish: async () => ({ kind: "jsonl" }),
  leases: leasesOf({ home }),
});
const { leases } = jsonlStore({ home, fs: places.fs, index: places.index });
writeSync(1, "ready\n");
for await (const { session } of places.move({ to: to === "sqlite" ? "sqlite" : "jsonl" }, leases))
  writeSync(1, `${session}\n`);
