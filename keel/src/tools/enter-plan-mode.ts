/** EnterPlanMode: from here on nothing is changed until the person has approved a plan. Needs no permission: it only gives some up. */
import * as z from "zod/mini";
import { planBegins } from "../core/model-text.ts";
import { text } from "../protocol/message.ts";
import { builtInTool } from "./built-in.ts";

const input = z.object({});

export const enterPlanModeTool = builtInTool({
  name: "EnterPlanMode",
  family: "person",
  description:
    "Begins plan mode, in which you look and think but change nothing until the person has approved your plan. For work that can be done in several ways, or that would be costly to redo.",
  input,
  traits: { readOnly: true, replay: "safe" },
  claims: async () => [],
  check: async (_, context) => (context.desk().mode === "plan" ? "Plan mode is on already." : undefined),
  run: async function* (_, context) {
    const { planFile, offered } = context.desk();
    const message = planBegins({ file: planFile, tools: offered });
    return {
      content: [text(message)],
      display: { kind: "text", text: "Plan mode" },
      data: { message },
      mode: "plan",
    };
  },
});
