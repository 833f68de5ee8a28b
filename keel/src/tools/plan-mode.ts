/** The tools of plan mode: in it nothing is changed until the person has approved a plan. */
import * as z from "zod/mini";
import { exitPlanName, planBegins } from "../core/model-text.ts";
import { present } from "../kernel/json.ts";
import type { ToolContext, ToolOutcome } from "../ports/tool.ts";
import type { Answer } from "../protocol/ask.ts";
import { text } from "../protocol/message.ts";
import { builtInTool, declined, textField } from "./built-in.ts";

/** Needs no permission: it only gives some up. */
export const enterPlanModeTool = builtInTool({
  name: "EnterPlanMode",
  family: "person",
  description:
    "Enters plan mode: you explore and design, and change nothing until the user has approved your plan. Use it for work with several reasonable approaches, or that would be costly to redo.",
  input: z.object({}),
  traits: { readOnly: true, replay: "safe" },
  claims: async () => [],
  check: async (_, context) => (context.worklist().mode === "plan" ? "Plan mode is on already." : undefined),
  run: async function* (_, context) {
    const { planFile, offered } = context.worklist();
    const message = planBegins({ file: planFile, tools: offered });
    return {
      content: [text(message)],
      display: { kind: "text", text: "Plan mode" },
      data: { message },
      mode: "plan",
    };
  },
});

const maxPlanCharacters = 100_000;

const input = z.looseObject({
  plan: z.optional(
    textField(
      "The plan in Markdown; default is the content of the plan file.",
      z.maxLength(maxPlanCharacters),
    ),
  ),
});
type ExitPlanModeInput = z.infer<typeof input>;

/** Shows the person the plan. Approved, the mode before it comes back; refused, the model plans on. */
export const exitPlanModeTool = builtInTool({
  name: exitPlanName,
  family: "person",
  description:
    "Presents your finished plan to the user for approval and leaves plan mode if they approve. Only in plan mode, and only for work that changes something; pure research needs no plan. Do not ask for approval in any other way.",
  input,
  // Asking again under the same id joins the question that is open.
  traits: { readOnly: true, replay: "safe" },
  claims: async () => [],
  check: async (given, context) => {
    const { mode, planFile } = context.worklist();
    if (mode !== "plan") return "Plan mode is not on, so there is nothing to approve. Go on with the work.";
    if ((await planOf(given, context)) !== undefined) return undefined;
    return `There is no plan yet. ${planFile === undefined ? "Give it as plan." : `Write it to ${planFile}, or give it as plan.`}`;
  },
  run: async function* (given, context) {
    const plan = (await planOf(given, context)) ?? "";
    if (given.plan !== undefined) await keep(plan, context);
    const { planFile } = context.worklist();
    const answer = await context.ask({
      kind: "plan",
      title: "Carry out this plan?",
      body: { kind: "markdown", text: plan },
      options: [
        { id: "yes", label: "Yes, and ask before each change", verdict: "allow" },
        { id: "edits", label: "Yes, and edit files without asking", verdict: "allow" },
        { id: "no", label: "No, keep planning", verdict: "deny" },
      ],
      input: { plan, ...present({ planFilePath: planFile }) },
    });
    if (answer.verdict === "deny")
      return declined(answer, {
        unsaid: "The person does not approve the plan.",
        then: "Plan mode is still on. Change the plan accordingly and show it again.",
      });
    const edited = editedPlan(answer);
    const isEdited = edited !== undefined && edited !== plan;
    if (isEdited) await keep(edited, context);
    return approved(isEdited ? edited : plan, { planFile, isEdited, option: answer.option });
  },
});

/** What was given, or what the file holds; undefined where there is nothing. */
async function planOf({ plan }: ExitPlanModeInput, context: ToolContext): Promise<string | undefined> {
  if (plan?.trim()) return plan;
  const { planFile } = context.worklist();
  if (planFile === undefined) return undefined;
  const read = await context.workspace.files.read(planFile, { maxBytes: maxPlanCharacters * 4 });
  const written = read.ok ? new TextDecoder().decode(read.file.bytes).slice(0, maxPlanCharacters) : "";
  return written.trim() === "" ? undefined : written;
}

/** For later turns and for people. The conversation holds the plan too, so that a file that fails costs nothing. */
async function keep(plan: string, context: ToolContext): Promise<void> {
  const { planFile } = context.worklist();
  if (planFile === undefined) return;
  const { path } = await context.workspace.files.describe(planFile);
  await context.workspace.files.write(path, new TextEncoder().encode(plan));
}

/** A host may change the plan while it approves it. */
function editedPlan({ data, input: changed }: Answer): string | undefined {
  for (const given of [data, changed]) {
    const parsed = input.safeParse(given);
    if (parsed.success && parsed.data.plan?.trim()) return parsed.data.plan;
  }
  return undefined;
}

type PlanFacts = { planFile: string | undefined; isEdited: boolean; option: string | undefined };

function approved(plan: string, { planFile, isEdited, option }: PlanFacts): ToolOutcome {
  const lead = isEdited
    ? "The person has changed the plan and approves it like this:"
    : "The person approves the plan:";
  const file = planFile === undefined ? "" : `\n\nIt stands in ${planFile}.`;
  return {
    content: [text(`${lead}\n\n${plan}${file}\nPlan mode is over. Carry it out now.`)],
    display: { kind: "markdown", text: plan },
    data: { plan, isAgent: false, planWasEdited: isEdited, ...present({ filePath: planFile }) },
    mode: option === "edits" ? "acceptEdits" : "before-plan",
  };
}
