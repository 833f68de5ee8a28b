// What may run: without a terminal nothing that must be asked, and with rules exactly what they say.
import { existsSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { byPosition, reply, toolUse } from "../../keel/src/testing/reply.ts";
import { lines, openStage } from "./stage.ts";

const touch = byPosition([reply(toolUse("Bash", { command: "touch made" })), reply("done")]);

test("without a terminal a question is refused, the model is told, and the result lists it", async () => {
  const stage = await openStage(touch);
  const ended = await stage.run(["-p", "go", "--output-format", "json"]);
  expect(ended.code).toBe(0);
  expect(existsSync(path.join(stage.project, "made"))).toBe(false);
  expect(lines(ended.stdout)[0]).toMatchObject({
    permission_denials: [{ tool_name: "Bash", tool_input: { command: "touch made" } }],
  });
  expect(JSON.stringify(stage.server.requests[1]?.body["messages"])).toContain("nobody to ask");
  const finished = stage.log().find(({ type }) => type === "tool.finished");
  expect(finished).toMatchObject({ failed: true, denied: { by: "no-host" } });
});

test("an allow rule lets exactly its command run", async () => {
  const stage = await openStage(touch);
  await stage.run(["-p", "go", "--allowed-tools", "Bash(touch other)"]);
  expect(existsSync(path.join(stage.project, "made"))).toBe(false);
  await stage.run(["-p", "go", "--allowed-tools", "Read,Bash(touch made)"]);
  expect(existsSync(path.join(stage.project, "made"))).toBe(true);
});

test("a tool that is denied by its bare name is not offered; deny beats allow and every mode", async () => {
  const stage = await openStage(touch);
  const bypass = ["--permission-mode", "bypassPermissions", "--allow-dangerously-skip-permissions"];
  await stage.run(["-p", "go", "--disallowedTools", "Bash", "--allowedTools", "Bash", ...bypass]);
  const tools = stage.server.requests[0]?.body["tools"] as { name: string }[];
  const names = tools.map(({ name }) => name);
  expect(names).toContain("Read");
  expect(names).not.toContain("Bash");
  await stage.run(["-p", "go", "--disallowed-tools", "Bash(touch:*)", ...bypass]);
  expect(existsSync(path.join(stage.project, "made"))).toBe(false);
});

test("skipping permissions needs its own flag, also when the settings ask for it", async () => {
  const stage = await openStage(touch);
  const refused = await stage.run(["-p", "go", "--permission-mode", "bypassPermissions"]);
  expect(refused).toMatchObject({ code: 64, stdout: "" });
  expect(refused.stderr).toContain("--allow-dangerously-skip-permissions");
  expect(stage.server.requests).toHaveLength(0);
  expect(stage.sessions()).toEqual([]);
});

test("a rule that is none is told and matches nothing", async () => {
  const stage = await openStage(touch);
  const ended = await stage.run(["-p", "go", "--allowed-tools", "Bash(touch made"]);
  expect(ended.stderr).toContain("is not a permission rule");
  expect(existsSync(path.join(stage.project, "made"))).toBe(false);
});

test("plan mode changes nothing, and acceptEdits accepts edits only", async () => {
  const stage = await openStage(touch);
  await stage.run(["-p", "go", "--permission-mode", "plan"]);
  await stage.run(["-p", "go", "--permission-mode", "acceptEdits"]);
  expect(existsSync(path.join(stage.project, "made"))).toBe(false);
  expect((await stage.run(["-p", "go", "--permission-mode", "yolo"])).code).toBe(64);
});
