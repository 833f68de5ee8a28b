/** What is recorded of an input that somebody sent. Pure. */
import type { Command } from "../protocol/command.ts";
import type { Input } from "../protocol/event/durable.ts";

export function acceptedInput(id: string, command: Extract<Command, { type: "input" }>): Input {
  const { content, from = { kind: "person" }, when = "after", allow, model } = command;
  return {
    id,
    content,
    from,
    when,
    ...(allow ? { allow } : {}),
    ...(model === undefined ? {} : { model }),
  };
}
