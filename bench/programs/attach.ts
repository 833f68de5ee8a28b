/** A client that attaches to a long session: from the first word to the server until a screen's worth of it is folded. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { connect } from "../../keel/src/client/connect.ts";
import { rowsOf, transcriptOf } from "../../keel/src/view/transcript.ts";
import { runProgram } from "../program.ts";

type Options = { readonly server: string; readonly session: string };

/** Some screens of it, as the page asks for them. */
const screenEvents = 240;

await runProgram(async ({ server, session, ...place }: Options) => {
  const options = JSON.stringify({ session, ...place });
  const child = spawn(process.execPath, [server, options], { stdio: ["pipe", "pipe", "inherit"] });
  const [line] = await once(createInterface(child.stdout), "line");
  const client = connect(JSON.parse(String(line)));
  await client.greeting();
  const startedAt = performance.now();
  const { events } = await client.history({ session, last: screenEvents });
  const rows = rowsOf(transcriptOf(events)).length;
  const firstMs = performance.now() - startedAt;
  const last = events.at(-1)?.seq ?? 0;
  let whole = 0;
  const wholeFrom = performance.now();
  for await (const event of client.attach(session).events()) {
    whole += 1;
    if ("seq" in event && event.seq === last) break;
  }
  const wholeMs = performance.now() - wholeFrom;
  client.close();
  const exited = once(child, "exit");
  child.stdin.end();
  await exited;
  return { firstMs, wholeMs, rows, last, whole };
});
