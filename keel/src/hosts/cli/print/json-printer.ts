/** `--output-format json` and `stream-json`: the SDK's messages, one JSON object per line and nothing else. */
import { toLine } from "../../../kernel/json.ts";
import { toMessages } from "../../../sdk/dialect/dialect.ts";
import { type InitFacts, withFacts } from "../../../sdk/dialect/memo.ts";
import { messagesFold } from "../../../sdk/dialect/messages-fold.ts";
import type { SDKMessage } from "../../../sdk/messages/messages.ts";
import type { Context } from "../context.ts";
import { piecesFor } from "../output.ts";
import type { NewPrinter } from "./printer.ts";

export type JsonOutput = {
  /** The last result only, or every message as it comes. */
  readonly show: "result" | "all";
  /** `pieces`: also what arrives while a reply is written. */
  readonly replies: "whole" | "pieces";
};

export const jsonPrinter =
  ({ show, replies }: JsonOutput): NewPrinter =>
  async (session, context) => {
    // A session that goes on counts on: its totals are in its log.
    let memo = await session.fold(messagesFold(factsOf(session, context, replies)));
    const pieces = piecesFor(context.out);
    let result: SDKMessage | undefined;
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

function factsOf(
  { id, info, notices }: Parameters<NewPrinter>[0],
  { version }: Context,
  replies: JsonOutput["replies"],
): InitFacts {
  return {
    sessionId: id,
    cwd: info.cwd,
    model: info.model,
    permissionMode: info.permissionMode,
    tools: info.tools,
    slashCommands: info.commands.map(({ name }) => name),
    skills: info.skills,
    plugins: info.plugins.map((plugin) => ({ ...plugin })),
    outputStyle: info.outputStyle.name,
    agents: info.agents.map(({ name }) => name),
    version,
    apiKeySource: info.keySource,
    models: info.models,
    warnings: notices.flatMap(({ level, text }) => (level === "warning" ? [text] : [])),
    projectTrust: { root: info.trust.root, state: info.trust.state, left_out: [...info.trust.leftOut] },
    partialMessages: replies === "pieces",
  };
}
