/** How much a client may have of a server, in one place: bytes, connections, time. */
import type { Socket } from "node:net";
import type { Access } from "../../protocol/operation.ts";
import { maxFrameBytes, pingMs } from "../../protocol/wire.ts";

export const doorLimits = {
  /** A head takes no longer than this, and a whole request no longer than the second; they are looked at this often. */
  headMs: 10_000,
  requestMs: 60_000,
  lookMs: 1_000,
  headBytes: 16 * 1024,
  pathLength: 4_096,
  /** The body of who has no secret yet. */
  openBytes: 4_096,
  /** Who is connected and was not let in yet: the oldest makes room for the next. */
  strangers: 256,
  /** Sockets and streams of all who were let in. */
  clients: 1_000,
  /** What is connected in all, idle connections for further requests too. */
  connections: 2_000,
  /** A client is sent a ping this often, and is given up when nothing of it arrived for three of them. */
  pingMs,
  maxMissed: 3,
  /** Beyond this only what must arrive is added for a client, and who has not read it within the time does not read. */
  waitingBytes: 1024 * 1024,
  drainMs: 30_000,
};
export type DoorLimits = Readonly<typeof doorLimits>;

/** What one device may have: who may only look has nothing large to say. */
export const deviceLimits: { readonly [Level in Access]: DeviceLimits } = {
  // Events of a session may be as large as they are; a socket and a stream for each, and for the bridge itself.
  bridge: { messageBytes: maxFrameBytes, clients: 100 },
  watch: { messageBytes: 256 * 1024, clients: 50 },
  answer: { messageBytes: 256 * 1024, clients: 50 },
  work: { messageBytes: maxFrameBytes, clients: 500 },
};
/** The bytes of a body or a frame; sockets and streams at a time. */
export type DeviceLimits = { readonly messageBytes: number; readonly clients: number };

/**
 * Who has connected and was not let in yet. There is room for so many, and the oldest makes room for the next: whoever
 * has a secret says so at once, and a flood of those who say nothing only drives out itself.
 */
export class Strangers {
  readonly #most: number;
  readonly #waiting = new Map<string, Socket>();

  constructor(most: number) {
    this.#most = most;
  }

  arrive(socket: Socket): void {
    const name = nameOf(socket);
    this.#waiting.set(name, socket);
    socket.once("close", () => {
      if (this.#waiting.get(name) === socket) this.#waiting.delete(name);
    });
    for (const [oldest, waiting] of this.#waiting) {
      if (this.#waiting.size <= this.#most) return;
      this.#waiting.delete(oldest);
      waiting.destroy();
    }
  }

  /** It has shown its secret. By its address, since with TLS it is another object by now. */
  welcome(socket: Socket): void {
    this.#waiting.delete(nameOf(socket));
  }
}

const nameOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
