/** Does what `next-step` said. */

import type { Step } from "../../core/next-step.ts";
import { never } from "../../kernel/result.ts";
import type { StepContext } from "../step-context.ts";
import { askModel } from "./ask-model.ts";
import { finish } from "./finish.ts";
import { takeInput } from "./take-input.ts";

export async function perform(work: StepContext, step: Step): Promise<void> {
  switch (step.kind) {
    case "take-input":
      return takeInput(work, step);
    case "ask-model":
      return askModel(work, step);
    case "run-tools":
      return (await import("./run-tools.ts")).runTools(work);
    case "compact":
      // Most sessions never need it.
      return (await import("./compact.ts")).compact(work, step);
    case "finish":
      return finish(work, step);
    case "idle":
      return;
    default:
      return never(step);
  }
}
