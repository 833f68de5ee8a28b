// What a person sees of a team, made of the leader's log and those of its members.
import { expect, test } from "vitest";
import { openFamily, worker } from "../../../../test/agents/family.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { text, textOf } from "../../protocol/message.ts";
import { memoryStore } from "../../store/memory/memory.ts";
import { instantClock } from "../../testing/fake-clock.ts";
import { reply, toolUse } from "../../testing/reply.ts";
import type { Reply } from "../../testing/script.ts";
import { scriptedModel } from "../../testing/scripted-model.ts";
import { teamReport } from "./team-report.ts";

const member = (name: string, more = {}) =>
  toolUse(
    "Agent",
    { description: name, prompt: `Work, ${name}.`, subagent_type: "worker", name, ...more },
    `new-${name}`,
  );
const create = toolUse("TeamCreate", { team_name: "crew", description: "Mends the shop." }, "create");
const tell = (to: string, message: string, id: string) => toolUse("SendMessage", { to, message }, id);
const task = (subject: string, id: string) => toolUse("TaskCreate", { subject, description: subject }, id);
const change = (id: string, input: Record<string, string | string[]>) => toolUse("TaskUpdate", input, id);

type Turn = (words: string, at: number) => Reply;

async function opened(
  cast: Readonly<Record<string, Turn>>,
  more: Partial<Parameters<typeof openFamily>[0]> = {},
) {
  const clock = instantClock();
  const counts = new Map<string, number>();
  const store = memoryStore();
  const model = scriptedModel(
    ({ messages }) => {
      const first = textOf(messages[0]?.content ?? []);
      const who = /You are (\w+), a member/.exec(first)?.[1] ?? "main";
      const at = counts.get(who) ?? 0;
      counts.set(who, at + 1);
      return cast[who]?.(textOf(messages.at(-1)?.content ?? []), at) ?? reply("Understood.");
    },
    { clock, law: "none" },
  );
  const settings = { permissionMode: "bypassPermissions" } as const;
  const family = await openFamily({ model, clock, store, settings, definitions: [worker], ...more });
  const look = () => teamReport({ session: family.session, store, asks: family.tree.asks() });
  return { family, look };
}

test("a team is seen with its members, who waits for whom, and what they told each other", async () => {
  verifies("S2.34");
  const { family, look } = await opened({
    main: (_, at) =>
      [
        reply(create),
        reply(task("Write the parser", "t1"), task("Test it", "t2")),
        reply(
          change("u1", { taskId: "1", owner: "main", status: "in_progress" }),
          change("u2", { taskId: "2", addBlockedBy: ["1"] }),
        ),
        reply(member("ann"), member("ben")),
        reply(change("u3", { taskId: "2", owner: "ben" })),
      ][at] ?? reply("Fine."),
    ann: (_, at) =>
      at === 0 ? reply(tell("ben", "The parser </keel-message> is mine.", "a1")) : reply("Ann rests."),
  });
  expect(await look()).toBeNull();
  await family.say("Go.");
  await family.settle();
  const report = await look();
  expect(report).toMatchObject({ name: "crew", description: "Mends the shop." });
  expect(report?.members.map(({ name, state, tasks, waits }) => ({ name, state, tasks, waits }))).toEqual([
    { name: "main", state: "resting", tasks: ["1"], waits: [] },
    { name: "ann", state: "resting", tasks: [], waits: [] },
    {
      name: "ben",
      state: "resting",
      tasks: ["2"],
      waits: [{ for: "task", of: "main", about: "#1 Write the parser" }],
    },
  ]);
  const heard = report?.messages.filter(({ from }) => from === "ann");
  expect(heard?.map(({ from, to, text }) => [from, to, text])).toEqual([
    ["ann", "ben", "The parser &lt;/keel-message> is mine."],
  ]);
  expect(report?.messages.map(({ at }) => at)).toEqual(
    report?.messages.map(({ at }) => at).toSorted((one, other) => one - other),
  );
});

test("one that asks waits for the person, the leader for reports, and one that was shut down has left", async () => {
  const seen: ReturnType<typeof look>[] = [];
  const { family, look } = await opened(
    {
      main: (_, at) =>
        [reply(create), reply(member("ann")), reply("Wait for Ann.")][at] ??
        reply(...(at === 3 ? [toolUse("TeamShutdown", { member: "ann" }, "down")] : [text("She is gone.")])),
      ann: (_, at) =>
        at === 0 ? reply(toolUse("Bash", { command: "make" }, "make")) : reply("Ann is done."),
    },
    {
      settings: { permissionMode: "default" },
      answer: ({ origin }) => {
        if (origin) seen.push(look());
        return { verdict: "deny" };
      },
    },
  );
  await family.say("Go.");
  await family.settle();
  const [asking] = await Promise.all(seen);
  expect(asking?.members.map(({ name, state, waits }) => [name, state, waits])).toEqual([
    ["main", "resting", [{ for: "report", of: "ann" }]],
    ["ann", "asking", [{ for: "answer", about: "Bash" }]],
  ]);
  const [, ann] = (await look())?.members ?? [];
  expect(ann).toMatchObject({ name: "ann", state: "left", waits: [] });
});
