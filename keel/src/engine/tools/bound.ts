/** A result that is too long for the model goes to a file; the model gets its head, its tail and the way to the rest. */
import { type ResultPart, text } from "../../protocol/message.ts";

export type Spill = (name: string, content: string) => Promise<{ path: string; bytes: number }>;

export type Bounded = { content: ResultPart[]; spilled?: { path: string; bytes: number } };

/** Share of the room that the head gets: the start of an output says what it is, its end how it went. */
const headShare = 0.4;

export async function bound(
  content: readonly ResultPart[],
  { callId, mostCharacters, spill }: { callId: string; mostCharacters: number; spill: Spill },
): Promise<Bounded> {
  const whole = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  if (whole.length <= mostCharacters) return { content: [...content] };
  const spilled = await spill(`${callId}.txt`, whole);
  const head = whole.slice(0, Math.floor(mostCharacters * headShare));
  const tail = whole.slice(whole.length - (mostCharacters - head.length));
  const middle = `[${whole.length - head.length - tail.length} characters left out; the whole output (${spilled.bytes} bytes) is in ${spilled.path}]`;
  const others = content.filter((part) => part.type !== "text");
  return { content: [text(`${head}\n\n${middle}\n\n${tail}`), ...others], spilled };
}
