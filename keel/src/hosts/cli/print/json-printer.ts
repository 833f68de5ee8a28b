/** `--output-format json` and `stream-json`: the SDK's messages, one JSON object per line and nothing else. */
import { toLine } from "../../../kernel/json.ts";
import { toMessages } from "../../../sdk/dialect/dialect.ts";
import { withFacts } from "../../../sdk/dialect/memo.ts";
import { factsOf, messagesFold } from "../../../sdk/dialect/messages-fold.ts";
import type { SDKSentMessage } from "../../../sdk/messages/messages.ts";
import { piecesFor } from "../output.ts";
import type { NewPrinter } from "./converse.ts";

export type JsonOutput = {
  /** The last result only, or every message as it comes. */
  readonly show: "result" | "all";
  /** `pieces`: also what arrives while a reply is written. */
  readonly replies: "whole" | "pieces";
  /** Also when hooks run. */
  readonly hookEvents?: boolean;
  /** Also the prompt itself. */
  readonly echoes?: boolean;
};

export const jsonPrinter =
  ({ show, replies, hookEvents = false, echoes = false }: JsonOutput): NewPrinter =>
  async (session, context) => {
    const facts = {
      ...factsOf(session, context.version),
      partialMessages: replies === "pieces",
      hookEvents,
      replayUserMessages: echoes,
    };
    // A session that goes on counts on: its totals are in its log.
    let memo = await session.fold(messagesFold(facts));
    const pieces = piecesFor(context.out);
    let result: SDKSentMessage | undefined;
    return {
      event(envelope) {
        // Servers come and go: each turn says which there are.
        if (envelope.type === "turn.started") memo = withFacts(memo, serverFacts(session));
        const [messages, next] = toMessages(envelope, memo);
        memo = next;
        for (const message of messages) {
          if (message.type === "result") result = message;
          if (show === "all" && pieces.mayPass(message)) context.out.line(toLine(message));
        }
      },
      finish() {
        if (show === "result" && result) context.out.line(toLine(result));
      },
    };
  };

const serverFacts = ({ mcp, toolNames }: Parameters<NewPrinter>[0]) => ({
  tools: toolNames(),
  mcpServers: mcp.status().map(({ name, status }) => ({ name, status })),
});
