/** How a session is opened: what a new one begins with, and what becomes of a turn that an old one left unfinished. */
import type { DurableEvent } from "../protocol/event/durable.ts";

export type OpenedFields = Omit<Extract<DurableEvent, { type: "session.opened" }>, "type">;

/** `first`: what a new session begins with beside its settings. */
export type SessionOpening = {
  start: OpenedFields;
  first?: readonly DurableEvent[];
  unfinished?: "continue" | "lost";
};
