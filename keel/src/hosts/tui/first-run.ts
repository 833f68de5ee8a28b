/** No key: what there is to do is said plainly, and each way can be taken from here. */
import type { Fault } from "../../kernel/fault.ts";
import { exitCodes } from "../../kernel/faults.ts";
import { choose } from "./choice.ts";
import type { ScreenDoor } from "./door.ts";
import { listPanel } from "./screen/panel.ts";
import { bold, span, words } from "./text/styled.ts";

/** Asks the command for a rehearsal by this code; it alone can open its stage. */
export const rehearseInstead = -1;

export async function withoutKey(fault: Fault, { terminal, env, say, stopped }: ScreenDoor): Promise<number> {
  const picked = await choose({
    ports: terminal,
    env,
    lines: [
      words([bold(fault.message)]),
      words([span("Keel works with a model of a provider, or with one that runs on your own machine.")]),
    ],
    panel: listPanel("first-run", "How do you want to begin?", [
      { id: "rehearse", label: "See a rehearsal", note: "no key, no network" },
      { id: "key", label: "Set a key", note: "how, in one line" },
      { id: "local", label: "Use a model on this machine", note: "how, in one line" },
    ]),
    signal: stopped.signal,
  });
  switch (picked?.id) {
    case "rehearse":
      return rehearseInstead;
    case "key":
      say("Set it for this shell:   export ANTHROPIC_API_KEY=…   (or OPENAI_API_KEY)");
      say("Or let Keel keep it:     keel auth set anthropic");
      return exitCodes.ended;
    case "local":
      say("Name the address of your server and a model of it:");
      say("  OPENAI_BASE_URL=http://127.0.0.1:8080/v1 keel --model NAME");
      return exitCodes.ended;
    default:
      return fault.exitCode;
  }
}
