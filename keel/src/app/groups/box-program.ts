/**
 * The agent of a group inside of its box: takes its session from the first line of its input, messages from its mailbox,
 * and says between markers what comes of each. It ends when the mailbox is closed and nothing is at work.
 */
import path from "node:path";
import * as z from "zod/mini";
import { type BoxOutput, writeOutput } from "../../groups/markers.ts";
import { fault, toFault } from "../../kernel/fault.ts";
import { parseJson } from "../../kernel/json.ts";
import type { GroupAgent } from "../../ports/groups.ts";
import { jsonSchema } from "../../protocol/message.ts";
import { FolderMailbox } from "../../store/groups/mailbox.ts";
import { openHome } from "../home.ts";
import type { OpenSession } from "../open-session.ts";
import { optionsOfOpening } from "../sessions/opening-options.ts";
import { sessionAgent } from "./group-agent.ts";

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
  say(text: string): void;
};

/** Throws `usage` for a first line that is none. */
export async function runBox({ version, env, cwd, firstLine, say }: BoxProgram): Promise<void> {
  const parsed = firstLineSchema.safeParse(parseJson(firstLine));
  const folder = env["KEEL_BOX_MAILBOX"];
  if (!parsed.success || folder === undefined)
    throw fault("usage", { reason: "This is the program of a group's container; `keel serve` starts it." });
  const { opening, sessionId, groupFolder } = parsed.data;
  await using home = openHome({ env, cwd });
  let opened: Promise<OpenSession> | undefined;
  const use = (): Promise<OpenSession> => {
    opened ??= (async () => {
      const peers = { send: async () => ({ ok: false }) };
      const options = optionsOfOpening({ ...opening, cwd }, { version, env, peers });
      const isKnown = (await home.sessions.find(sessionId)) !== undefined;
      const session = await home.open(
        isKnown ? { ...options, which: { kind: "resume", from: { session: sessionId } } } : options,
      );
      if (isKnown) session.run().catch(() => undefined);
      return session;
    })();
    return opened;
  };
  await serveMailbox(new FolderMailbox(path.join(folder, "input")), {
    agent: sessionAgent({ id: groupFolder }, { use }),
    emit: (output) => say(writeOutput({ ...output, newSessionId: sessionId })),
  });
}

type MailboxHost = { readonly agent: GroupAgent; emit(output: BoxOutput): void };

/** Until it is closed. What lies there when it closes is still answered: a close is never read over. */
async function serveMailbox(mailbox: FolderMailbox, { agent, emit }: MailboxHost): Promise<void> {
  const working = new Set<Promise<void>>();
  const never = new AbortController();
  for (;;) {
    const { letters, isClosed } = await mailbox.letters();
    for (const letter of letters) {
      const { id, text, type } = letter.body;
      if (type === "message" && typeof id === "string" && typeof text === "string") {
        const taken = Promise.withResolvers<void>();
        const work = answer({ id, text }, { agent, emit, taken: taken.resolve }, never.signal).finally(() => {
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
  input: { readonly id: string; readonly text: string },
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
