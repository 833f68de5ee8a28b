/** Checkpoints of the simulated machine: now and then one does not answer, and hears no signal. */

import type { Checkpoints } from "../../keel/src/ports/checkpoints.ts";
import type { World } from "./world.ts";

export function simulatedCheckpoints(world: World): Checkpoints {
  const work = async (signal?: AbortSignal): Promise<void> => {
    if (world.goesWrong("slow-checkpoint")) await world.sleep(world.between(1_000, 200_000));
    else await world.sleep(world.between(1, 30), signal);
  };
  return {
    async backUp(path) {
      await work();
      return { path, blob: null };
    },
    prepare: (_key, signal) => work(signal),
    async changes(signal) {
      await work(signal);
      return world.draw() < 0.5 ? [{ path: "/project/b", blob: null }] : [];
    },
    async stamp() {
      await work();
      return null;
    },
    preview: async () => [],
    restore: async () => undefined,
    close: async () => undefined,
  };
}
