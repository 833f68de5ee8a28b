// One call of the path corpus in a process that rights apply to. Run by a test as a user without rights.
import { type RunWish, runCall } from "./path-run.ts";

const wish: RunWish = JSON.parse(process.argv[2] ?? "{}");
process.stdout.write(`${JSON.stringify(await runCall(wish))}\n`);
