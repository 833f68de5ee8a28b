/**
 * Lines for one client of a socket, of whatever dialect. One that reads slowly costs only itself: first it misses what is
 * live, then its connection ends with a reason.
 */
import { type Fault, fault, toFault } from "../../kernel/fault.ts";
import { Queue } from "../../kernel/queue.ts";
import { type ClientPeer, closeCodes } from "./connection.ts";

/** Lines that wait: past the first bound live ones are left out, past the second nothing is told any more. */
const maxBeforeLive = 500;
const maxWaiting = 10_000;

/** What clients take for a good end. */
const goingAway = 1001;

export type LineQueue = {
  /** False when it reads too slowly. */
  say(line: string): boolean;
  /** Left out for who lags behind. */
  sayLive(line: string): boolean;
  /** After what waits. */
  end(fault?: Fault): void;
};

export function lineQueue(peer: ClientPeer): LineQueue {
  const lines = new Queue<string>({ limit: maxWaiting });
  void send(lines, peer);
  const say = (line: string): boolean => {
    const isTaken = lines.push(line);
    if (!isTaken) lines.fail(fault("queue_full", { limit: maxWaiting }));
    return isTaken;
  };
  return {
    say,
    sayLive: (line) => (lines.length > maxBeforeLive ? true : say(line)),
    end: (fault) => (fault ? lines.fail(fault) : lines.end()),
  };
}

async function send(lines: Queue<string>, peer: ClientPeer): Promise<void> {
  try {
    for await (const line of lines)
      if (!peer.send(line) && !(await peer.drained()))
        return peer.close(closeCodes.lagging, "reads too slowly");
    peer.close(goingAway, "it has ended");
  } catch (thrown) {
    const { code, message } = toFault(thrown);
    if (code === "queue_full") peer.close(closeCodes.lagging, "reads too slowly");
    else peer.close(closeCodes.failed, message.slice(0, 100));
  }
}
