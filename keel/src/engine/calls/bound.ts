/** A result that is too long for the model goes to a file; the model gets its head, its tail and the way to the rest. */
import { Fault, toFault } from "../../kernel/fault.ts";
import { type ResultPart, text } from "../../protocol/message.ts";

export type SpillText = (name: string, content: string) => Promise<{ path: string; bytes: number }>;

export type Bounded = { content: ResultPart[]; spilled?: { path: string; bytes: number } };

/** Share of the room that the head gets: the start of an output says what it is, its end how it went. */
const headShare = 0.4;

export async function bound(
  content: readonly ResultPart[],
  { callId, maxCharacters, spill }: { callId: string; maxCharacters: number; spill: SpillText },
): Promise<Bounded> {
  const whole = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  if (whole.length <= maxCharacters) return { content: [...content] };
  const kept = await spill(`${callId}.txt`, whole).catch((thrown: unknown) => toFault(thrown));
  const head = whole.slice(0, Math.floor(maxCharacters * headShare));
  const tail = whole.slice(whole.length - (maxCharacters - head.length));
  const omitted = `${whole.length - head.length - tail.length} characters left out`;
  // The call has had its effects: what it said is told as far as it goes.
  if (kept instanceof Fault) return { content: shown(`${omitted}; they could not be kept: ${kept.message}`) };
  const middle = `${omitted}; the whole output (${kept.bytes} bytes) is in ${kept.path}`;
  return { content: shown(middle), spilled: kept };

  function shown(words: string): ResultPart[] {
    const others = content.filter((part) => part.type !== "text");
    return [text(`${head}\n\n[${words}]\n\n${tail}`), ...others];
  }
}
