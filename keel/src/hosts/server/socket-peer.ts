/**
 * A WebSocket as the other end of a connection: how much waits, when there is room again, who sends too much, and who
 * is gone without a word. Whoever is cut off is not listened to from that moment on.
 */
import type { WebSocket } from "ws";
import * as z from "zod/mini";
import { parseJson } from "../../kernel/json.ts";
import type { DoorAdmission } from "./admission.ts";
import { type ClientPeer, closeCodes } from "./connection.ts";
import type { Device } from "./devices.ts";
import type { DoorLimits } from "./limits.ts";

/** Frames that may come at once, and how many a second may follow. */
const burst = 2_000;
const perSecond = 500;
/** One that does not read does not answer a goodbye either. */
const goodbyeMs = 1_000;
/** How often it is looked between two pings whose turn it is. */
const looksPerPing = 4;

/**
 * Ends what is gone: nothing came for so many pings, and nothing of what waits for it was taken either. One that reads
 * slowly gets its ping late, behind all that waits, and is there all the same. One timer for all, and none while nobody
 * is there.
 */
export class PingRounds {
  readonly #ms: number;
  readonly #peers = new Set<SocketPeer>();
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor({ pingMs }: Pick<DoorLimits, "pingMs">) {
    this.#ms = pingMs;
  }

  join(peer: SocketPeer): void {
    this.#peers.add(peer);
    this.#timer ??= setInterval(() => {
      const now = performance.now();
      for (const one of this.#peers) one.pingAt(now);
    }, this.#ms / looksPerPing).unref();
  }

  leave(peer: SocketPeer): void {
    this.#peers.delete(peer);
    if (this.#peers.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

/** Lean, since there is one for each client: what can be the same for all is no part of it. */
export class SocketPeer implements ClientPeer {
  readonly #socket: WebSocket;
  readonly #limits: DoorLimits;
  /** Told when there is room again. */
  #waiting: ((isDrained: boolean) => void) | undefined;
  #allowed = burst;
  #countedAt = performance.now();
  #isCut = false;
  /** Frames that the system has taken so far. */
  #taken = 0;
  #missed = 0;
  #nextAt: number;
  #takenBefore = 0;
  #waitedBefore = 0;

  constructor(socket: WebSocket, rounds: PingRounds, limits: DoorLimits) {
    this.#socket = socket;
    this.#limits = limits;
    this.#nextAt = this.#countedAt + limits.pingMs;
    // What came was no frame: the code of the goodbye says why, and is on its way.
    socket.on("error", this.#cut);
    socket.on("pong", this.#hear);
    socket.on("ping", this.#hear);
    rounds.join(this);
    socket.on("close", () => {
      this.#isCut = true;
      rounds.leave(this);
      this.#look();
    });
  }

  /** It was cut off, or has gone. */
  get isCut(): boolean {
    return this.#isCut;
  }

  send(message: string): boolean {
    const socket = this.#socket;
    if (socket.readyState !== socket.OPEN) return true;
    socket.send(message, this.#look);
    return this.hasRoom();
  }

  hasRoom(): boolean {
    return this.#socket.bufferedAmount < this.#limits.waitingBytes;
  }

  drained(): Promise<boolean> {
    if (this.hasRoom()) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = setTimeout(() => end(false), this.#limits.drainMs);
      const end = (isDrained: boolean): void => {
        clearTimeout(timer);
        resolve(isDrained);
      };
      const before = this.#waiting;
      this.#waiting = (isDrained) => {
        before?.(isDrained);
        end(isDrained);
      };
    });
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason);
    this.#cut();
  }

  /** A frame has come. False where there were too many of them. */
  take(): boolean {
    this.#missed = 0;
    const now = performance.now();
    this.#allowed = Math.min(burst, this.#allowed + ((now - this.#countedAt) * perSecond) / 1_000) - 1;
    this.#countedAt = now;
    return this.#allowed >= 0;
  }

  /** Each has its own time, counted from when it came. */
  pingAt(now: number): void {
    if (now < this.#nextAt) return;
    this.#nextAt = now + this.#limits.pingMs;
    const socket = this.#socket;
    const waiting = socket.bufferedAmount;
    // Where nothing waited, only the system has taken it.
    if (this.#waitedBefore > 0 && this.#taken > this.#takenBefore) this.#missed = 0;
    this.#takenBefore = this.#taken;
    this.#waitedBefore = waiting;
    this.#missed += 1;
    if (this.#missed >= this.#limits.maxMissed) socket.terminate();
    else if (socket.readyState === socket.OPEN) socket.ping();
  }

  readonly #hear = (): void => {
    this.#missed = 0;
  };

  readonly #cut = (): void => {
    this.#isCut = true;
    setTimeout(() => this.#socket.terminate(), goodbyeMs).unref();
  };

  readonly #look = (): void => {
    this.#taken += 1;
    const isOpen = this.#socket.readyState === this.#socket.OPEN;
    if (this.#waiting === undefined) return;
    if (isOpen && this.#socket.bufferedAmount >= this.#limits.waitingBytes / 2) return;
    const tell = this.#waiting;
    this.#waiting = undefined;
    tell(isOpen);
  };
}

const authSchema = z.object({ type: z.literal("auth"), credential: z.object({ token: z.string() }) });

/**
 * A socket whose client can show its secret only in its first line, since it has no head of its own to put it in. It is
 * a stranger until then: it says one thing, soon, and is told nothing. `enter` is called once, with what stood behind.
 */
export function awaitSecret(
  socket: WebSocket,
  { ms, admit }: { readonly ms: number; admit(secret: string): DoorAdmission },
  enter: (device: Device, rest: string) => void,
): void {
  const refuse = (why: string): void => {
    socket.close(closeCodes.noSecret, why);
    setTimeout(() => socket.terminate(), goodbyeMs).unref();
  };
  const timer = setTimeout(() => refuse("no secret came"), ms);
  socket.on("error", () => socket.terminate());
  socket.once("close", () => clearTimeout(timer));
  socket.once("message", (data, isBinary) => {
    clearTimeout(timer);
    const [line = "", ...rest] = isBinary ? [] : String(data).split("\n");
    const shown = authSchema.safeParse(parseJson(line));
    if (!shown.success) return refuse("a secret is needed");
    const admission = admit(shown.data.credential.token);
    if (!admission.ok) return refuse(admission.refusal.why);
    enter(admission.device, rest.join("\n"));
  });
}
