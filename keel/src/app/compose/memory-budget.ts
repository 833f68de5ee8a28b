/**
 * How much room is left in this process. Nobody watches: it is asked when something is about to grow, or has grown.
 * Sessions that do nothing rest before anybody is refused, the one that was used longest ago first.
 */
import type { KeelSettings } from "../../config/settings/settings-schema.ts";
import type { Session } from "../../engine/session.ts";
import { fault } from "../../kernel/fault.ts";

/** Lets go of what it can read again. False while it has something to do. */
export type Unloadable = { unload(): Promise<boolean> };

export type Heap = {
  /** With what nobody needs any more and was not collected yet. */
  usedBytes(): number;
  readonly maxBytes: number;
  collect(): Promise<void>;
};

export type BudgetMember = {
  /** It is in use: it rests last. */
  touch(): void;
  release(): void;
};

/** Of the heap's own limit. Near that, a collection that frees little follows the other, and then the process dies. */
const boundShare = 0.75;
/** Sessions that stay awake although nobody uses them. */
export const maxAwake = 256;
const maxLooks = 64;
/** Of the bound, from which on sessions rest, and down to where: those that follow should not meet the same at once. */
const unloadShare = 0.8;
const unloadedShare = 0.6;
/** Of the bound: what must have come in since the last collection for another one to be worth its time. */
const worthShare = 1 / 16;

export class MemoryBudget {
  readonly #heap: Heap;
  /** Those that do not rest, in the order of their use. */
  readonly #awake = new Set<Unloadable>();
  #easing: Promise<void> | undefined;
  #trimming: Promise<void> | undefined;
  #leftAfterLast = 0;
  #isLess = true;

  constructor(heap: Heap) {
    this.#heap = heap;
  }

  /** The bytes of the heap from which on nothing new is taken, with what a person wishes. */
  boundOf(wishedBytes: number | undefined): number {
    const own = this.#heap.maxBytes * boundShare;
    return wishedBytes === undefined ? own : Math.min(wishedBytes, own);
  }

  register(rester: Unloadable): BudgetMember {
    const touch = (): void => {
      this.#awake.delete(rester);
      this.#awake.add(rester);
      this.#trim();
    };
    touch();
    return {
      touch,
      release: () => {
        this.#awake.delete(rester);
        this.#isLess = true;
      },
    };
  }

  /** Throws `process_full` when there is no room for one more, although all rest that can. */
  async ensureAvailable(what: "another session" | "this input", boundBytes: number): Promise<void> {
    await this.unloadIdle(boundBytes);
    const usedBytes = await this.#used(boundBytes);
    if (usedBytes < boundBytes) return;
    throw fault("process_full", { what, usedMb: mebibytes(usedBytes), maxMb: mebibytes(boundBytes) });
  }

  /** Lets sessions rest while the heap is near its bound. Those who come meanwhile join. */
  async unloadIdle(boundBytes: number): Promise<void> {
    if (this.#heap.usedBytes() < boundBytes * unloadShare) return;
    this.#easing ??= this.#ease(boundBytes).finally(() => {
      this.#easing = undefined;
    });
    await this.#easing;
  }

  /** The older half first: whoever was used just now will be used again. */
  async #ease(boundBytes: number): Promise<void> {
    if ((await this.#used(boundBytes * unloadShare)) < boundBytes * unloadShare) return;
    for (const share of [0.5, 1]) {
      const enoughBytes = boundBytes * unloadedShare;
      if ((await this.#used(enoughBytes)) < enoughBytes) return;
      let left = Math.ceil(this.#awake.size * share);
      await this.#rest(() => left-- > 0);
    }
  }

  /** However much room there is: a session that was not used while hundreds of others were can be read again. */
  #trim(): void {
    if (this.#awake.size <= maxAwake) return;
    // Where the oldest are all at work, the next one that is used looks again.
    let looks = this.#awake.size - maxAwake + maxLooks;
    this.#trimming ??= this.#rest(() => looks-- > 0 && this.#awake.size > maxAwake).finally(() => {
      this.#trimming = undefined;
    });
  }

  /** Those that can, the oldest first, while it is needed. Never throws. */
  async #rest(isNeeded: () => boolean): Promise<void> {
    for (const rester of [...this.#awake]) {
      if (!isNeeded()) return;
      // One whose log cannot be closed stays as it is; whatever is wrong is told where it is used.
      if (!(await rester.unload().catch(() => false))) continue;
      this.#awake.delete(rester);
      this.#isLess = true;
    }
  }

  /** What is in use; exact where it would be too much. */
  async #used(maxBytes: number): Promise<number> {
    const usedBytes = this.#heap.usedBytes();
    if (usedBytes < maxBytes) return usedBytes;
    // A collection takes time: not where nothing was given up and little came in since the last one.
    if (!this.#isLess && usedBytes - this.#leftAfterLast < maxBytes * worthShare) return usedBytes;
    this.#isLess = false;
    await this.#heap.collect();
    this.#leftAfterLast = this.#heap.usedBytes();
    return this.#leftAfterLast;
  }
}

export type MemoryRegistration = {
  /** Takes an input in. Throws `process_full`, and then nothing was done; the session does not rest meanwhile. */
  use<T>(work: () => Promise<T>): Promise<T>;
  /** Lets go of what can be read again, now. False while it is in use. */
  unload(): Promise<boolean>;
  release(): void;
};

export type MemoryAdmission = {
  /** Throws `process_full`. */
  admit(): Promise<void>;
  register(session: Pick<Session, "unload" | "reload" | "onEvent">): MemoryRegistration;
};

/** The place of a session in its process: there must be room before it grows, and it makes room while it rests. */
export function memoryAdmission({ limits }: KeelSettings, room: MemoryBudget): MemoryAdmission {
  const { maxHeapMb } = limits ?? {};
  const boundBytes = room.boundOf(maxHeapMb === undefined ? undefined : maxHeapMb * 2 ** 20);
  return {
    admit: () => room.ensureAvailable("another session", boundBytes),
    register(session) {
      let uses = 0;
      const unload = async (): Promise<boolean> => uses === 0 && (await session.unload());
      const place = room.register({ unload });
      const stop = session.onEvent(({ type, origin }) => {
        // Nobody waits for it: whoever comes next is told.
        if (type === "turn.finished" && !origin) room.unloadIdle(boundBytes).catch(() => undefined);
      });
      return {
        async use(work) {
          uses++;
          try {
            await room.ensureAvailable("this input", boundBytes);
            place.touch();
            await session.reload();
            return await work();
          } finally {
            uses--;
          }
        },
        async unload() {
          if (!(await unload())) return false;
          place.release();
          return true;
        },
        release() {
          stop();
          place.release();
        },
      };
    },
  };
}

const mebibytes = (bytes: number): number => Math.round(bytes / 2 ** 20);
