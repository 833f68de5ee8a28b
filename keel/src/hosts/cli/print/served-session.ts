/** A session that the server of the home has, for `keel -p --resume`: shown as if it were open here. */
import { usage } from "../../../app/flags/arguments.ts";
import { type FlagValues, readUserFlags } from "../../../app/flags/session-flags.ts";
import type { Home } from "../../../app/home.ts";
import { type JoinOptions, unsayable } from "../../../app/sessions/joined-session.ts";
import type { Context } from "../context.ts";
import type { ConversedSession } from "./converse.ts";

export type ServedPrompt = Pick<JoinOptions, "id" | "settings"> & {
  readonly home: Pick<Home, "join">;
  /** Without one it is shown how the turn that runs goes on. */
  readonly prompt: string | undefined;
  readonly env: Context["env"];
};

/** Throws `usage` for flags that a session which runs elsewhere cannot follow. */
export async function mustBeSayable(
  values: Parameters<typeof readUserFlags>[1] & FlagValues,
  cwd: string,
): Promise<void> {
  const { persistSession, skills, ...given } = await readUserFlags("cli", values, cwd);
  const refused = unsayable({
    ...given,
    // What no flag says is as it is without one.
    persistSession: persistSession === true ? undefined : persistSession,
    skills: values["disable-slash-commands"] ? undefined : skills,
  });
  if (refused.length > 0)
    throw usage(
      `The server of this home has this session, and was not started with ${refused.join(", ")}: leave it out, or go on in a copy with --fork.`,
    );
}

/** Throws `link_lost`, `usage` where nothing is unfinished, and what the server refuses settings with. */
export async function openServed({ home, prompt, env, ...which }: ServedPrompt): Promise<ConversedSession> {
  const follows = prompt === undefined ? "running" : "own turns";
  const session = await home.join({ ...which, name: "keel -p", follows });
  if (prompt === undefined && !(await session.client.session(session.id)).working) {
    await session.close();
    throw usage("This session has no unfinished turn: give a prompt to go on.");
  }
  return {
    ...session,
    // They go on at the server, and are told there.
    tasks: () => [],
    async keepRule(rule, to) {
      const { writeRule } = await import("../../../app/maintenance/settings-files.ts");
      return writeRule({ env, cwd: session.info.cwd }, to, { list: "allow", rule });
    },
  };
}
