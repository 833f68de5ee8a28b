/** Calls on record: sessions as the engine writes them, with commands of the corpus, as lines of JSON. */
import { writeFile } from "node:fs/promises";
import * as z from "zod/mini";
import { schemaOf } from "../../keel/src/kernel/schema.ts";
import { defineTool } from "../../keel/src/ports/define-tool.ts";
import type { CommandJudging } from "../../keel/src/ports/shell.ts";
import type { Tool } from "../../keel/src/ports/tool.ts";
import type { Durable } from "../../keel/src/protocol/event/durable.ts";
import { isDurable } from "../../keel/src/protocol/event/envelope.ts";
import { text } from "../../keel/src/protocol/message.ts";
import { recordedDecisions } from "../../keel/src/protocol/recorded-decisions.ts";
import { memoryWorkspace } from "../../keel/src/testing/memory-workspace.ts";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { openGrammar } from "../../keel/src/workspace/processes/grammar.ts";
import { openTestSession } from "../../test/support/test-session.ts";
import { commandTexts } from "./commands.ts";

/** A shell that runs nothing. */
const still = defineTool({
  name: "Bash",
  description: "Runs nothing.",
  input: schemaOf(z.object({ command: z.string() })),
  claims: async ({ command }) => [{ action: "execute", target: command }],
  async *run() {
    return { content: [text("done")], display: { kind: "text", text: "done" } };
  },
}) as Tool;

const callsOfSession = 50;
const recorded = 500;

/** One line for each event, with the session that it is of. What was recorded once stands there again and again. */
export async function writePast(file: string, calls: number): Promise<void> {
  const texts = commandTexts().filter((command) => command.trim() !== "");
  const sessions: Durable[][] = [];
  const once = Math.min(2 * calls, recorded);
  for (let from = 0; from < once; from += callsOfSession)
    sessions.push(await recordedSession(texts.slice(from, Math.min(from + callsOfSession, once))));
  const lines: string[] = [];
  // Some of them are refused before anybody decides.
  for (let number = 0, decided = 0; decided < calls; number++) {
    const events = sessions[number % sessions.length] ?? [];
    decided += recordedDecisions(events).length;
    for (const event of events) lines.push(JSON.stringify({ ...event, session: `s${number}` }));
  }
  await writeFile(file, lines.join("\n"));
}

async function recordedSession(wanted: readonly string[]): Promise<Durable[]> {
  const { events, say } = await openTestSession({
    tools: [still],
    workspace: { ...memoryWorkspace(), commands },
    script: {
      replies: [
        ...wanted.map((command, at) => reply(toolUse("Bash", { command }, `c${at}`))),
        reply("Done."),
      ],
    },
  });
  await say("go");
  return events.filter(isDurable);
}

const commands: CommandJudging = {
  grammar: openGrammar(),
  home: "/home/dev",
  isTrusted: true,
  place: {
    find: async () => undefined,
    repository: async () => ({ kind: "own" }),
    search: async () => ({ folders: ["/usr/bin"], variables: {} }),
  },
};
