/** The proxy as SOCKS version 5 has it: connections out by name or address, and nothing else. */
import type { Socket } from "node:net";
import type { Gatekeeper } from "./gatekeeper.ts";
import type { PassHolder, Tunnel } from "./http-door.ts";

export type SocksDoor = {
  readonly gatekeeper: Gatekeeper;
  /** Undefined where it says no name that is known; `name` is undefined where nothing was said. */
  callerOf(socket: Socket, name: string | undefined): PassHolder | undefined;
  tunnel(socket: Socket, tunnel: Tunnel): Promise<void>;
  readonly headMs: number;
};

const version = 5;
const methods = { none: 0x00, password: 0x02, refused: 0xff } as const;
const replies = {
  done: 0x00,
  notAllowed: 0x02,
  unreachable: 0x04,
  noSuchCommand: 0x07,
  noSuchAddress: 0x08,
} as const;

/** Never throws: a connection that says something else is ended. */
export async function takeSocks(socket: Socket, door: SocksDoor): Promise<void> {
  const timer = setTimeout(() => socket.destroy(), door.headMs);
  socket.once("close", () => clearTimeout(timer));
  try {
    const caller = await greeted(socket, door);
    if (!caller) return socket.destroySoon();
    const target = await request(socket);
    clearTimeout(timer);
    if (typeof target === "number") return answer(socket, target);
    const passage = await door.gatekeeper.passage({ ...target, command: caller.command }, caller.signal);
    if (socket.destroyed) return;
    if (!passage.ok) return answer(socket, replies.notAllowed);
    await door.tunnel(socket, {
      passage,
      caller,
      opened: () => void socket.write(replyOf(replies.done)),
      failed: () => answer(socket, replies.unreachable),
    });
  } catch {
    socket.destroy();
  }
}

async function greeted(socket: Socket, door: SocksDoor): Promise<PassHolder | undefined> {
  const [spoken, count = 0] = await take(socket, 2);
  const offered = [...(await take(socket, count))];
  if (spoken !== version) return undefined;
  // Who has a name is to say it, also where nobody needs one.
  if (!offered.includes(methods.password)) {
    const nameless = offered.includes(methods.none) ? door.callerOf(socket, undefined) : undefined;
    socket.write(Buffer.from([version, nameless ? methods.none : methods.refused]));
    return nameless;
  }
  socket.write(Buffer.from([version, methods.password]));
  const [, nameLength = 0] = await take(socket, 2);
  await take(socket, nameLength);
  const [wordLength = 0] = await take(socket, 1);
  const caller = door.callerOf(socket, (await take(socket, wordLength)).toString("latin1"));
  socket.write(Buffer.from([1, caller ? 0 : 1]));
  return caller;
}

/** A reply's number where it cannot be done. */
async function request(socket: Socket): Promise<{ host: string; port: number } | number> {
  const [spoken, command, , kind] = await take(socket, 4);
  if (spoken !== version) return replies.noSuchCommand;
  const host = await hostOf(socket, kind);
  if (host === undefined) return replies.noSuchAddress;
  const port = (await take(socket, 2)).readUInt16BE(0);
  if (command !== 1) return replies.noSuchCommand;
  return port === 0 ? replies.unreachable : { host, port };
}

async function hostOf(socket: Socket, kind: number | undefined): Promise<string | undefined> {
  switch (kind) {
    case 1:
      return [...(await take(socket, 4))].join(".");
    case 3: {
      const [length = 0] = await take(socket, 1);
      return (await take(socket, length)).toString("latin1");
    }
    case 4: {
      const bytes = await take(socket, 16);
      return Array.from({ length: 8 }, (_, at) => bytes.readUInt16BE(at * 2).toString(16)).join(":");
    }
    default:
      return undefined;
  }
}

const replyOf = (number: number): Buffer => Buffer.from([version, number, 0, 1, 0, 0, 0, 0, 0, 0]);
const answer = (socket: Socket, number: number): void => void socket.end(replyOf(number));

/** Exactly so many bytes. Rejects when the connection ends before. */
function take(socket: Socket, count: number): Promise<Buffer> {
  if (count === 0) return Promise.resolve(Buffer.alloc(0));
  return new Promise((resolve, reject) => {
    const look = (): void => {
      const bytes: Buffer | null = socket.readableLength >= count ? socket.read(count) : null;
      if (bytes === null && !socket.readableEnded && !socket.destroyed) return;
      for (const event of ["readable", "end", "close"]) socket.off(event, look);
      if (bytes === null) reject(ended);
      else resolve(bytes);
    };
    for (const event of ["readable", "end", "close"]) socket.on(event, look);
    // Asks for more where too little is there.
    if (socket.readableLength < count) socket.read(0);
    look();
  });
}
const ended = Symbol("the connection ended");
