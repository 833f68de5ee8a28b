/** The app socket of the console wire: every change of workspaces, workers and their activity, on one connection. */
import type { ServedSessions } from "../../../app/sessions/served-sessions.ts";
import { toFault } from "../../../kernel/fault.ts";
import type { ClientConnection, ClientPeer } from "../connection.ts";
import { lineQueue } from "../line-queue.ts";
import { type AppLine, type AppMemo, syncOf, toAppLines } from "./app-dialect.ts";
import { appLineSchema, readLine } from "./lines.ts";

export function openAppSocket(
  served: Pick<ServedSessions, "workspaces">,
  peer: ClientPeer,
): Pick<ClientConnection, "receive" | "end"> {
  const lines = lineQueue(peer);
  const stop = new AbortController();
  const say = (line: AppLine): void => void lines.say(JSON.stringify(line));
  let memo: AppMemo = new Map();
  void (async () => {
    for await (const update of served.workspaces.watch(stop.signal)) {
      const [told, next] = toAppLines(update, memo);
      memo = next;
      for (const line of told) say(line);
    }
  })().catch((thrown: unknown) => lines.end(toFault(thrown)));
  return {
    receive(message) {
      const read = readLine(appLineSchema, message);
      say(read.ok ? syncOf(memo) : { type: "error", message: read.error, code: "line_invalid" });
    },
    end() {
      stop.abort();
      lines.end();
    },
  };
}
