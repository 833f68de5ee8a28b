/** A session in this process: says when it is open, and submits each line that it is given as a prompt. */
import path from "node:path";
import { createInterface } from "node:readline";
import { openHome } from "../../keel/src/app/home.ts";
import { openOptionsOf } from "../../keel/src/app/options.ts";
import { nearHandle } from "../../keel/src/app/sessions/near-handle.ts";
import { text } from "../../keel/src/protocol/message.ts";

const {
  home: place,
  cwd,
  url,
}: { home: string; cwd: string; url: string } = JSON.parse(process.argv[2] ?? "{}");
const env = {
  PATH: process.env["PATH"],
  HOME: place,
  KEEL_HOME: path.join(place, ".keel"),
  ANTHROPIC_BASE_URL: url,
  ANTHROPIC_API_KEY: "bench",
};
const home = openHome({ cwd, env });
const session = await home.open(
  openOptionsOf(
    { permissionMode: "default" },
    { version: "bench", env, cwd, asks: "answered", checkpoints: "on" },
  ),
);
const handle = nearHandle(session);
process.stdout.write("ready\n");
for await (const line of createInterface(process.stdin)) {
  await handle.submit({ type: "input", content: [text(line)] });
  await session.idle();
}
await session.close("ended");
await home.close();
