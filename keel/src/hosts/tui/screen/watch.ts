/** What follows the state beside the screen: the title of the window, and a call when nobody looks. */
import type { Envelope } from "../../../protocol/event/envelope.ts";
import { bell, desktopNotice, setTitle } from "../writer/modes.ts";
import type { ScreenHost } from "./host.ts";
import type { ScreenState } from "./state.ts";
import type { ScreenStore } from "./store.ts";

/** Work that took this long is worth a notice when it is done. */
const longMs = 8_000;
/** Somebody who typed within this time is still there. */
const watchedMs = 10_000;

/** Returns what stops it. */
export function watchState(
  store: ScreenStore<ScreenState>,
  { settings, clock }: Pick<ScreenHost, "settings" | "clock">,
  say: (bytes: string) => void,
): (() => void)[] {
  const undo: (() => void)[] = [];
  if (settings.title) {
    undo.push(store.subscribe(titleOf, (title) => say(setTitle(title))));
    say(setTitle(titleOf(store.getState())));
  }
  const call = (words: string): void => {
    const { notify } = store.getState().settings;
    if (notify === "off" || isWatched(store.getState(), clock.now())) return;
    say(notify === "desktop" ? desktopNotice(words) : bell);
  };
  let asks = 0;
  let since = 0;
  undo.push(
    store.subscribe(
      (state) => state.asks.length,
      (count) => {
        if (count > asks) call("Keel asks something.");
        asks = count;
      },
    ),
    store.subscribe(
      (state) => state.activity.state === "idle",
      (isIdle) => {
        const now = clock.now();
        if (isIdle && now - since >= longMs) call("Keel is done.");
        since = now;
      },
    ),
  );
  return undo;
}

/** Where the terminal does not say, somebody who has just typed looks. */
const isWatched = ({ focus, typedAt }: ScreenState, now: number): boolean =>
  focus === "unknown" ? now - typedAt < watchedMs : focus === "here";

function titleOf({ asks, activity, session }: ScreenState): string {
  const count = asks.length > 0 ? `(${asks.length}) ` : activity.state === "running" ? "… " : "";
  const folder = session.cwd.slice(session.cwd.lastIndexOf("/") + 1);
  return `${count}${session.title ?? folder} - keel`;
}

/** Whether something beside the session may be another one now: a branch, the editor. */
export const isNewsAround = (event: Envelope): boolean =>
  (event.type === "turn.finished" && !event.origin) ||
  (event.type === "notice.raised" && event.code === "editor");
