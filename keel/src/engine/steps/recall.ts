/**
 * What earlier conversations said of an input, told after it: appended, so that nothing before it changes, and each passage
 * once in a session. It is data: it stands between tags that it cannot end, and permits nothing.
 */
import { note } from "../../core/context/blocks.ts";
import { enclose } from "../../core/context/enclose.ts";
import { recalledSays } from "../../core/model-text.ts";
import { oneLine, shorten, visible } from "../../kernel/text.ts";
import type { FoundChunk } from "../../ports/memory-index.ts";
import type { Input } from "../../protocol/event/durable.ts";
import { text, textOf } from "../../protocol/message.ts";
import type { StepContext } from "../step-context.ts";

const most = 5;
/** What all of it may take of a conversation. */
const maxCharacters = 8_000;

export async function recallFor(work: StepContext, input: Input): Promise<void> {
  const { recall } = work.parts;
  const words = textOf(input.content).trim();
  if (!recall || input.from.kind !== "person" || words === "") return;
  const told = new Set(work.state.worklist.recalled);
  const fresh = (await recall.about(words, work.signal)).filter((chunk) => !told.has(keyOf(chunk)));
  const chosen = fitting(fresh.slice(0, most));
  if (chosen.length === 0 || work.signal.aborted) return;
  if (recall.when === "ask" && !(await isWanted(work, chosen))) return;
  work.record({
    type: "context.added",
    content: [note(recalledSays), ...chosen.map((chunk) => text(enclosed(chunk)))],
    why: "recall",
    recalled: chosen.map(keyOf),
  });
}

/** The same after the index was made anew. */
const keyOf = ({ session, seq, part }: FoundChunk): string => `${session}:${seq}:${part}`;

function fitting(found: readonly FoundChunk[]): FoundChunk[] {
  let left = maxCharacters;
  return found.filter(({ passage }) => {
    if (passage.length > left) return false;
    left -= passage.length;
    return true;
  });
}

const enclosed = (chunk: FoundChunk): string =>
  enclose("keel-recalled", { session: chunk.session, date: dayOf(chunk), by: whoOf(chunk) }, chunk.passage);

const dayOf = ({ at }: FoundChunk): string => new Date(at).toISOString().slice(0, 10);

const whoOf = ({ source }: FoundChunk): string => (source.kind === "tool" ? source.tool : source.kind);

/** Who cannot be asked has not said yes. */
async function isWanted(work: StepContext, chosen: readonly FoundChunk[]): Promise<boolean> {
  if (work.parts.asks === "refused") return false;
  const shown = chosen.map(
    (chunk) => `${dayOf(chunk)} ${whoOf(chunk)}: ${visible(shorten(oneLine(chunk.passage), 200))}`,
  );
  const { answer } = await work.ask({
    id: `recall:${work.state.turn?.id ?? ""}`,
    kind: "permission",
    title: "Tell the model what earlier conversations said?",
    body: { kind: "text", text: shown.join("\n") },
    reason: "memory.recall is `ask`",
    options: [
      { id: "once", label: "Yes, for this message", verdict: "allow" },
      { id: "no", label: "No", verdict: "deny" },
    ],
  });
  return answer.verdict === "allow" && work.state.turn !== null && !work.signal.aborted;
}
