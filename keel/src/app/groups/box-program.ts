/**
 * The agent of a group inside of its box: takes its session from the first line of its input, messages from its mailbox,
 * and says between markers what comes of each. It ends when the mailbox is closed and nothing is at work.
 */
import * as z from "zod/mini";
import { type BoxOutput, writeOutput } from "../../groups/markers.ts";
import { fault, toFault } from "../../kernel/fault.ts";
import { parseJson } from "../../kernel/json.ts";
import type { AgentInput, GroupAgent } from "../../ports/groups.ts";
import { jsonSchema } from "../../protocol/message.ts";
import { FolderMailbox } from "../../store/groups/mailbox.ts";
import { openHome } from "../home.ts";
import type { OpenSession } from "../open-session.ts";
import { optionsOfOpening } from "../sessions/opening-options.ts";
import { sessionAgent } from "./group-agent.ts";
import { serversOf } from "./group-opening.ts";
import { deskVariables, toolsProgram } from "./tools-program.ts";
import { tellUnaskedResults } from "./unasked-results.ts";

const firstLineSchema = z.object({
  opening: z.object({ cwd: z.string(), options: z.record(z.string(), jsonSchema) }),
  sessionId: z.string(),
  groupFolder: z.string(),
  chatJid: z.string(),
  isMain: z.boolean(),
});

export type BoxProgram = {
  readonly version: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly firstLine: string;
  /** How `keel` is started here. */
  readonly keel: { readonly command: string; readonly args: readonly string[] };
  say(text: string): void;
};

/** Throws `usage` for a first line that is none. */
export async function runBox({ version, env, cwd, firstLine, keel, say }: BoxProgram): Promise<void> {
  const parsed = firstLineSchema.safeParse(parseJson(firstLine));
  const folder = env["KEEL_BOX_MAILBOX"];
  if (!parsed.success || folder === undefined)
    throw fault("usage", { reason: "This is the program of a group's container; `keel serve` starts it." });
  const { opening, sessionId, groupFolder, isMain } = parsed.data;
  const { [deskVariables.requests]: requests, [deskVariables.answers]: answers } = env;
  const tools = requests && answers ? toolsProgram(keel, { requests, answers, isMain }) : undefined;
  const options = { ...opening.options, ...(tools ? { mcpServers: serversOf(tools) } : {}) };
  await using home = openHome({ env, cwd });
  const opened = new Map<string, Promise<OpenSession>>();
  const emit = (output: BoxOutput): void => say(writeOutput({ ...output, newSessionId: sessionId }));
  const open = async (id: string): Promise<OpenSession> => {
    const peers = { send: async () => ({ ok: false }) };
    const wish = optionsOfOpening({ cwd, options: { ...options, sessionId: id } }, { version, env, peers });
    const isKnown = (await home.sessions.find(id)) !== undefined;
    const session = await home.open(
      isKnown ? { ...wish, which: { kind: "resume", from: { session: id } } } : wish,
    );
    tellUnaskedResults(session, ({ id: input, text }) =>
      emit({ status: "success", input, step: "result", at: 0, result: text }),
    );
    if (isKnown) session.run().catch(() => undefined);
    return session;
  };
  const use = (id = sessionId): Promise<OpenSession> => {
    const session = opened.get(id) ?? open(id);
    opened.set(id, session);
    return session;
  };
  await serveMailbox(new FolderMailbox(folder), { agent: sessionAgent({ id: groupFolder }, { use }), emit });
}

type MailboxHost = { readonly agent: GroupAgent; emit(output: BoxOutput): void };

/** Until it is closed. What lies there when it closes is still answered: a close is never read over. */
async function serveMailbox(mailbox: FolderMailbox, { agent, emit }: MailboxHost): Promise<void> {
  const working = new Set<Promise<void>>();
  const never = new AbortController();
  for (;;) {
    const { letters, isClosed } = await mailbox.letters();
    for (const letter of letters) {
      const { id, text, type, isAlone, session } = letter.body;
      if (type === "message" && typeof id === "string" && typeof text === "string") {
        const taken = Promise.withResolvers<void>();
        const input: AgentInput = {
          id,
          text,
          isAlone: isAlone === true,
          session: typeof session === "string" ? session : undefined,
        };
        const work = answer(input, { agent, emit, taken: taken.resolve }, never.signal).finally(() => {
          taken.resolve();
          working.delete(work);
        });
        working.add(work);
        // In the log before the letter is gone, and before the next is read.
        await taken.promise;
      }
      await mailbox.remove(letter);
    }
    if (isClosed && letters.length === 0) break;
    if (letters.length === 0) await mailbox.changed(never.signal);
  }
  await Promise.all(working);
}

async function answer(
  input: AgentInput,
  { agent, emit, taken }: MailboxHost & { taken(): void },
  signal: AbortSignal,
): Promise<void> {
  const about = { input: input.id, result: null, status: "success" } as const;
  try {
    for await (const one of agent.say(input, signal)) {
      if (one.kind === "taken") {
        taken();
        emit({ ...about, step: "taken", at: 0 });
      } else if (one.kind === "result") emit({ ...about, step: "result", at: one.at, result: one.text });
      else {
        const isDone = one.how === "done";
        const how = isDone ? about : { ...about, status: "error" as const, error: one.why };
        return emit({ ...how, step: "ended", at: 0 });
      }
    }
  } catch (thrown) {
    emit({ ...about, status: "error", error: toFault(thrown).code, step: "ended", at: 0 });
  }
}
