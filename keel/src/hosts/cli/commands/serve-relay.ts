/**
 * `keel serve --stdio --detach`: the server of this home in the background, started where none runs, and this process as
 * the way to it: lines of its pipes become messages at the server's socket and back. The end of the pipes ends the way and
 * nothing else; so somebody whose line is cut comes back to work that never stopped.
 */
import { setTimeout as pause } from "node:timers/promises";
import { openHome } from "../../../app/home.ts";
import { connectHere, type ServerState } from "../../../app/sessions/home-server.ts";
import { exitCodes } from "../../../kernel/faults.ts";
import { maxFrameBytes, silentMs, wireName } from "../../../protocol/wire.ts";
import { lineReader } from "../../../transport/lines.ts";
import { openLocalSocket } from "../../../transport/node/local-socket.ts";
import type { Context } from "../context.ts";
import { startApart } from "./serve-apart.ts";

/** A client says something every few seconds: who is silent for so long has gone, whatever the line between says. */
const maxSilentMs = 6 * silentMs;
/** Two that come at once start two, of which one finds the other. */
const maxTries = 20;
const retryMs = 100;

/** Returns when either side has gone. */
export async function relay(context: Context): Promise<number> {
  const found = await serverOf(context);
  if (typeof found === "number") return found;
  const socket = await openLocalSocket({
    socket: found.socket,
    path: "/ws",
    protocol: wireName,
    maxBytes: maxFrameBytes,
  });
  const output = process.stdout;
  const over = Promise.withResolvers<void>();
  let timer = setTimeout(over.resolve, maxSilentMs);
  socket.onMessage((message) => {
    if (output.write(`${message}\n`)) return;
    socket.pause();
    output.once("drain", () => socket.resume());
  });
  output.on("error", () => over.resolve());
  void socket.closed.then(() => over.resolve());
  const release = context.signals.take(() => over.resolve());
  const lines = lineReader({ maxBytes: maxFrameBytes });
  const take = (chunk: Buffer): void => {
    clearTimeout(timer);
    timer = setTimeout(over.resolve, maxSilentMs);
    for (const read of lines.push(chunk)) {
      if (read.ok) socket.send(read.line);
      else over.resolve();
    }
  };
  context.input.on("data", take);
  context.input.once("end", over.resolve);
  context.input.once("error", () => over.resolve());
  try {
    await over.promise;
    return exitCodes.ended;
  } finally {
    clearTimeout(timer);
    context.input.off("data", take);
    context.input.destroy();
    release();
    socket.close();
  }
}

/** The one that runs, or one that is started now; where it does not come to that its exit code, after its own words. */
async function serverOf(context: Context): Promise<ServerState | number> {
  const home = openHome(context).path;
  let words = "";
  let code: number = exitCodes.sessionBusy;
  for (let tries = 0; code === exitCodes.sessionBusy && tries < maxTries; tries++) {
    if (tries > 0) await pause(retryMs);
    const met = await connectHere(home, "keel serve --stdio").catch(() => undefined);
    met?.client.close();
    if (met) return met.state;
    const write = (text: string): void => {
      words = text;
    };
    const started = await startApart(["serve", "--json"], { home, err: { write } });
    if (typeof started !== "number") return started;
    code = started;
  }
  context.err.write(words);
  return code;
}
