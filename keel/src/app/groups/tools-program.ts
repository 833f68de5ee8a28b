/**
 * The tools of a group as a server on standard streams, so that agents below its agent have them too. It has no rights
 * of its own: each call becomes a letter to the host, who knows by the folder whose it is.
 */
import { readFile, rm } from "node:fs/promises";
import path from "node:path";
import type { Readable, Writable } from "node:stream";
import { deskTools } from "../../groups/desk-tools.ts";
import { fault } from "../../kernel/fault.ts";
import { isObject, parseJson } from "../../kernel/json.ts";
import { type ServedAnswer, serveTools } from "../../mcp/serve-tools.ts";
import { FolderMailbox } from "../../store/groups/mailbox.ts";
import { nodeClock, nodeIds } from "../node-ports.ts";
import { groupServer } from "./group-opening.ts";

export const deskVariables = {
  requests: "KEEL_GROUP_REQUESTS",
  answers: "KEEL_GROUP_ANSWERS",
  main: "KEEL_GROUP_MAIN",
} as const;

/** How the program is started: by whoever has the group's agent. */
export const toolsProgram = (
  keel: { readonly command: string; readonly args: readonly string[] },
  { requests, answers, isMain }: { requests: string; answers: string; isMain: boolean },
) => ({
  command: keel.command,
  args: [...keel.args, "groups", "tools"],
  env: {
    [deskVariables.requests]: requests,
    [deskVariables.answers]: answers,
    [deskVariables.main]: isMain ? "1" : "0",
  },
});

type ToolsProgram = {
  readonly version: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly input: Readable;
  readonly output: Writable;
};

const answerMs = 30_000;

/** Throws `usage` where nobody said where the host is. */
export async function runGroupTools({ version, env, input, output }: ToolsProgram): Promise<void> {
  const { [deskVariables.requests]: requests, [deskVariables.answers]: answers } = env;
  if (requests === undefined || answers === undefined)
    throw fault("usage", { reason: "This is the program of a group's tools; `keel serve` starts it." });
  const mailbox = new FolderMailbox(requests);
  const [clock, ids] = [nodeClock(), nodeIds()];
  await serveTools({
    name: groupServer,
    version,
    input,
    output,
    tools: deskTools(env[deskVariables.main] === "1").map(({ name, description, schema }) => ({
      name,
      description,
      inputSchema: schema.json,
    })),
    async call(tool, given, signal) {
      const id = ids.uuid();
      await mailbox.post({ type: "call", id, tool, input: given }, { at: clock.now(), name: id });
      const late = new AbortController();
      void clock.sleep(answerMs, late.signal).then(() => late.abort());
      try {
        return await answerIn(answers, `${id}.json`, AbortSignal.any([signal, late.signal]));
      } finally {
        late.abort();
      }
    },
  });
}

async function answerIn(folder: string, name: string, signal: AbortSignal): Promise<ServedAnswer> {
  const file = path.join(folder, name);
  const answers = new FolderMailbox(folder);
  for (;;) {
    const answer = parseJson(await readFile(file, "utf8").catch(() => ""));
    if (isObject(answer)) {
      await rm(file, { force: true });
      return { text: String(answer["text"]), failed: answer["failed"] === true };
    }
    if (signal.aborted) return { text: unanswered, failed: true };
    await answers.changed(signal);
  }
}

const unanswered = "Nobody has answered: the server of the groups may be down. It may still be done.";
