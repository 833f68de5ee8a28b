// Skill, Agent and SendMessage: what they hand to their ports, and what they make of the answers.
import { describe, expect, test } from "vitest";
import { realTools } from "../../../test/support/real-tools.ts";
import { verifies } from "../../../test/support/verifies.ts";
import type { AgentOrder, Agents } from "../ports/agents.ts";
import type { Library } from "../ports/library.ts";
import { text } from "../protocol/message.ts";
import { agentTool } from "./agent.ts";
import { sendMessageTool } from "./send-message.ts";
import { skillTool } from "./skill.ts";

const real = realTools();

const library: Library = {
  skills: async () => [{ name: "ship-it", description: "How to release." }],
  readSkill: async ({ name, args }) =>
    args === "broken"
      ? { ok: false, why: "Its file is gone." }
      : { ok: true, text: `# ${name}\nRelease ${args}.` },
};

function fleet(): Agents & { orders: AgentOrder[]; sent: string[] } {
  const orders: AgentOrder[] = [];
  const sent: string[] = [];
  return {
    orders,
    sent,
    kinds: () => [
      { name: "general-purpose", description: "Anything." },
      { name: "reviewer", description: "Reviews." },
    ],
    async *start(order) {
      orders.push(order);
      yield { kind: "agent", name: order.kind, text: "reading" };
      if (order.prompt === "fail") return { ok: false, why: "No agent can be started." };
      return { ok: true, content: [text("It is low.")], data: { status: "completed", agentId: "a1" } };
    },
    async send({ to, text: words }) {
      sent.push(`${to}: ${words}`);
      return to === "nobody" ? { ok: false, why: "There is no agent called nobody." } : { ok: true };
    },
    team: () => Promise.reject(new Error("not called here")),
  };
}

describe("Skill", () => {
  test("gives the model the whole text with its arguments", async () => {
    verifies("S4.11");
    const call = await real.call(skillTool(library), { skill: "ship-it", args: "1.2" });
    expect(call.said).toBe("Follow this skill:\n\n# ship-it\nRelease 1.2.");
    expect(call).toMatchObject({
      claims: [{ action: "use", target: "ship-it" }],
      data: { success: true, commandName: "ship-it" },
    });
  });

  test("names the skills that there are", async () => {
    const call = await real.call(skillTool(library), { skill: "shipit" });
    expect(call).toMatchObject({
      refused: true,
      said: "There is no skill called shipit. There are: ship-it.",
    });
    const none: Library = { ...library, skills: async () => [] };
    expect((await real.call(skillTool(none), { skill: "x" })).said).toContain("There are none.");
  });

  test("that cannot be read is a failure with its reason", async () => {
    const call = await real.call(skillTool(library), { skill: "ship-it", args: "broken" });
    expect(call).toMatchObject({ failed: true, said: "Its file is gone." });
  });
});

describe("Agent", () => {
  test("hands the work over, shows how it goes, and returns the report", async () => {
    verifies("S4.11");
    const agents = fleet();
    const call = await real.call(agentTool(agents), {
      description: "Look",
      prompt: "Where is the keel?",
      run_in_background: false,
    });
    expect(agents.orders).toEqual([
      {
        kind: "general-purpose",
        description: "Look",
        prompt: "Where is the keel?",
        model: undefined,
        effort: undefined,
        name: undefined,
        isolation: undefined,
        when: "foreground",
      },
    ]);
    expect(call.shown).toEqual([{ kind: "agent", name: "general-purpose", text: "reading" }]);
    expect(call).toMatchObject({ said: "It is low.", data: { status: "completed", agentId: "a1" } });
    expect(call.claims).toEqual([{ action: "delegate", target: "general-purpose" }]);
  });

  test("leaves it to the kind of agent where it runs, and is also called Task", async () => {
    const agents = fleet();
    const tool = agentTool(agents);
    await real.call(tool, { description: "d", prompt: "p", subagent_type: "reviewer", name: "rev" });
    expect(agents.orders[0]).toMatchObject({ when: undefined, kind: "reviewer", name: "rev" });
    expect(tool.aliases).toContain("Task");
  });

  test("of an unknown kind names those that there are; one that cannot start says why", async () => {
    const unknown = await real.call(agentTool(fleet()), {
      description: "d",
      prompt: "p",
      subagent_type: "cook",
    });
    expect(unknown).toMatchObject({
      refused: true,
      said: "There is no agent of the kind cook. There are: general-purpose, reviewer.",
    });
    const failed = await real.call(agentTool(fleet()), { description: "d", prompt: "fail" });
    expect(failed).toMatchObject({ failed: true, said: "No agent can be started." });
  });
});

test("SendMessage tells an agent something, or says that there is none", async () => {
  const agents = fleet();
  const call = await real.call(sendMessageTool(agents), { to: "rev", message: "hurry" });
  expect(call).toMatchObject({ data: { success: true, to: "rev" } });
  expect(agents.sent).toEqual(["rev: hurry"]);
  const none = await real.call(sendMessageTool(agents), { to: "nobody", message: "hurry" });
  expect(none).toMatchObject({ failed: true, said: "There is no agent called nobody." });
});
