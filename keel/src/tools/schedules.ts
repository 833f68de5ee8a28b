/** schedule_task, list_tasks, cancel_task: prompts by the clock, as the model makes, sees and ends them. */
import * as z from "zod/mini";
import type { Schedules, Scheduling } from "../ports/schedules.ts";
import type { Tool, ToolContext } from "../ports/tool.ts";
import { builtInTool, failure, flagField, said, textField } from "./built-in.ts";

const bySession = ({ session, worklist }: ToolContext): Scheduling => ({ session, mode: worklist().mode });

const taskInput = z.object({
  prompt: textField(
    "What is to be done then. Whoever does it knows nothing of this conversation, unless in_this_session is set.",
    z.minLength(1),
    z.maxLength(20_000),
  ),
  schedule_type: z.enum(["cron", "interval", "once"]).check(z.describe("How schedule_value is meant.")),
  schedule_value: textField(
    "cron: five fields, as clocks in time_zone show them. interval: 30m, 2h, 1d. once: a time with its offset, such as 2027-01-31T09:00:00+01:00.",
    z.minLength(1),
    z.maxLength(200),
  ),
  time_zone: z.optional(textField("Of cron: its name, such as Europe/Berlin; default the user's.")),
  name: z.optional(textField("Short, in lower case, digits and dashes.", z.maxLength(64))),
  in_this_session: flagField("Continue this conversation then; default a new one each time."),
});

export const scheduleTaskTool = (schedules: Schedules): Tool<z.infer<typeof taskInput>> =>
  builtInTool({
    name: "schedule_task",
    description:
      "Schedules a prompt: at a time, at intervals, or by a cron expression. It runs when Keel's server runs. Use it only when the user wants something done later or regularly.",
    deferred: true,
    searchHint: "cron schedule remind later every day timer",
    input: taskInput,
    claims: async ({ schedule_type, schedule_value }) => [
      { action: "use", target: `${schedule_type} ${schedule_value}` },
    ],
    run: async function* (input, context) {
      const { prompt, schedule_type: kind, schedule_value: value, time_zone: zone, name } = input;
      const order = { prompt, kind, value, zone, name, here: input.in_this_session === true };
      const made = await schedules.add(order, bySession(context));
      return made.ok ? said(made.value) : failure(made.error);
    },
  });

const nothing = z.object({});

export const listTasksTool = (schedules: Schedules): Tool<z.infer<typeof nothing>> =>
  builtInTool({
    name: "list_tasks",
    description: "Lists what is scheduled in this folder, with next and last runs.",
    deferred: true,
    searchHint: "cron schedule reminders timers",
    input: nothing,
    traits: { readOnly: true, concurrent: true, replay: "safe" },
    claims: async () => [],
    run: async function* (_, context) {
      const lines = await schedules.list(bySession(context));
      return said(lines.length > 0 ? lines.join("\n") : "Nothing is scheduled in this folder.");
    },
  });

const cancelInput = z.object({ task_id: textField("Its name, as list_tasks shows it.", z.minLength(1)) });

export const cancelTaskTool = (schedules: Schedules): Tool<z.infer<typeof cancelInput>> =>
  builtInTool({
    name: "cancel_task",
    description: "Removes a scheduled task that you made. Those of the user are the user's to end.",
    deferred: true,
    searchHint: "cron schedule remove reminder timer",
    input: cancelInput,
    claims: async ({ task_id }) => [{ action: "use", target: task_id }],
    run: async function* ({ task_id: id }, context) {
      const done = await schedules.cancel(id, bySession(context));
      return done.ok ? said(done.value) : failure(done.error);
    },
  });
