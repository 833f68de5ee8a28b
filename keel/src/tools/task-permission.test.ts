// What a session was allowed to start it may look at and end without another question.
import { expect, test } from "vitest";
import { realClock } from "../../../test/support/real-workspace.ts";
import { openTestSession } from "../../../test/support/test-session.ts";
import { noRules } from "../policy/decide.ts";
import { parseRule } from "../policy/rules.ts";
import { memoryWorkspace } from "../testing/memory-workspace.ts";
import { reply, toolUse } from "../testing/reply.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { builtInTools } from "./catalog.ts";

const rule = (text: string) => [parseRule(text)].flatMap((parsed) => parsed ?? []);
/** One session that starts a task, looks at it and ends it; a person allows the command and nothing else. */
async function run(rules: Partial<typeof noRules>) {
  let task_id = "";
  const replies = [
    () => toolUse("Bash", { command: "serve", run_in_background: true }),
    () => toolUse("TaskOutput", { task_id, block: false }),
    () => toolUse("TaskStop", { task_id }),
  ];
  const model = scriptedModel(() => reply(replies.shift()?.() ?? "Done."), { clock: realClock });
  const opened = await openTestSession({
    tools: builtInTools(),
    clock: realClock,
    model,
    workspace: memoryWorkspace({
      shell: { serve: { output: "listening\n", runsMs: 60_000 } },
      clock: realClock,
    }),
    rules: { ...noRules, ...rules },
    answer: (ask) => ({ verdict: ask.tool === "Bash" ? "allow" : "deny" }),
  });
  opened.session.onEvent((event) => {
    if (event.type === "task.changed") task_id = event.taskId;
  });
  await opened.say("go");
  await opened.session.close("ended");
  return opened;
}

test("TaskOutput and TaskStop ask nobody", async () => {
  const opened = await run({});
  expect(opened.all("ask.opened").map(({ ask }) => ask.tool)).toEqual(["Bash"]);
  expect(opened.all("tool.started").map(({ tool, by }) => `${tool}: ${by}`)).toEqual([
    "Bash: host",
    "TaskOutput: read-only",
    "TaskStop: read-only",
  ]);
  expect(opened.all("tool.finished").map(({ failed }) => failed)).toEqual([false, false, false]);
});

test("a deny rule holds for them all the same", async () => {
  const opened = await run({ deny: rule("TaskStop") });
  expect(opened.all("tool.finished").map(({ denied }) => denied?.by)).toEqual([undefined, undefined, "rule"]);
});
