/**
 * Leases as rows. Each belongs to a worker, which is a process, and holds as long as the worker says that it lives, by the
 * clock of the database. Whoever takes one gets a number that is higher than any before it: every write names the number,
 * and one of an older number is refused, however late it comes.
 */
import { fault } from "../../kernel/fault.ts";
import type { HeldLease, LeaseHolder, Leases } from "../../ports/lease.ts";
import type { PostgresDatabase } from "./database.ts";

/** After this time without a sign of life a worker's sessions may be taken over. */
export const defaultLeaseMs = 4_000;
/** So often within that time it gives one. */
const SIGNS = 4;

export type PostgresLeasesOptions = {
  readonly database: PostgresDatabase;
  readonly uuid: () => string;
  readonly pid: number;
  readonly leaseMs?: number | undefined;
};

/** Called once for each that somebody else has taken meanwhile. */
export type LostListener = (name: string) => void;

export class PostgresLeases implements Leases {
  readonly #database: PostgresDatabase;
  readonly #pid: number;
  readonly #leaseMs: number;
  /** This process, in all that it holds. */
  readonly worker: string;
  readonly #held = new Map<string, number>();
  readonly #taking = new Set<string>();
  readonly #lost = new Set<LostListener>();
  #timer: NodeJS.Timeout | undefined;
  #signing: Promise<void> | undefined;

  constructor({ database, uuid, pid, leaseMs = defaultLeaseMs }: PostgresLeasesOptions) {
    this.#database = database;
    this.#pid = pid;
    this.#leaseMs = leaseMs;
    this.worker = uuid();
  }

  async take(name: string): Promise<HeldLease> {
    if (this.#held.has(name) || this.#taking.has(name))
      throw fault("session_busy", { session: name, pid: this.#pid });
    this.#taking.add(name);
    try {
      await this.#begin();
      const [row] = await this.#database.query(TAKE, name, this.worker);
      if (!row) throw fault("session_busy", { session: name });
      const fence = Number(row["fence"]);
      this.#held.set(name, fence);
      return { release: () => this.#release(name, fence) };
    } finally {
      this.#taking.delete(name);
    }
  }

  async isHeld(name: string): Promise<boolean> {
    return this.#held.has(name) || (await this.holders([name])).size > 0;
  }

  async holders(names: readonly string[]): Promise<ReadonlyMap<string, LeaseHolder>> {
    if (names.length === 0) return new Map();
    const rows = await this.#database.query(HOLDERS, names);
    const found = new Map(rows.map((row) => [String(row["name"]), String(row["worker"])]));
    return new Map(
      names.flatMap((name): [string, LeaseHolder][] => {
        const id = found.get(name);
        // The number of a process says something on its own machine only.
        return id === undefined ? [] : [[name, id === this.worker ? { id, pid: this.#pid } : { id }]];
      }),
    );
  }

  /** Undefined for one that is not held here. */
  fenceOf(name: string): number | undefined {
    return this.#held.get(name);
  }

  get heldNames(): readonly string[] {
    return [...this.#held.keys()];
  }

  onLost(listener: LostListener): () => void {
    this.#lost.add(listener);
    return () => this.#lost.delete(listener);
  }

  /** Somebody else has it: known by a write that was refused, before the next sign of life finds out. */
  lose(name: string): void {
    if (this.#held.delete(name)) for (const listener of this.#lost) listener(name);
  }

  /** Gives no more signs, as a process that stands still. For tests of what comes after. */
  pause(): void {
    this.#stop();
  }

  /** As a killed one. */
  abandon(): void {
    this.#stop();
    this.#held.clear();
  }

  async close(): Promise<void> {
    this.#stop();
    this.#held.clear();
    await this.#signing?.catch(() => undefined);
    if (this.#isKnown) await this.#database.query(LEAVE, this.worker).catch(() => undefined);
  }

  get #isKnown(): boolean {
    return this.#signedAt !== undefined;
  }

  #signedAt: number | undefined;

  /** A process that holds nothing gives no signs: its time must be running before it takes something. */
  async #begin(): Promise<void> {
    const isFresh =
      this.#timer !== undefined &&
      this.#signedAt !== undefined &&
      performance.now() - this.#signedAt < this.#leaseMs / 2;
    if (!isFresh) await this.#sign();
    this.#timer ??= setInterval(() => {
      if (this.#held.size + this.#taking.size === 0) return this.#stop();
      void this.#sign().catch(() => undefined);
    }, this.#leaseMs / SIGNS).unref();
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #sign(): Promise<void> {
    this.#signing ??= this.#sendSign().finally(() => {
      this.#signing = undefined;
    });
    return this.#signing;
  }

  async #sendSign(): Promise<void> {
    const before = new Map(this.#held);
    const rows = await this.#database.query(SIGN, this.worker, this.#pid, this.#leaseMs);
    this.#signedAt = performance.now();
    const own = new Map(rows.map((row) => [String(row["name"]), Number(row["fence"])]));
    // Only what was held when the sign was sent: others may have been taken since.
    for (const [name, fence] of before)
      if (own.get(name) !== fence && this.#held.get(name) === fence) this.lose(name);
  }

  async #release(name: string, fence: number): Promise<void> {
    if (this.#held.get(name) !== fence) return;
    this.#held.delete(name);
    // What cannot be given back is free when this process has ended.
    await this.#database.query(RELEASE, name, fence).catch(() => undefined);
  }
}

/** Also one that this process has already: the answer to an earlier try was lost. */
const TAKE = `
INSERT INTO keel_leases (name, worker, fence) VALUES ($1, $2, nextval('keel_fence'))
ON CONFLICT (name) DO UPDATE SET worker = excluded.worker, fence = excluded.fence
WHERE keel_leases.worker = excluded.worker OR NOT EXISTS (
  SELECT 1 FROM keel_workers w WHERE w.id = keel_leases.worker AND w.until > clock_timestamp()
)
RETURNING fence`;

const SIGN = `
WITH signed AS (
  INSERT INTO keel_workers (id, pid, until) VALUES ($1, $2, clock_timestamp() + $3 * interval '1 millisecond')
  ON CONFLICT (id) DO UPDATE SET until = excluded.until
)
SELECT name, fence FROM keel_leases WHERE worker = $1`;

const HOLDERS = `
SELECT l.name, l.worker FROM keel_leases l JOIN keel_workers w ON w.id = l.worker
WHERE l.name = ANY($1) AND w.until > clock_timestamp()`;

const RELEASE = "DELETE FROM keel_leases WHERE name = $1 AND fence = $2";

/** Workers that ended without a word go with them, a while later. */
const LEAVE = `
WITH leases AS (DELETE FROM keel_leases WHERE worker = $1)
DELETE FROM keel_workers WHERE id = $1 OR until < clock_timestamp() - interval '1 day'`;
