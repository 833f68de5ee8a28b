/** What a session does, in the words of the page: for its head, and for who cannot see it. */
import type { SessionView } from "../live/session-view.ts";
import { words } from "../words.ts";

export function sayActivity({ activity }: SessionView): string {
  const { state, doing, openAsks } = activity;
  if (state === "asking") return words.doing.asking(openAsks.length);
  if (state === "idle") return words.doing.idle;
  switch (doing.kind) {
    case "nothing":
    case "asking-model":
      return words.doing.thinking;
    case "writing":
      return words.doing.writing;
    case "compacting":
      return words.doing.compacting;
    case "running-tools":
      return words.doing.running([...new Set(doing.calls.map(({ tool }) => tool))].join(", "));
    case "retrying":
      return words.doing.retrying(doing.attempt, doing.mostAttempts, doing.why);
  }
}
