/** Does what `next-step` said. */

import type { Step } from "../../core/next-step.ts";
import { never } from "../../kernel/result.ts";
import type { StepContext } from "../step-context.ts";
import { askModel } from "./ask-model.ts";
import { compact } from "./compact.ts";
import { finish } from "./finish.ts";
import { runTools } from "./run-tools.ts";
import { takeInput } from "./take-input.ts";

export function perform(work: StepContext, step: Step): Promise<void> {
  switch (step.kind) {
    case "take-input":
      return takeInput(work, step);
    case "ask-model":
      return askModel(work, step);
    case "run-tools":
      return runTools(work);
    case "compact":
      return compact(work, step);
    case "finish":
      return finish(work, step);
    case "idle":
      return Promise.resolve();
    default:
      return never(step);
  }
}
