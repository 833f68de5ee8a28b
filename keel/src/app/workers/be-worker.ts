/** What makes a server of sessions one of several on a database. */
import { parseJson } from "../../kernel/json.ts";
import type { PostgresDatabase } from "../../store/postgres/database.ts";
import { type Opening, type OpeningBook, openingOf } from "../sessions/openings.ts";
import type { ServedOptions } from "../sessions/served-sessions.ts";
import { SessionWorker, type SessionWorkerOptions } from "./session-worker.ts";

export function beWorker(
  options: Omit<SessionWorkerOptions, "sessions">,
): Pick<ServedOptions, "worker" | "openings"> {
  return {
    openings: sharedOpenings(options.remote.database),
    worker: (sessions) => new SessionWorker({ ...options, sessions }),
  };
}

/** What sessions were opened with, where every worker finds it. */
function sharedOpenings(database: PostgresDatabase): OpeningBook {
  return {
    async keep(id, opening) {
      await database.query(
        `INSERT INTO keel_openings (session, opening) VALUES ($1, $2)
         ON CONFLICT (session) DO UPDATE SET opening = excluded.opening`,
        id,
        JSON.stringify(opening),
      );
    },
    async read(id): Promise<Opening | undefined> {
      const [row] = await database.query("SELECT opening FROM keel_openings WHERE session = $1", id);
      return row && openingOf(parseJson(String(row["opening"])));
    },
    async ids() {
      // What others left is found by their leases.
      return [];
    },
    async forget(id) {
      await database.query("DELETE FROM keel_openings WHERE session = $1", id);
    },
  };
}
