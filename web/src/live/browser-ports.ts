/** Time, chance and frames, as a browser has them. */
import type { WorldPorts } from "./world.ts";

/** Nobody sees a page in the background; its title may still change. */
const hiddenMs = 500;

/** Two frames. */
const soonMs = 30;

export const browserPorts = (): Pick<
  WorldPorts,
  "isSentAway" | "nextPaint" | "soon" | "pause" | "now" | "uuid"
> => ({
  isSentAway: () =>
    fetch("/api/status").then(
      ({ status }) => status === 401,
      () => false,
    ),
  nextPaint(then) {
    if (document.hidden) setTimeout(then, hiddenMs);
    else requestAnimationFrame(then);
  },
  soon: (then) => void setTimeout(then, document.hidden ? hiddenMs : soonMs),
  pause: () => new Promise((resolve) => setTimeout(resolve, 0)),
  now: () => performance.now(),
  uuid: () => crypto.randomUUID(),
});
