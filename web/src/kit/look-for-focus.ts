/** What had the focus may go: somebody who works by keys is not sent back to the start of the page. */

/** How long after something has changed the focus may be lost by it: what it leads to is loaded, or told by the server. */
const watchedMs = 1_500;
/** How long a question or a field is waited for, before the page itself has the focus. */
const patienceMs = 400;
/** And how long it may take until the field is there after all: on a slow machine, or over a slow line. */
const longestMs = 15_000;
const everyMs = 50;

/**
 * Looks for a while, and where nothing has the focus: the next question, else the field below the rows, else the page
 * has. What comes later gets it from the page, as long as nobody has gone on from there.
 */
export function lookForFocus(): void {
  const from = performance.now();
  let lostAt: number | undefined;
  let held: HTMLElement | undefined;
  const look = (): void => {
    const now = performance.now();
    const { activeElement: focused } = document;
    if (document.querySelector("dialog[open]")) return;
    if (focused !== document.body && (held === undefined || focused !== held)) {
      if (held === undefined && now - from < watchedMs) setTimeout(look, everyMs);
      return;
    }
    lostAt ??= now;
    // On a phone a field brings its keyboard along, which nobody asked for.
    const field = matchMedia("(pointer: coarse)").matches ? "" : ", .composer textarea";
    const next = document.querySelector<HTMLElement>(`[data-ask]${field}`);
    if (next) return next.focus();
    if (now - lostAt > patienceMs && !held?.isConnected) {
      held = document.getElementById("main") ?? undefined;
      held?.setAttribute("tabindex", "-1");
      held?.focus();
    }
    if (now - lostAt < longestMs) setTimeout(look, everyMs);
  };
  setTimeout(look);
}
