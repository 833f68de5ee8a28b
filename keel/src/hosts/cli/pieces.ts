/** Which messages a reader that lags still gets: whole ones always, the pieces of a reply only while it keeps up. */
import type { SDKMessage } from "../../sdk/messages.ts";
import type { Output } from "./output.ts";

/** From here on a reader that lags gets whole messages only: the pieces of a reply would wait in memory for nothing. */
const mostWaitingBytes = 4 * 1024 * 1024;

/** Pieces are left out from the first that finds the reader behind to the end of its reply: half a reply misleads. */
export function piecesFor(out: Pick<Output, "waitingBytes">): { mayPass(message: SDKMessage): boolean } {
  let skipping = false;
  return {
    mayPass(message) {
      if (message.type !== "stream_event") return true;
      if (message.event.type === "message_start") skipping = false;
      skipping ||= out.waitingBytes > mostWaitingBytes;
      return !skipping;
    },
  };
}
