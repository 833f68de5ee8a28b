/** What had the focus may go: somebody who works by keys is not sent back to the start of the page. */

/** How long after something has changed the focus may be lost by it: what it leads to is loaded, or told by the server. */
const watchedMs = 1_500;
/** How long a question or a field is waited for, before the page itself has the focus. */
const patienceMs = 400;
const everyMs = 50;

/** Looks for a while, and where nothing has the focus: the next question, else the field below the rows, else the page has. */
export function keepFocus(): void {
  const from = performance.now();
  let lostAt: number | undefined;
  const look = (): void => {
    const now = performance.now();
    if (document.querySelector("dialog[open]")) return;
    if (document.activeElement !== document.body) {
      if (now - from < watchedMs) setTimeout(look, everyMs);
      return;
    }
    lostAt ??= now;
    // On a phone a field brings its keyboard along, which nobody asked for.
    const field = matchMedia("(pointer: coarse)").matches ? "" : ", .composer textarea";
    const next = document.querySelector<HTMLElement>(`[data-ask]${field}`);
    if (next) return next.focus();
    if (now - lostAt < patienceMs) return void setTimeout(look, everyMs);
    const main = document.getElementById("main");
    main?.setAttribute("tabindex", "-1");
    main?.focus();
  };
  setTimeout(look);
}
