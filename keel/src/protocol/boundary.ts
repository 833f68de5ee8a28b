/**
 * Which events may break the start that a provider keeps of our requests, and where: the one place that says so. What
 * is not declared here must leave every request an extension of the one before it, or the request law fails.
 */
import type { Event } from "./event/envelope.ts";

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

export function boundariesOf(event: Event): Boundary[] {
  switch (event.type) {
    case "prompt.fixed":
      return [{ what: "prompt", why: event.why }];
    case "context.compacted":
      return [{ what: "messages", why: `compacted (${event.trigger})` }];
    case "context.cleared":
      return [{ what: "messages", why: "cleared" }];
    case "settings.changed": {
      const { model, thinking, effort } = event.patch;
      const found: Boundary[] = [];
      if (model !== undefined) found.push({ what: "model", why: event.why });
      if (thinking || effort) found.push({ what: "thinking", why: event.why });
      return found;
    }
    default:
      return [];
  }
}
