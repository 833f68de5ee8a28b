/** The server of a home, as other processes of the same person meet it: the file that says where it is, and the way to it. */
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import * as z from "zod/mini";
import { clientOver, type KeelClient, webTimers } from "../../client/connect.ts";
import { wireLink } from "../../client/wire-link.ts";
import { fault } from "../../kernel/fault.ts";
import { maxFrameBytes, wireName } from "../../protocol/wire.ts";
import { openLocalSocket } from "../../transport/node/local-socket.ts";

const stateSchema = z.object({
  pid: z.number(),
  boot: z.string(),
  version: z.string(),
  socket: z.string(),
  url: z.optional(z.string()),
  /** What a tunnel or a proxy in front calls it. */
  publicUrl: z.optional(z.string()),
  /** Where the person's own secret stands. */
  secretFile: z.string(),
  /** Where it writes what it does. */
  logFile: z.string(),
  startedAt: z.number(),
});
export type ServerState = z.infer<typeof stateSchema>;

const stateFile = (home: string): string => path.join(home, "server", "running.json");

/** Undefined where none runs, as far as its file says: one that was killed leaves it behind. */
export async function readServerState(home: string): Promise<ServerState | undefined> {
  try {
    return stateSchema.parse(JSON.parse(await readFile(stateFile(home), "utf8")));
  } catch {
    return undefined;
  }
}

export async function writeServerState(home: string, state: ServerState): Promise<void> {
  const file = stateFile(home);
  await writeFile(`${file}.new`, `${JSON.stringify(state)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
}

export const forgetServerState = (home: string): Promise<void> => rm(stateFile(home), { force: true });

/** The way to a server over its unix socket, as a client. Touches nothing yet. */
export function connectLocally(socket: string, name?: string): KeelClient {
  const open = () => openLocalSocket({ socket, path: "/ws", protocol: wireName, maxBytes: maxFrameBytes });
  return clientOver(wireLink({ open, name, timers: webTimers() }));
}

/** A client of the server that runs for this home, which has answered. Throws `link_lost` where none does. */
export async function connectHere(
  home: string,
  name: string,
): Promise<{ readonly client: KeelClient; readonly state: ServerState }> {
  const state = await readServerState(home);
  if (!state) throw fault("link_lost", { reason: "none of this home runs" });
  const client = connectLocally(state.socket, name);
  try {
    await client.greeting();
    return { client, state };
  } catch {
    client.close();
    throw fault("link_lost", { reason: "none of this home runs" });
  }
}
