// A program with many conversations and little room: says how it went, as one line of JSON.
import { getHeapStatistics } from "node:v8";
import { Fault } from "../../keel/src/kernel/fault.ts";
import type { Options } from "../../keel/src/sdk/options/options.ts";
import { createSession, type SDKSession } from "../../keel/src/sdk/query/session.ts";

type Wish = {
  readonly options: Options;
  readonly conversations: number;
  /** Of each conversation, and how many of them have room. */
  readonly characters: number;
  readonly room: number;
};

const { options, conversations, characters, room }: Wish = JSON.parse(process.argv[2] ?? "{}");
const limits = { maxHeapMb: 0 };
const settings = { autoCompactEnabled: false, limits };

const words = (name: string): string => `${name} ${"word ".repeat(characters / 5)}`;

async function converse(session: SDKSession, said: string): Promise<string> {
  await session.send(said);
  for await (const message of session.stream())
    if (message.type === "result") return message.subtype === "success" ? message.result : message.subtype;
  return "nothing";
}

// The first conversation brings the code with it, and shows what one holds without its words.
limits.maxHeapMb = 100_000;
const first = await createSession({ ...options, settings });
await converse(first, "hello");
limits.maxHeapMb = Math.ceil(held() + (room * characters) / 2 ** 20);

const sessions: SDKSession[] = [];
const answers: string[] = [];
for (let opened = 0; opened < conversations; opened++) {
  const session = await createSession({ ...options, settings });
  sessions.push(session);
  answers.push(await converse(session, words(`conversation-${opened}`)));
}
const heldAfter = held();
for (const [index, session] of sessions.entries())
  answers.push(await converse(session, `once more, conversation-${index}`));

const { taken, refused } = await fill();
const last = await converse(first, "and you, the first?");
await Promise.all([first, ...sessions].map((session) => session.close()));
const bound = limits.maxHeapMb;
process.stdout.write(
  `${JSON.stringify({ answers, bound, heldAfter, taken, refused, last, fits: held() < bound })}\n`,
);

/** Megabytes of the heap that are in use, once what nobody holds is gone. */
function held(): number {
  globalThis.gc?.();
  return getHeapStatistics().used_heap_size / 2 ** 20;
}

/** What waits for a turn cannot be read again from anywhere: it stays, until no more of it is taken. */
async function fill(): Promise<{ taken: number; refused: string }> {
  const waits = await createSession({ ...options, settings });
  const later = (content: string) => ({
    type: "user" as const,
    message: { role: "user" as const, content },
    shouldQuery: false,
  });
  let taken = 0;
  try {
    for (; taken < conversations * 2; taken++) await waits.send(later(words(`later-${taken}`)));
    return { taken, refused: "nothing" };
  } catch (thrown) {
    return { taken, refused: thrown instanceof Fault ? thrown.code : String(thrown) };
  } finally {
    await waits.close();
  }
}
