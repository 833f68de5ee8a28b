// A wire in memory that goes wrong by a seed: cut on either side first, silent in one direction or both, slow, and opened
// anew while the server still serves the old one.
import type { LinkTimers } from "../../keel/src/client/link.ts";
import type { ClientConnection, ClientPeer } from "../../keel/src/hosts/server/connection.ts";
import { fault } from "../../keel/src/kernel/fault.ts";
import { silentMs } from "../../keel/src/protocol/wire.ts";
import type { MessageWire } from "../../keel/src/transport/message-wire.ts";
import type { Random } from "../store/random.ts";

/** So many turns of the loop. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Time that only passes when it is made to. */
export class HandMovedTime implements LinkTimers {
  readonly #ticks = new Set<() => void>();
  #now = 0;

  every(_: number, tick: () => void): () => void {
    this.#ticks.add(tick);
    return () => void this.#ticks.delete(tick);
  }

  readonly now = (): number => this.#now;

  /** Long enough that nobody waits for a silent peer any more. */
  passSilence(): void {
    this.#now += silentMs + 1;
    for (const tick of [...this.#ticks]) tick();
  }
}

export type WireFaults = {
  readonly random: Random;
  readonly time: HandMovedTime;
  /** How many wires go wrong before one holds. */
  faults: number;
};

const kinds = ["client first", "server first", "silent up", "silent down", "silent", "refused"] as const;

/** Opens a wire that goes wrong after a while, or holds when enough did. */
export async function openFaultyWire(
  faults: WireFaults,
  serve: (peer: ClientPeer) => ClientConnection,
): Promise<MessageWire> {
  const { random, time } = faults;
  await turns(random.below(3));
  const kind = faults.faults > 0 ? random.pick(kinds) : undefined;
  faults.faults--;
  if (kind === "refused") throw fault("link_lost", { reason: "refused" });
  const closed = Promise.withResolvers<string>();
  const silent = { up: false, down: false };
  let listener: (message: string) => void = () => undefined;
  let left = 1 + random.below(40);
  let isHeard = true;
  let isServed = true;
  const endClient = (): void => {
    isHeard = false;
    closed.resolve("cut");
  };
  const endServer = (): void => {
    if (!isServed) return;
    isServed = false;
    server.end();
  };
  const goWrong = async (): Promise<void> => {
    switch (kind) {
      case undefined:
        return;
      case "client first":
        endClient();
        // The server finds out late: meanwhile the client is there twice.
        await turns(random.below(60));
        return endServer();
      case "server first":
        endServer();
        await turns(random.below(30));
        return endClient();
      default:
        silent.up = kind !== "silent down";
        silent.down = kind !== "silent up";
        await turns(5 + random.below(30));
        time.passSilence();
        await turns(random.below(60));
        endServer();
        endClient();
    }
  };
  const count = (): void => {
    left--;
    if (left === 0) void goWrong();
  };
  /** In order, each a few turns after the one before. */
  const lane = (deliver: (message: string) => void, isSilent: () => boolean) => {
    let last = Promise.resolve();
    return (message: string): void => {
      const delay = random.below(3);
      last = last.then(async () => {
        await turns(delay);
        if (isSilent()) return;
        deliver(message);
        count();
      });
    };
  };
  const down = lane(
    (message) => isHeard && listener(message),
    () => silent.down,
  );
  const up = lane(
    (message) => isServed && server.receive(message),
    () => silent.up,
  );
  const isSlow = random.below(4) === 0;
  const hasRoom = (): boolean => !isSlow || random.below(3) > 0;
  const server = serve({
    send(message) {
      down(message);
      return hasRoom();
    },
    hasRoom,
    async drained() {
      await turns(random.below(5));
      return !isSlow || kind === undefined || random.below(10) > 0;
    },
    close() {
      endServer();
      endClient();
    },
  });
  return {
    send: (message) => isHeard && up(message),
    onMessage: (heard) => {
      listener = heard;
    },
    closed: closed.promise,
    close: () => {
      endClient();
      void turns(random.below(60)).then(endServer);
    },
  };
}
