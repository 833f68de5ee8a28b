/** Brings a session back from the program's own store before it goes on. */
import type { Sessions } from "../../app/sessions/sessions.ts";
import type { Options } from "../options/options.ts";
import { restoreFrom } from "./mirror.ts";
import { projectKeyOf } from "./session-store.ts";

/** How far the program's own store knows the session. */
export async function restored(
  options: Options,
  { cwd, sessions }: { cwd: string; sessions: Sessions },
): Promise<number> {
  const { sessionStore, resume, forkSession } = options;
  if (!sessionStore || resume === undefined) return 0;
  const key = { projectKey: projectKeyOf(cwd), sessionId: resume };
  const known = await restoreFrom(sessionStore, { key, cwd, sessions, timeoutMs: options.loadTimeoutMs });
  return forkSession ? 0 : known;
}
