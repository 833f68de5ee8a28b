// A process that fills a memory index until it is killed. Says `begun` when it has taken in the first of it.
import { writeSync } from "node:fs";
import { openHomeIndex } from "./home-index.ts";

const [home = ""] = process.argv.slice(2);
const index = openHomeIndex(home);
const work = index.catchUp();
while ((await index.stats()).chunks === 0) await new Promise((resolve) => setImmediate(resolve));
writeSync(1, "begun\n");
await work;
await index.close();
writeSync(1, "done\n");
