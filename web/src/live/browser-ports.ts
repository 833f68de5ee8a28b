/** Time, chance and frames, as a browser has them. */
import type { WorldPorts } from "./world.ts";

/** Nobody sees a page in the background; its title may still change. */
const hiddenMs = 500;

export const browserPorts = (): Pick<
  WorldPorts,
  "isSentAway" | "nextPaint" | "later" | "pause" | "now" | "uuid"
> => ({
  isSentAway: () =>
    fetch("/api/status").then(
      ({ status }) => status === 401,
      () => false,
    ),
  nextPaint: pacedPaint(),
  later(then, ms) {
    const timer = setTimeout(then, document.hidden ? hiddenMs : ms);
    return () => clearTimeout(timer);
  },
  pause: (ms = 0) => new Promise((resolve) => setTimeout(resolve, ms)),
  now: () => performance.now(),
  uuid: () => crypto.randomUUID(),
});

/** Of the time that drawing took, so much passes before more is drawn. */
const restShare = 3;
const maxRestMs = 250;

/**
 * Calls back before a frame. Where frames take long (much streams at once), most of the time is left to others: a key
 * that is typed meanwhile is shown at once, and what comes in is read. Where they take none, each frame is drawn; so is
 * the next one for what somebody waits for.
 */
function pacedPaint(): WorldPorts["nextPaint"] {
  let freeAt = 0;
  const draw = (then: () => void): void =>
    void requestAnimationFrame(() => {
      const from = performance.now();
      then();
      afterPaint(() => {
        const now = performance.now();
        freeAt = now + Math.min(maxRestMs, (now - from) * restShare);
      });
    });
  return (then, when) => {
    const restMs = when === "now" ? 0 : freeAt - performance.now();
    if (document.hidden) setTimeout(then, hiddenMs);
    else if (restMs > 0) setTimeout(() => draw(then), restMs);
    else draw(then);
  };
}

/** Of a frame in which it is called: when it was laid out and painted, and before anything else that waits. */
function afterPaint(then: () => void): void {
  if ("scheduler" in globalThis) void scheduler.postTask(then, { priority: "user-blocking" });
  else setTimeout(then, 0);
}

/** As far as it is used here; not every browser has it. */
declare const scheduler: {
  postTask(task: () => void, how: { readonly priority: "user-blocking" }): Promise<void>;
};
