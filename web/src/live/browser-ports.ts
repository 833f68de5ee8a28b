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

/** One of the usual sixty in a second. */
const frameMs = 16;
/** How long drawing rests by the time that it took: three times of a short one, ten times and more of a long one. */
const restAfter = (ms: number): number => Math.min(700, ms * (3 + ms / 8));
/** Who has pressed a key so short a time ago goes on typing; the next one is waited for as long at most. */
const typingMs = 250;

/**
 * Calls back before a frame. Where frames take long (much streams at once), most of the time is left to others: what
 * comes in is read, and who types goes first: what was typed is on the screen before anything else is drawn, so that
 * drawing falls between two keys. Where frames take none, each is drawn; so is the next one for what somebody waits for.
 */
function pacedPaint(): WorldPorts["nextPaint"] {
  let freeAt = 0;
  let isSlow = false;
  let typedAt = Number.NEGATIVE_INFINITY;
  /** Called once the next key is on the screen. */
  const afterKey = new Set<() => void>();
  addEventListener(
    "keydown",
    () => {
      typedAt = performance.now();
      const waiting = [...afterKey];
      afterKey.clear();
      for (const go of waiting) requestAnimationFrame(() => afterPaint(go));
    },
    { capture: true, passive: true },
  );
  const draw = (then: () => void): void =>
    void requestAnimationFrame(() => {
      const from = performance.now();
      then();
      afterPaint(() => {
        const now = performance.now();
        const took = now - from;
        isSlow = took > frameMs;
        freeAt = now + restAfter(took);
      });
    });
  const drawBetweenKeys = (then: () => void): void => {
    if (!isSlow || performance.now() - typedAt > typingMs) return draw(then);
    const go = (): void => {
      clearTimeout(timer);
      afterKey.delete(go);
      draw(then);
    };
    const timer = setTimeout(go, typingMs);
    afterKey.add(go);
  };
  return (then, when) => {
    const restMs = when === "now" ? 0 : freeAt - performance.now();
    if (document.hidden) setTimeout(then, hiddenMs);
    else if (when === "now") draw(then);
    else if (restMs > 0) setTimeout(() => drawBetweenKeys(then), restMs);
    else drawBetweenKeys(then);
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
