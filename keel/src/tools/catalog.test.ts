import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { builtInTools, type ToolPorts } from "./catalog.ts";
import { chooseTools } from "./presets.ts";

const absent = (): never => {
  throw new Error("not called here");
};
const ports: ToolPorts = {
  web: { address: absent, fetch: absent },
  search: { missing: absent, search: absent },
  library: { skills: absent, readSkill: absent },
  agents: { kinds: absent, start: absent, send: absent, team: absent },
};

test("the built-in tools are sorted, described, and short", () => {
  verifies("S4.15", "S4.8");
  const tools = builtInTools(ports);
  const names = tools.map(({ name }) => name);
  expect(names).toEqual([
    "Agent",
    "AskUserQuestion",
    "Bash",
    "Edit",
    "EnterPlanMode",
    "ExitPlanMode",
    "Glob",
    "Grep",
    "MultiEdit",
    "NotebookEdit",
    "Read",
    "SendMessage",
    "Skill",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
    "TeamCreate",
    "TeamDelete",
    "TeamShutdown",
    "TodoWrite",
    "ToolSearch",
    "WebFetch",
    "WebSearch",
    "Write",
  ]);
  expect(names).toEqual(names.toSorted());
  for (const {
    name,
    description,
    spec: { input },
  } of tools) {
    expect(input, name).toMatchObject({ type: "object" });
    expect(JSON.stringify({ name, description, input_schema: input }).length, name).toBeLessThan(3_000);
  }
});

test("the preset full offers everything that makes sense", () => {
  verifies("S0.21", "S2.8");
  const { web, search } = ports;
  const names = (choice?: "full") => {
    const builtIn = builtInTools({ web, search });
    return chooseTools({ builtIn, asks: "refused", list: "tasks", choice }).tools.map(({ name }) => name);
  };
  expect(names()).toEqual([
    "Bash",
    "Edit",
    "Glob",
    "Grep",
    "MultiEdit",
    "NotebookEdit",
    "Read",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
    "WebFetch",
    "WebSearch",
    "Write",
  ]);
  expect(names("full")).toEqual(names());
});

test("what all of them say of themselves fits into a request with room for the rest", () => {
  const bytes = builtInTools(ports)
    .filter(({ deferred }) => !deferred)
    .map(({ name, description, spec }) => JSON.stringify({ name, description, input_schema: spec.input }))
    .reduce((sum, spec) => sum + Buffer.byteLength(spec), 0);
  // A first request has 24 KB for tools, system prompt and reminders.
  expect(bytes).toBeLessThan(18_000);
});

test("what needs a port is there only with it", () => {
  verifies("S4.8");
  const without = builtInTools().map(({ name }) => name);
  const needing = builtInTools(ports).filter(({ name }) => !without.includes(name));
  expect(needing.map(({ name }) => name)).toEqual(
    "Agent SendMessage Skill TeamCreate TeamDelete TeamShutdown WebFetch WebSearch".split(" "),
  );
});

test("every field of every tool is described to the model", () => {
  // These take nothing.
  const empty = ["EnterPlanMode", "TaskList", "TeamDelete"];
  for (const { name, spec } of builtInTools(ports)) {
    const fields = Object.entries(spec.input["properties"] ?? {});
    expect(fields.length === 0, name).toBe(empty.includes(name));
    for (const [field, schema] of fields) expect(schema, `${name}.${field}`).toHaveProperty("description");
  }
});

test("what is known of a tool before it is loaded is what the loaded one says", async () => {
  for (const head of builtInTools(ports)) {
    const { name, aliases, description, spec, deferred, resultCharacters } = await head.load();
    expect({ name, aliases, description, spec, deferred, resultCharacters }, name).toEqual({
      name: head.name,
      aliases: head.aliases,
      description: head.description,
      spec: head.spec,
      deferred: head.deferred,
      resultCharacters: head.resultCharacters,
    });
  }
});
