/** The workers of a database, for whoever looks after them: which there are, what each has, and that one is to end. */
import { asObject, parseJson } from "../../kernel/json.ts";
import type { Remote } from "../../store/postgres/store.ts";

export type DatabaseOfWorkers = Pick<Remote, "database">;

export type ServerOfDatabase = {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly home: string;
  /** `silent`: it gave no sign for longer than it ever takes. */
  readonly state: "serving" | "draining" | "silent";
  /** Sessions that it has open, agents counted. */
  readonly leases: number;
};

export type LeaseEntry = {
  readonly session: string;
  readonly worker: string;
  readonly fence: number;
  /** Its worker still gives signs. */
  readonly held: boolean;
};

/** Servers alone: a command that has a session open for a while is none. */
export async function listWorkers({ database }: DatabaseOfWorkers): Promise<ServerOfDatabase[]> {
  const rows = await database.query(`
    SELECT w.id, w.pid, w.about, w.draining, w.looked > clock_timestamp() - interval '60 seconds' AS looks,
      (SELECT count(*) FROM keel_leases l WHERE l.worker = w.id) AS leases
    FROM keel_workers w WHERE w.looked IS NOT NULL ORDER BY w.looked DESC, w.id LIMIT ${MOST}`);
  return rows.map(({ id, pid, about, draining, looks, leases }): ServerOfDatabase => {
    const { host, version, home } = asObject(parseJson(String(about)));
    return {
      id: String(id),
      host: String(host),
      pid: Number(pid),
      version: String(version),
      home: String(home),
      state: looks !== true ? "silent" : draining === true ? "draining" : "serving",
      leases: Number(leases),
    };
  });
}

export async function listLeases({ database }: DatabaseOfWorkers): Promise<LeaseEntry[]> {
  const rows = await database.query(`
    SELECT l.name, l.worker, l.fence, coalesce(w.until > clock_timestamp(), false) AS held
    FROM keel_leases l LEFT JOIN keel_workers w ON w.id = l.worker ORDER BY l.fence DESC LIMIT ${MOST}`);
  return rows.map(({ name, worker, fence, held }) => ({
    session: String(name),
    worker: String(worker),
    fence: Number(fence),
    held: held === true,
  }));
}

/** It takes nothing new, and gives each session away when its turn has ended. False for one that there is not. */
export async function drainWorker({ database }: DatabaseOfWorkers, worker: string): Promise<boolean> {
  const rows = await database.query(
    "UPDATE keel_workers SET draining = true WHERE id = $1 RETURNING id",
    worker,
  );
  return rows.length > 0;
}

const MOST = 1_000;
