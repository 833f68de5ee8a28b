/** An open session of this process, as whoever may as well be far away has it. */
import type { SessionHandle } from "../../protocol/handle.ts";
import type { OpenSession } from "../open-session.ts";

/** A session of this process as a handle: what a face has of it, and nothing that could not cross a wire. */
export function nearHandle(session: OpenSession): SessionHandle {
  const detached = new AbortController();
  return {
    id: session.id,
    async submit(command) {
      if (command.type !== "close") return session.submit(command);
      await session.close("ended");
      return { type: "done" };
    },
    events: (afterSeq, signal, take) =>
      session.attach(afterSeq, signal ? AbortSignal.any([signal, detached.signal]) : detached.signal, take),
    asks: async () => session.openAsks(),
    inquire: session.inquire,
    detach: async () => detached.abort(),
  };
}
