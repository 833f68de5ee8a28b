/** A server with one long session behind its door, until its input ends: for a client that attaches to it from outside. */
import { openServer, type ServerPlace } from "../open-server.ts";

type Options = ServerPlace & { readonly session: string; readonly isOpen: boolean };

const { session, isOpen, ...place }: Options = JSON.parse(process.argv[2] ?? "{}");
const keel = await openServer(place);
if (isOpen) await keel.served.call("session", { session }, { access: "work", name: "the benchmark" });
process.stdout.write(`${JSON.stringify({ url: keel.url, secret: keel.secret })}\n`);
process.stdin.resume().once("end", async () => {
  await keel.close();
  process.exit(0);
});
