/** How requests and calls end, in the words of the conventions. */
import type { Durable } from "../../protocol/event/durable.ts";
import type { Stop } from "../../protocol/reasons.ts";

export const finishReasons: Readonly<Record<Stop, string>> = {
  end: "stop",
  stop_sequence: "stop",
  tool_use: "tool_call",
  output_limit: "length",
  window_full: "length",
  refusal: "content_filter",
  pause: "pause",
};

export function errorOf(event: Extract<Durable, { type: "tool.finished" }>): string | undefined {
  if (event.denied) return "denied";
  if (event.interrupted) return "interrupted";
  if (event.invalid) return "invalid";
  return event.failed ? "failed" : undefined;
}
