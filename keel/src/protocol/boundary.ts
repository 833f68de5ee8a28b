/**
 * Which events may break the start that a provider keeps of our requests, and where: the one place that says so. What
 * is not declared here must leave every request an extension of the one before it, or the request law fails.
 */
import { type Event, type EventHandlers, handle } from "./event/envelope.ts";

/** The parts of a request, in the provider's order: a change in one makes all after it new. */
export type Section = "tools" | "system" | "thinking" | "messages";

export type Boundary = {
  readonly what: "prompt" | "thinking" | "messages" | "model";
  /** The event's own word for it. */
  readonly why: string;
};

/** Another model has a cache of its own: it starts a lineage, and changes nothing in the one that is left. */
export const changedSections: Readonly<Record<Boundary["what"], readonly Section[]>> = {
  prompt: ["tools", "system"],
  thinking: ["thinking"],
  messages: ["messages"],
  model: [],
};

export const boundariesOf = (event: Event): Boundary[] => handle(declared, event) ?? [];

const declared: EventHandlers<Event, [], Boundary[]> = {
  "prompt.fixed": ({ why }) => [{ what: "prompt", why }],
  "context.compacted": ({ trigger }) => [{ what: "messages", why: `compacted (${trigger})` }],
  "context.cleared": () => [{ what: "messages", why: "cleared" }],
  "context.returned": () => [{ what: "messages", why: "returned" }],
  "settings.changed": ({ patch: { model, thinking, effort }, why }) => [
    ...(model === undefined ? [] : [{ what: "model", why } as const]),
    ...(thinking || effort ? [{ what: "thinking", why } as const] : []),
  ],
};
