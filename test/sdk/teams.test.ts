// Seed 002's lifecycle through `query()`, with real HTTP and real files: the leader's result comes first, more follow while
// the team works, and the generator ends when nobody is at work. With a string as prompt nobody is killed.
import { expect, test } from "vitest";
import { query } from "../../keel/src/sdk/query/query.ts";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { all, sdkStage } from "../support/sdk-stage.ts";
import { verifies } from "../support/verifies.ts";

const names = ["ann", "ben", "cleo"];
const start = (name: string) =>
  toolUse(
    "Agent",
    { description: `look, ${name}`, prompt: "Look.", subagent_type: name, name },
    `new_${name}`,
  );

test("one string as prompt: result 1, the ends of three members, result 2, the end", async () => {
  verifies("S2.34", "S2.35", "S4.57");
  const stage = await sdkStage({
    rules: names.flatMap((name, index) => [
      // Longer than the leader needs for its first result.
      {
        when: { systemContains: `You are the ${name} kind.` },
        reply: { ...reply(`Report of ${name}.`), delayMs: 400 + 150 * index },
      },
    ]),
    replies: [
      reply(toolUse("TeamCreate", { team_name: "crew" }, "create")),
      reply(...names.map(start)),
      reply("The team is at work."),
    ],
    otherwise: reply("Heard of it."),
  });
  const agents = Object.fromEntries(
    names.map((name) => [name, { description: "Looks.", prompt: `You are the ${name} kind.` }]),
  );
  const messages = await all(
    query({
      prompt: "Go.",
      options: { ...stage.options, agents, allowedTools: ["Agent", "TeamCreate", "SendMessage"] },
    }),
  );
  const kinds = messages.map((message) =>
    message.type === "system" ? `system/${message.subtype}` : message.type,
  );
  const results = messages.flatMap((message, at) => (message.type === "result" ? [{ message, at }] : []));
  expect(results.length).toBeGreaterThan(1);
  expect(results[0]?.message).toMatchObject({ subtype: "success", result: "The team is at work." });
  expect(results.every(({ message }) => message.subtype === "success")).toBe(true);
  const ends = messages.flatMap((message, at) =>
    message.type === "system" && message.subtype === "task_notification" ? [{ message, at }] : [],
  );
  expect(ends.map(({ message }) => message.status)).toEqual(["completed", "completed", "completed"]);
  for (const { at } of ends) expect(at).toBeGreaterThan(results[0]?.at ?? Number.POSITIVE_INFINITY);
  for (const name of names) expect(JSON.stringify(messages)).toContain(`Report of ${name}.`);
  expect(kinds[0]).toBe("system/init");
  expect(kinds.at(-1)).toBe("result");
});
