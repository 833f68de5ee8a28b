// What kinds of agents bring along: skills that they are told, and MCP servers that are theirs alone.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import type { AgentDefinition, Options } from "../../keel/src/sdk/options/options.ts";
import { query } from "../../keel/src/sdk/query/query.ts";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { everything, nobodyWith } from "../support/mcp-stage.ts";
import { all, sdkStage } from "../support/sdk-stage.ts";
import { verifies } from "../support/verifies.ts";

const patience = { timeout: 90_000 };
const waits = { startMs: 60_000, connectMs: 60_000 };
const server = { command: process.execPath, args: [everything, "stdio"] };
const isWorker = { systemContains: "You are the worker." };

/** One turn in which the worker is called, and echoes by a server if it has one. */
async function work(
  definition: Partial<AgentDefinition> | undefined,
  more: (cwd: string) => Options = () => ({}),
) {
  const stage = await sdkStage({
    rules: [
      { when: isWorker, reply: reply(toolUse("mcp__any__echo", { message: "from the worker" })), times: 1 },
      { when: isWorker, reply: reply("Worked.") },
    ],
    replies: [
      reply(
        toolUse("Agent", {
          description: "work",
          prompt: "the task itself",
          subagent_type: "worker",
          run_in_background: false,
        }),
      ),
      reply("Done."),
    ],
  });
  const agents = definition && {
    worker: { description: "Works.", prompt: "You are the worker.", ...definition },
  };
  const messages = await all(
    query({
      prompt: "go",
      options: {
        ...stage.options,
        allowedTools: ["Agent", "mcp__any"],
        settings: { mcp: waits },
        ...(agents ? { agents } : {}),
        ...more(stage.cwd),
      },
    }),
  );
  const bodies = stage.server.requests.map(({ body }) => JSON.stringify(body));
  const own = bodies.filter((body) => body.includes("You are the worker."));
  const others = bodies.filter((body) => !body.includes("You are the worker."));
  return { stage, text: JSON.stringify(messages), own, others };
}

function project(cwd: string, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(cwd, name)), { recursive: true });
    writeFileSync(path.join(cwd, name), text);
  }
}

const skills = {
  ".claude/skills/greeting/SKILL.md": "---\ndescription: How to greet.\n---\nSay ahoy, and never hello.",
  ".claude/skills/parting/SKILL.md": "---\ndescription: How to part.\n---\nSay farewell.",
};

test("its skills are told before its task, and to nobody else; one that there is not is told to the person", async () => {
  verifies("S2.7");
  const { own, others, text } = await work({ skills: ["greeting", "nothing", "parting"] }, (cwd) => {
    project(cwd, skills);
    return { settingSources: ["project"] };
  });
  expect(own[0]).toContain("never hello");
  expect(own[0]).toContain("Say farewell.");
  expect(own[0]?.indexOf("never hello")).toBeLessThan(own[0]?.indexOf("the task itself") ?? 0);
  expect(others.join()).not.toContain("never hello");
  expect(text).toContain("There is no skill called nothing.");
});

test("a skill that a rule denies is not told", async () => {
  const { own, text } = await work({ skills: ["greeting", "parting"] }, (cwd) => {
    project(cwd, skills);
    return { settingSources: ["project"], disallowedTools: ["Skill(greeting)"] };
  });
  expect(own[0]).not.toContain("never hello");
  expect(own[0]).toContain("Say farewell.");
  expect(text).toContain("denies the skill greeting");
});

test(
  "a server of its own is connected for it, has tools for it alone, and ends with it",
  patience,
  async () => {
    verifies("S4.60", "S4.55");
    const mark = `keel-outfit-${process.pid}`;
    const own = { ...server, args: [...server.args, mark] };
    const worked = await work({ mcpServers: [{ any: own }] });
    expect(worked.own[1]).toContain("Echo: from the worker");
    expect(worked.own[0]).toContain('"mcp__any__echo"');
    expect(worked.others.join()).not.toContain("mcp__any__");
    expect(await nobodyWith(mark)).toEqual([]);
  },
);

test("its own tools are asked about and denied like all others", patience, async () => {
  const { own, text } = await work({ mcpServers: [{ any: server }] }, () => ({
    allowedTools: ["Agent"],
    disallowedTools: ["mcp__any__echo"],
  }));
  expect(own[0]).not.toContain('"mcp__any__echo"');
  expect(text).not.toContain("Echo: from the worker");
});

test(
  "a server that is off is started for the agent of a program, and not for that of a project",
  patience,
  async () => {
    const off = { mcp: { ...waits, disabled: ["any"] }, mcpServers: { any: { type: "stdio", ...server } } };
    const programs = await work({ mcpServers: ["any"] }, () => ({ settings: off }));
    expect(programs.own[1]).toContain("Echo: from the worker");
    expect(programs.others.join()).not.toContain("mcp__any__echo");
    const projects = await work(undefined, (cwd) => {
      project(cwd, {
        ".claude/agents/worker.md":
          "---\nname: worker\ndescription: Works.\nmcpServers: any, none\n---\nYou are the worker.",
      });
      return { settingSources: ["project"], settings: off };
    });
    expect(projects.text).not.toContain("Echo: from the worker");
    expect(projects.text).toContain("not to be started");
    expect(projects.text).toContain("there is no such server");
  },
);

test("a session that works as such an agent has both", patience, async () => {
  const { stage, others, own } = await work(
    { skills: ["greeting"], mcpServers: [{ any: server }] },
    (cwd) => {
      project(cwd, skills);
      return { settingSources: ["project"], agent: "worker" };
    },
  );
  expect(stage.server.requests.length).toBe(2);
  expect(others).toEqual([]);
  expect(own[0]).toContain("never hello");
  expect(own[1]).toContain("Echo: from the worker");
});
