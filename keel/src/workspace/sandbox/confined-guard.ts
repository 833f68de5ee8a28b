/** A guard whose programs start inside a place: what ends them is the guard's, what holds them the sandbox's. */
import type { SandboxProgram } from "../../ports/sandbox.ts";
import type { Post } from "../processes/launch.ts";
import type { ProcessGuard } from "../processes/process-guard.ts";
import type { ConfinedPlace } from "./place.ts";

/**
 * `open` is asked for every program, since what it may do can change. Where there is no place, `post` rejects. `masked`
 * takes out of an environment what nobody inside may hold.
 */
export const confinedGuard = (
  guard: ProcessGuard,
  open: () => Promise<ConfinedPlace>,
  masked: (env: SandboxProgram["env"]) => SandboxProgram["env"] = (env) => env,
): ProcessGuard => ({
  newMark: () => guard.newMark(),
  describe: () => guard.describe(),
  // The guard is everybody's, and ends with Keel.
  close: async () => undefined,
  async post(): Promise<Post> {
    const [{ table }, place] = await Promise.all([guard.post(), open()]);
    return {
      table,
      exchange: place.exchange,
      onEnded: place.onEnded,
      launch(given) {
        const { program, run } = place.confine({ ...given, env: masked(given.env) });
        const { file, args, cwd, env } = program;
        return { file, args, role: "doorkeeper", run, options: { cwd, env, detached: true } };
      },
    };
  },
});
