/** What takes the letters of a session, loaded with the first: most sessions get none. */
import type { Session } from "../../engine/session.ts";
import type { MemoryRegistration } from "../compose/memory-budget.ts";
import type { SessionComposition } from "../compose/session-composition.ts";
import type { TakeLetter } from "./letter.ts";
import type { LetterBox } from "./take-letter.ts";

/** Undefined where none come in: where nobody can be asked, what would be asked about is not taken. */
export function lateLetters({
  session,
  kit: { agents, parts, settings, letters },
  place,
}: {
  readonly session: Session;
  readonly kit: Pick<SessionComposition, "agents" | "parts" | "settings" | "letters">;
  readonly place: Pick<MemoryRegistration, "use">;
}): TakeLetter | undefined {
  const policy = settings.sessionMessages ?? "ask";
  if (policy === "refuse" || (policy === "ask" && letters !== "asked")) return undefined;
  const { supervisor, tree } = agents;
  let box: Promise<LetterBox> | undefined;
  return async (letter, signal) => {
    box ??= import("./take-letter.ts").then(
      (late) => new late.LetterBox({ session, tree, clock: parts.clock, policy }),
    );
    const opened = await box;
    await supervisor.revive();
    return place.use(() => opened.take(letter, signal));
  };
}
