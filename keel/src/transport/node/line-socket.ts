/**
 * One line there and one back, between processes of the same person: over a unix socket in a folder that only they can
 * enter. Whoever asks looks first whose the socket is.
 */
import { chmod, lstat, mkdir, rm } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import path from "node:path";
import { fault, reasonOf } from "../../kernel/fault.ts";
import { lineReader } from "../lines.ts";

export type LineSocket = { readonly path: string; close(): Promise<void> };

type LineSocketOptions = {
  readonly path: string;
  readonly maxBytes: number;
  /** Connections at once; one more is closed. */
  readonly most: number;
  /** Never rejects. The signal fires when whoever asked has gone. */
  answer(line: string, signal: AbortSignal): Promise<string>;
};

/** A line is short: who has not said it by then says nothing. */
const silentMs = 5_000;
/** What the kernel takes as the name of a socket, its end included. */
const longestPath = 104;

/** Throws `link_lost` where none can be made. */
export async function openLineSocket({
  path: place,
  maxBytes,
  most,
  answer,
}: LineSocketOptions): Promise<LineSocket> {
  if (Buffer.byteLength(place) >= longestPath)
    throw fault("link_lost", { reason: `the path of its socket is too long: ${place}` });
  const folder = path.dirname(place);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
  await rm(place, { force: true });
  const server = createServer((socket) => void serve(socket, { maxBytes, answer }));
  server.maxConnections = most;
  const listening = Promise.withResolvers<void>();
  server.once("error", (thrown) => listening.reject(fault("link_lost", { reason: reasonOf(thrown) })));
  server.listen(place, () => listening.resolve());
  await listening.promise;
  server.on("error", () => undefined);
  // It keeps no process alive: what it is for does.
  server.unref();
  return {
    path: place,
    async close() {
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

async function serve(
  socket: Socket,
  { maxBytes, answer }: Pick<LineSocketOptions, "maxBytes" | "answer">,
): Promise<void> {
  const gone = new AbortController();
  socket.on("close", () => gone.abort("over"));
  socket.unref();
  const line = await readLine(socket, maxBytes);
  if (line === undefined) return void socket.destroy();
  socket.setTimeout(0);
  // It sends nothing more, and is heard to leave.
  socket.on("data", () => socket.destroy());
  const said = await answer(line, gone.signal);
  if (!socket.destroyed) socket.end(`${said}\n`);
}

/** Undefined for one that ends, is silent, is too long or is none. */
function readLine(socket: Socket, maxBytes: number): Promise<string | undefined> {
  const reader = lineReader({ maxBytes });
  return new Promise((resolve) => {
    const end = (line: string | undefined): void => {
      socket.off("data", onData);
      resolve(line);
    };
    const onData = (chunk: Buffer): void => {
      const [first] = reader.push(chunk);
      if (first) end(first.ok ? first.line : undefined);
    };
    socket.on("data", onData);
    socket.on("error", () => end(undefined));
    socket.on("close", () => end(undefined));
    socket.setTimeout(silentMs, () => end(undefined));
  });
}

/** Throws `link_lost` where nobody answers, and where the socket is not the person's own. */
export async function askLineSocket(
  place: string,
  line: string,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<string> {
  const foreign = await whyNotOwn(place);
  if (foreign !== undefined) throw fault("link_lost", { reason: foreign });
  if (signal.aborted) throw fault("aborted");
  const socket = connect(place);
  const stop = (): void => void socket.destroy();
  signal.addEventListener("abort", stop, { once: true });
  const reader = lineReader({ maxBytes });
  try {
    return await new Promise<string>((resolve, reject) => {
      const lost = (reason: string): void => reject(fault("link_lost", { reason }));
      socket.on("error", (thrown) => lost(reasonOf(thrown)));
      socket.on("close", () => lost("it went away without an answer"));
      socket.on("data", (chunk) => {
        const [first] = reader.push(chunk);
        if (first?.ok) resolve(first.line);
        else if (first) lost(first.fault.message);
      });
      socket.write(`${line}\n`);
    });
  } finally {
    signal.removeEventListener("abort", stop);
    socket.destroy();
  }
}

/** Why a socket is not trusted: it or its folder is somebody else's, or others may put something there. */
async function whyNotOwn(place: string): Promise<string | undefined> {
  const uid = process.getuid?.();
  if (uid === undefined) return "this system does not say whose a socket is";
  try {
    const [socket, folder] = await Promise.all([lstat(place), lstat(path.dirname(place))]);
    if (!socket.isSocket()) return `${place} is no socket`;
    if (socket.uid !== uid || folder.uid !== uid) return `${place} is somebody else's`;
    if (!folder.isDirectory() || (folder.mode & 0o022) !== 0)
      return `others may put something beside ${place}`;
    return undefined;
  } catch {
    return `nobody listens at ${place}`;
  }
}
