/**
 * Clients of a server of sessions or of a bare relay, each with a connection of its own. Says "done" when all are
 * attached; then, for each number of deltas that it is told, when so many more have come. Ends with its input.
 */
import { createInterface } from "node:readline";
import { connect } from "../../keel/src/client/connect.ts";

type Options = {
  readonly speaks: "keel" | "relay";
  readonly url: string;
  readonly secret?: string;
  readonly sessions: readonly string[];
};

const options: Options = JSON.parse(process.argv[2] ?? "{}");
let heard = 0;
let expected = Number.POSITIVE_INFINITY;
const say = (): void => void process.stdout.write("done\n");
const hear = (): void => {
  heard += 1;
  if (heard < expected) return;
  heard -= expected;
  expected = Number.POSITIVE_INFINITY;
  say();
};
const attach = { keel: attachToServer, relay: attachToRelay }[options.speaks];
await Promise.all(options.sessions.map(attach));
say();
for await (const line of createInterface(process.stdin)) {
  expected = Number(line);
  if (heard >= expected) throw new Error("More came than was told.");
}
process.exit(0);

/** As every program does it. */
async function attachToServer(session: string): Promise<void> {
  const client = connect({ url: options.url, secret: options.secret });
  const isAttached = Promise.withResolvers<void>();
  const follow = async (): Promise<void> => {
    for await (const event of client.attach(session).events()) {
      if (event.type === "tool.progress" && event.display) hear();
      else isAttached.resolve();
    }
    throw new Error("A client was sent away.");
  };
  follow().catch((thrown: unknown) => {
    process.stderr.write(`${String(thrown)}\n`);
    process.exit(1);
  });
  await isAttached.promise;
}

function attachToRelay(session: string): Promise<void> {
  const socket = new WebSocket(`${options.url.replace("http", "ws")}/${session}`);
  socket.addEventListener("message", ({ data }) => {
    if (JSON.parse(String(data)).event.display) hear();
  });
  return new Promise((resolve, reject) => {
    socket.addEventListener("open", () => resolve(), { once: true });
    socket.addEventListener("error", () => reject(new Error("no relay")), { once: true });
  });
}
