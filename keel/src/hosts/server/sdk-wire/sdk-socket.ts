/**
 * The official SDK's browser client over a WebSocket: the executable's lines, each ended by LF. What it is told is what
 * happens from the moment it comes; it has no cursor.
 */
import { toFault } from "../../../kernel/fault.ts";
import { toLine } from "../../../kernel/json.ts";
import { type ReceivedFrame, readFrame } from "../../../sdk/control/frames.ts";
import { parseJsonLine } from "../../../transport/strict-json.ts";
import type { ClientConnection, ClientPeer } from "../connection.ts";
import { lineQueue } from "../line-queue.ts";
import { SdkClient, type SdkSession } from "./sdk-client.ts";

export function openSdkSocket(
  options: SdkSession,
  peer: ClientPeer,
): Pick<ClientConnection, "receive" | "end"> {
  const lines = lineQueue(peer);
  const textOf = (line: object): string => `${toLine(line)}\n`;
  const client = new SdkClient(options, {
    push: (message) =>
      message.type === "stream_event" ? lines.sayLive(textOf(message)) : lines.say(textOf(message)),
    send: (frame) => void lines.say(textOf(frame)),
    end: lines.end,
  });
  client.start().catch((thrown: unknown) => lines.end(toFault(thrown)));
  return {
    receive(message) {
      for (const line of message.split("\n")) if (line.trim() !== "") client.take(frameOf(line));
    },
    end() {
      lines.end();
      // What is left to do for a client that has gone is nobody's any more.
      client.detach().catch(() => undefined);
    },
  };
}

function frameOf(line: string): ReceivedFrame {
  const parsed = parseJsonLine(line);
  return parsed.ok ? readFrame(parsed.value) : { kind: "bad", fault: parsed.error };
}
