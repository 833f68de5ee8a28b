/** What becomes of the messages that a program has given ids: queued, started, completed or cancelled. Pure. */
import type { Durable } from "../../protocol/event.ts";
import type { SDKCommandLifecycleMessage } from "../messages/system.ts";
import { uuidFrom } from "./uuid.ts";

type LifecycleState = SDKCommandLifecycleMessage["state"];

export function lifecycleOf(
  event: Durable,
  { named, sessionId }: { named: ReadonlySet<string>; sessionId: string },
): SDKCommandLifecycleMessage[] {
  return statesOf(event)
    .filter(([id]) => named.has(id))
    .map(([id, state]) => ({
      type: "command_lifecycle",
      command_uuid: id,
      state,
      uuid: uuidFrom(`${sessionId}/${event.seq}/life/${id}`),
      session_id: sessionId,
    }));
}

function statesOf(event: Durable): [string, LifecycleState][] {
  switch (event.type) {
    case "input.accepted":
      return [[event.input.id, "queued"]];
    case "turn.started":
    case "input.joined":
      return event.inputIds.map((id) => [id, "started"]);
    case "input.dropped":
      return [[event.inputId, "cancelled"]];
    case "turn.finished": {
      const state = event.reason === "interrupted" || event.reason === "lost" ? "cancelled" : "completed";
      return event.inputIds.map((id) => [id, state]);
    }
    default:
      return [];
  }
}
