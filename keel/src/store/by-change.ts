/** In which order every store lists sessions. */
import type { SessionInfo } from "../ports/store.ts";

type Dated = Pick<SessionInfo, "id" | "changedAt">;

/** Newest change first, and one order of those that changed at once. */
export const byChange = (left: Dated, right: Dated): number =>
  right.changedAt - left.changedAt || (left.id < right.id ? 1 : left.id > right.id ? -1 : 0);
