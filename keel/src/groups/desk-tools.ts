/** The tools that the agent of a group has for its group, as a table: what each is told, and who may call it. */
import * as z from "zod/mini";
import { parseWith, type Schema, sayIssues, schemaOf } from "../kernel/schema.ts";
import { groupIdSchema } from "../protocol/group.ts";

const said = (says: string) => z.string().check(z.minLength(1), z.maxLength(20_000), z.describe(says));
const other = z.optional(
  groupIdSchema.check(z.describe("Another group, by its id; only the main group may name one.")),
);
const taskId = z
  .string()
  .check(z.regex(/^[a-z0-9][a-z0-9-]{0,63}$/), z.describe("The id of the task, as list_tasks has it."));

export const scheduleTypes = ["cron", "interval", "once"] as const;
export const contextModes = ["group", "isolated"] as const;

const tools = {
  send_message: {
    says: "Writes to the group at once, while you still work. For a word in between, or from an agent that was told to: your answer itself is sent to the group without it. At most a few in a turn.",
    input: z.object({ text: said("What the group reads."), group: other }),
  },
  schedule_task: {
    says: "Schedules a prompt for yourself. When it is due you work on it as on a message, and what you answer is sent to the group like every answer. Say in the prompt whether the group is always to hear something, only under a condition, or never: where nothing is to be said, the answer has to stand between <internal> and </internal>.",
    input: z.object({
      prompt: said("What is to be done then, complete in itself."),
      schedule_type: z.enum(scheduleTypes).check(z.describe("How schedule_value is read.")),
      schedule_value: z
        .string()
        .check(
          z.minLength(1),
          z.maxLength(200),
          z.describe(
            "cron: an expression of five fields, in the time zone of the server. interval: like 90m, 2h or 1d, or milliseconds. once: a time with its offset, like 2027-01-31T09:00+01:00.",
          ),
        ),
      context_mode: z
        .optional(z.enum(contextModes))
        .check(
          z.describe(
            "group (the default): in the conversation of the group. isolated: in a new one each time, for prompts that need nothing of it.",
          ),
        ),
      group: other,
    }),
  },
  list_tasks: {
    says: "The scheduled tasks of the group, with their next and last times; for the main group those of all.",
    input: z.object({}),
  },
  pause_task: {
    says: "A scheduled task is not due until it is resumed.",
    input: z.object({ task_id: taskId }),
  },
  resume_task: {
    says: "A scheduled task goes on after a pause; what was due meanwhile is not made up for.",
    input: z.object({ task_id: taskId }),
  },
  cancel_task: { says: "Removes a scheduled task.", input: z.object({ task_id: taskId }) },
  list_chats: {
    says: "The groups, and the chats that channels have heard of and that are no groups yet. Only for the main group.",
    input: z.object({}),
  },
  register_group: {
    says: "Makes a group of a chat that a channel has heard of, with a folder and an agent of its own. Only for the main group, and only when its person asks for it.",
    input: z.object({
      chat: said("The chat, as list_chats has it: CHANNEL:CHAT."),
      id: groupIdSchema.check(z.describe("How the group is called here.")),
      name: z.optional(z.string().check(z.maxLength(200), z.describe("What people call it."))),
      trigger: z.optional(
        z
          .string()
          .check(z.maxLength(64), z.describe("What a message for the agent begins with: @keel if left out.")),
      ),
      always: z.optional(z.boolean().check(z.describe("Every message is meant for the agent."))),
    }),
  },
} as const;

export type DeskToolName = keyof typeof tools;
export type DeskInput<Name extends DeskToolName> = z.infer<(typeof tools)[Name]["input"]>;

export const isDeskTool = (name: string): name is DeskToolName => Object.hasOwn(tools, name);

/** Only of the person's own group. */
export const mainOnly: readonly DeskToolName[] = ["list_chats", "register_group"];

export const deskTools = (
  isMain: boolean,
): { name: string; description: string; schema: Schema<unknown> }[] =>
  Object.entries(tools)
    .filter(([name]) => isMain || !mainOnly.some((only) => only === name))
    .map(([name, { says, input }]) => ({
      name,
      description: says,
      schema: schemaOf(input as z.ZodMiniType<unknown>),
    }));

/** What is wrong with it, as text, or what it is. */
export function readDeskInput<Name extends DeskToolName>(
  name: Name,
  given: unknown,
): { readonly input: DeskInput<Name> } | string {
  // By its name the table has the schema of just this input.
  const parsed = parseWith(tools[name].input as unknown as z.ZodMiniType<DeskInput<Name>>, given);
  return parsed.ok ? { input: parsed.value } : sayIssues(parsed.error);
}
