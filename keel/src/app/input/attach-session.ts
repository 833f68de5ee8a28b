/** Attaches what was said in another session of the person's, which they name with `@session-ID`: its end, as words. */
import { enclose } from "../../core/context/enclose.ts";
import type { Store } from "../../ports/store.ts";
import { type InputBlock, text } from "../../protocol/message.ts";
import { saidIn } from "../sessions/said-in.ts";

const named = /^session-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** Undefined for what names no session. */
export const namedSession = (mention: string): string | undefined => named.exec(mention)?.[1];

export async function sessionBlock(
  id: string,
  store: Pick<Store, "read">,
  maxCharacters: number,
): Promise<InputBlock | { readonly problem: string }> {
  const said: string[] = [];
  try {
    for await (const event of store.read(id, 0))
      for (const { by, text: words } of saidIn(event))
        said.push(`${by === "person" ? "Person" : "Agent"}: ${words}`);
  } catch {
    return { problem: "there is no such session." };
  }
  if (said.length === 0) return { problem: "nothing was said in it." };
  const whole = said.join("\n\n");
  const shown = whole.slice(-maxCharacters);
  const note = shown.length < whole.length ? "(Only its end is here.)\n\n" : "";
  return text(enclose("keel-session", { id }, note + shown));
}
