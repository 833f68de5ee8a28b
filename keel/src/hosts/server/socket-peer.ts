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
import { type DoorLimits, doorLimits } from "./limits.ts";

/** Frames that may come at once, and how many a second may follow. */
const burst = 2_000;
const perSecond = 500;
/** One that does not read does not answer a goodbye either. */
const goodbyeMs = 1_000;

export type SocketPeer = {
  readonly peer: ClientPeer;
  /** Counts a frame that came. */
  isFlooding(): boolean;
  /** It was cut off, or has gone. */
  isCut(): boolean;
};

export function socketPeer(socket: WebSocket, limits: DoorLimits = doorLimits): SocketPeer {
  let waiting: ((isDrained: boolean) => void) | undefined;
  let allowed = burst;
  let countedAt = performance.now();
  let isCut = false;
  let taken = 0;
  const look = (): void => {
    taken += 1;
    if (socket.bufferedAmount < limits.waitingBytes / 2 || socket.readyState !== socket.OPEN) {
      const tell = waiting;
      waiting = undefined;
      tell?.(socket.readyState === socket.OPEN);
    }
  };
  const cut = (): void => {
    isCut = true;
    setTimeout(() => socket.terminate(), goodbyeMs).unref();
  };
  const close = (code: number, reason: string): void => {
    socket.close(code, reason);
    cut();
  };
  // What came was no frame: the code of the goodbye says why, and is on its way.
  socket.on("error", cut);
  const stopPings = watchOver(socket, limits, () => taken);
  socket.on("close", () => {
    isCut = true;
    stopPings();
    look();
  });
  return {
    peer: {
      send(message) {
        if (socket.readyState !== socket.OPEN) return true;
        socket.send(message, look);
        return socket.bufferedAmount < limits.waitingBytes;
      },
      hasRoom: () => socket.bufferedAmount < limits.waitingBytes,
      drained() {
        if (socket.bufferedAmount < limits.waitingBytes) return Promise.resolve(true);
        return new Promise((resolve) => {
          const timer = setTimeout(() => end(false), limits.drainMs);
          const end = (isDrained: boolean): void => {
            clearTimeout(timer);
            resolve(isDrained);
          };
          const before = waiting;
          waiting = (isDrained) => {
            before?.(isDrained);
            end(isDrained);
          };
        });
      },
      close,
    },
    isFlooding() {
      const now = performance.now();
      allowed = Math.min(burst, allowed + ((now - countedAt) * perSecond) / 1_000);
      countedAt = now;
      allowed -= 1;
      return allowed < 0;
    },
    isCut: () => isCut,
  };
}

/**
 * Sends pings, and ends what is gone: nothing came for so many of them, and nothing of what waits for it was taken
 * either. One that reads slowly gets its ping late, behind all that waits, and is there all the same.
 */
function watchOver(socket: WebSocket, limits: DoorLimits, taken: () => number): () => void {
  let missed = 0;
  let before = { taken: 0, waiting: 0 };
  const hear = (): void => {
    missed = 0;
  };
  socket.on("pong", hear);
  socket.on("ping", hear);
  socket.on("message", hear);
  const timer = setInterval(() => {
    const now = { taken: taken(), waiting: socket.bufferedAmount };
    // Where nothing waited, only the system has taken it.
    if (before.waiting > 0 && now.taken > before.taken) hear();
    before = now;
    missed += 1;
    if (missed >= limits.maxMissed) socket.terminate();
    else if (socket.readyState === socket.OPEN) socket.ping();
  }, limits.pingMs);
  timer.unref();
  return () => clearInterval(timer);
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
