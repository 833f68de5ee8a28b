/** A WebSocket as the other end of a connection: how much waits, when there is room again, and who sends too much. */
import type { WebSocket } from "ws";
import type { ClientPeer } from "./connection.ts";

/** Beyond this only what must arrive is added. */
const fullBytes = 1024 * 1024;
/** Who has not read that much within this time does not read. */
const drainMs = 30_000;
/** Frames that may come at once, and how many a second may follow. */
const burst = 2_000;
const perSecond = 500;

export function socketPeer(socket: WebSocket): { peer: ClientPeer; isFlooding(): boolean } {
  let waiting: ((isDrained: boolean) => void) | undefined;
  let allowed = burst;
  let countedAt = performance.now();
  const look = (): void => {
    if (socket.bufferedAmount < fullBytes / 2 || socket.readyState !== socket.OPEN) {
      const tell = waiting;
      waiting = undefined;
      tell?.(socket.readyState === socket.OPEN);
    }
  };
  socket.on("close", look);
  return {
    peer: {
      send(message) {
        if (socket.readyState !== socket.OPEN) return true;
        socket.send(message, look);
        return socket.bufferedAmount < fullBytes;
      },
      drained() {
        if (socket.bufferedAmount < fullBytes) return Promise.resolve(true);
        return new Promise((resolve) => {
          const timer = setTimeout(() => end(false), drainMs);
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
      close(code, reason) {
        socket.close(code, reason);
        // One that does not read does not answer either.
        setTimeout(() => socket.terminate(), 1_000).unref();
      },
    },
    isFlooding() {
      const now = performance.now();
      allowed = Math.min(burst, allowed + ((now - countedAt) * perSecond) / 1_000);
      countedAt = now;
      allowed -= 1;
      return allowed < 0;
    },
  };
}
