/**
 * A conversation of twelve turns with edits, commands, parallel calls, questions, wrong calls, a cut reply and a
 * compaction; in the end it goes on from an earlier message. The model looks at what it is asked instead of counting, so that it says the same when it is asked again.
 */
import type { Session } from "../../keel/src/engine/session.ts";
import type { ModelRequest } from "../../keel/src/ports/model.ts";
import type { Answer, Ask } from "../../keel/src/protocol/ask.ts";
import type { Durable } from "../../keel/src/protocol/event/durable.ts";
import { text } from "../../keel/src/protocol/message.ts";
import { reply, replyWith, toolUse } from "../../keel/src/testing/reply.ts";
import type { Reply } from "../../keel/src/testing/script.ts";

export const files = { "a.txt": "alpha\nbeta\n", "b.txt": "one\ntwo\n" };

export const commands = {
  "echo first >> count.txt": { output: "first\n", writes: { "/project/first.txt": "first" } },
  "echo second >> count.txt": { output: "second\n", writes: { "/project/second.txt": "second" } },
  "echo third >> count.txt": { output: "third\n", writes: { "/project/third.txt": "third" } },
};

const read = (file: string, id: string) => toolUse("Read", { file_path: `/project/${file}` }, id);
const edit = (file: string, from: string, to: string, id: string) =>
  toolUse("Edit", { file_path: `/project/${file}`, old_string: from, new_string: to }, id);
const bash = (command: keyof typeof commands, id: string) => toolUse("Bash", { command }, id);

/** What the model says to each input, and to the results of each call. */
const inputs: Record<string, Reply> = {
  "turn 1": reply("Good morning."),
  "turn 2": reply("Reading both.", read("a.txt", "r1"), read("b.txt", "r2")),
  "turn 3": reply(edit("a.txt", "alpha", "ALPHA", "e1")),
  "turn 4": reply(bash("echo first >> count.txt", "s1")),
  "turn 5": reply(read("a.txt", "r3"), edit("b.txt", "two", "TWO", "e2"), read("b.txt", "r4")),
  "turn 6": replyWith({ stop: "output_limit" }, "This sentence is cut"),
  "turn 7": reply(toolUse("Missing", {}, "x1"), toolUse("Read", { wrong: true }, "x2")),
  "turn 8": reply("Still here, with notes."),
  "turn 9": reply(bash("echo second >> count.txt", "s2"), bash("echo third >> count.txt", "s3")),
  "turn 10": reply(edit("b.txt", "one", "ONE", "e3")),
  "turn 11": reply(edit("a.txt", "beta", "BETA", "e4")),
  "turn 12": reply("Good night."),
};

const afterCalls: Record<string, Reply> = {
  r2: reply("Read both."),
  e1: reply(read("a.txt", "r5")),
  r5: reply("It is written."),
  s1: reply("It ran."),
  r4: reply("All three done."),
  x2: reply("My mistake."),
  s3: reply("Both ran."),
  e3: reply("Edited."),
  e4: reply("Then not."),
};

export function answerOf(request: ModelRequest): Reply {
  const newest = request.messages.at(-1)?.content ?? [];
  const lastCall = newest.findLast((block) => block.type === "tool_result")?.callId;
  const words = newest.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  if (words.includes("about to be shortened")) return reply("Notes: files a and b were edited.");
  if (words.includes("cut off at its length limit")) return reply("and here is its end.");
  const input = Object.keys(inputs).findLast((key) => words.split("\n").includes(key));
  const found = input === undefined ? lastCall && afterCalls[lastCall] : inputs[input];
  if (!found) throw new Error(`The scenario has no answer to ${JSON.stringify(newest)}`);
  return found;
}

/** Everything is allowed but the edit of turn 11. */
export const answerAsk = (ask: Ask): Answer =>
  ask.callId === "e4" ? { verdict: "deny", reason: "Leave beta alone." } : { verdict: "allow" };

/** What the host does, from the start or after a restart: sending an input again is accepted once. */
export async function play(session: Session, written: readonly Durable[]): Promise<void> {
  await session.run();
  for (let turn = 1; turn <= 12; turn++) {
    if (turn === 8 && !written.some(({ type }) => type === "compaction.requested")) {
      await session.submit({ type: "compact" });
      await session.run();
    }
    // What turn 11 said and was refused is left: the last turn follows the tenth.
    if (turn === 12 && !written.some(({ type }) => type === "context.returned"))
      await session.submit({ type: "return", to: endOf(written, 10) });
    await session.submit({ type: "input", id: inputId(turn), content: [text(`turn ${turn}`)] });
    await session.run();
  }
}

const endOf = (written: readonly Durable[], turn: number): number =>
  written.find((event) => event.type === "turn.finished" && event.inputIds.includes(inputId(turn)))?.seq ?? 0;

export const inputId = (turn: number): string => `00000000-0000-4000-8000-${String(turn).padStart(12, "0")}`;
