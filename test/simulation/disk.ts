/** The log of the simulated machine: what was synced stays, what was under way at a crash may be there in part. */
import { fault } from "../../keel/src/kernel/fault.ts";
import type { CachedFold, Log } from "../../keel/src/ports/store.ts";
import { type Durable, durableEventSchema } from "../../keel/src/protocol/event/durable.ts";
import type { World } from "./world.ts";

/** All logs of the machine, by their session. */
export class Disks {
  readonly #logs = new Map<string, Disk>();
  readonly #world: World;
  readonly #options: DiskOptions;

  constructor(world: World, options: DiskOptions) {
    this.#world = world;
    this.#options = options;
  }

  create(session: string): Disk {
    const disk = new Disk(this.#world, this.#options);
    this.#logs.set(session, disk);
    return disk;
  }

  get(session: string): Disk | undefined {
    return this.#logs.get(session);
  }

  /** In the order in which they were created. */
  get all(): ReadonlyMap<string, Disk> {
    return this.#logs;
  }

  crash(): void {
    for (const disk of this.#logs.values()) disk.crash();
  }
}

/** A forgetful disk says that it wrote what it did not: the checks must notice. */
export type DiskOptions = { readonly forgetful: boolean };

export class Disk {
  /** Lines as they are on the platter. */
  readonly lines: string[] = [];
  /** The same, decoded when somebody looks. */
  readonly #events: Durable[] = [];
  readonly #boundaries: Durable[] = [];
  readonly #world: World;
  #underWay: string[] = [];
  #kept: CachedFold | undefined;

  readonly #forgetful: boolean;
  /** What went wrong here, and could keep an agent's log from being brought to its end. */
  readonly failures = new Set<"unreadable" | "full">();

  constructor(world: World, { forgetful }: DiskOptions) {
    this.#world = world;
    this.#forgetful = forgetful;
  }

  eventsAfter(count: number): Durable[] {
    for (const line of this.lines.slice(this.#events.length)) {
      const event = decode(line);
      this.#events.push(event);
      if (boundary.has(event.type)) this.#boundaries.push(event);
    }
    return this.#events.slice(count);
  }

  /** What is on the platter of what the request law takes for a reason. */
  boundaries(): readonly Durable[] {
    this.eventsAfter(this.lines.length);
    return this.#boundaries;
  }

  /** What the power cut leaves: a start of what was being written. */
  crash(): void {
    const torn = this.#world.goesWrong("torn-append") ? this.#world.between(0, this.#underWay.length) : 0;
    this.lines.push(...this.#underWay.slice(0, torn));
    this.#underWay = [];
  }

  open(session: string): Log {
    const world = this.#world;
    const disk = this;
    return {
      session,
      notices: [],
      get lastSeq() {
        return disk.lines.length;
      },
      async append(events) {
        const lines = events.map((event) => JSON.stringify(event));
        disk.#underWay = lines;
        await world.sleep(world.goesWrong("slow-disk") ? world.between(10, 5_000) : world.between(1, 4) / 4);
        disk.#underWay = [];
        if (world.goesWrong("disk-full")) {
          disk.failures.add("full");
          throw fault("log_unwritable", { path: "log", reason: "no space left" });
        }
        if (disk.#forgetful && world.draw() < 0.05) return;
        disk.lines.push(...lines);
      },
      async *read(after = 0) {
        if (world.goesWrong("unreadable")) {
          disk.failures.add("unreadable");
          throw fault("log_unreadable", { path: "log", reason: "input/output error" });
        }
        for (const event of disk.eventsAfter(after)) {
          if (world.goesWrong("slow-read")) await world.sleep(world.between(1, 3_000));
          yield event;
        }
      },
      // Every other time nothing is there: a log must be as good as its fold.
      cachedFold: () => (disk.lines.length % 2 === 0 ? disk.#kept : undefined),
      async cacheFold(write) {
        disk.#kept = { seq: disk.lines.length, texts: await write() };
      },
      close: async () => undefined,
    };
  }
}

const boundary: ReadonlySet<string> = new Set([
  "prompt.fixed",
  "context.compacted",
  "context.cleared",
  "context.returned",
  "settings.changed",
]);

/** Through the schema, as a real store reads: what it cannot read back must not have been written. */
function decode(line: string): Durable {
  const value = JSON.parse(line) as Durable;
  return { ...durableEventSchema.parse(value), seq: value.seq, at: value.at, session: value.session };
}
