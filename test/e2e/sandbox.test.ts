// The sandbox of commands through the built command: what settings say, what the model is told, what is asked.
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { byPosition, reply, toolUse } from "../../keel/src/testing/reply.ts";
import { openProcessGuard } from "../../keel/src/workspace/processes/process-guard.ts";
import { LocalSandbox } from "../../keel/src/workspace/sandbox/sandbox.ts";
import { notRunHere } from "../support/not-run.ts";
import { verifies } from "../support/verifies.ts";
import { openStage, type Stage } from "./stage.ts";

const guard = openProcessGuard({ env: process.env });
const { layer, why } = await new LocalSandbox({ env: process.env, guard }).describe();
await guard.close();

const calls = (...inputs: Record<string, string | boolean>[]) =>
  byPosition([...inputs.map((input) => reply(toolUse("Bash", input))), reply("done")]);

function settings(stage: Stage, sandbox: Record<string, unknown>, more: Record<string, unknown> = {}): void {
  mkdirSync(stage.home, { recursive: true });
  writeFileSync(path.join(stage.home, "settings.json"), JSON.stringify({ sandbox, ...more }));
}

const told = (stage: Stage, at: number): string =>
  JSON.stringify(stage.server.requests[at]?.body["messages"]);
const isHere = (): boolean => layer !== "none";
const missing = (): void => notRunHere("the sandbox of the built command", why ?? "");

/** The caretaker comes after Keel's end. */
const waiting = { timeout: 5_000 };

/** What no reader of commands can see. */
const script = (stage: Stage, words: string): void =>
  writeFileSync(path.join(stage.project, "work.sh"), words);

test("commands run inside without a question, and the model is told what was refused", async () => {
  verifies("S2.46", "S2.49", "P10");
  if (!isHere()) return missing();
  const stage = await openStage(calls({ command: "bash work.sh" }));
  script(
    stage,
    "echo in > made; echo out > ~/outside; touch /etc/keel-e2e; touch /usr/keel-e2e; cat ~/home/settings.json",
  );
  settings(stage, { enabled: true, failIfUnavailable: true, ignoreViolations: { bash: ["/usr"] } });
  expect(await stage.run(["-p", "go"])).toMatchObject({ code: 0 });
  await expect.poll(() => readdirSync(stage.project), waiting).toEqual(["made", "work.sh"]);
  expect(existsSync(path.join(stage.project, "..", "outside"))).toBe(false);
  expect(told(stage, 1)).toContain("The sandbox refused");
  const [, refused = ""] = told(stage, 1).split("The sandbox refused");
  expect(refused).toContain("to write /etc/keel-e2e");
  expect(told(stage, 1)).not.toContain("failIfUnavailable");
  // What the person does not want to hear of is left out of the words about it.
  expect(refused).not.toContain("/usr/keel-e2e");
});

test("a run outside is asked about, with what was refused, and refused where nobody answers", async () => {
  verifies("S2.47");
  if (!isHere()) return missing();
  const command = "bash work.sh";
  const stage = await openStage(calls({ command }, { command, dangerouslyDisableSandbox: true }));
  script(stage, "touch /etc/keel-e2e-asked");
  settings(stage, { enabled: true });
  const bypass = ["--permission-mode", "bypassPermissions", "--allow-dangerously-skip-permissions"];
  await stage.run(["-p", "go", ...bypass]);
  expect(existsSync("/etc/keel-e2e-asked")).toBe(false);
  const asked = JSON.stringify(stage.log().filter(({ type }) => type === "ask.opened"));
  expect(asked).toContain("UNSANDBOXED");
  expect(asked).toContain("write /etc/keel-e2e-asked");
});

test("a project makes it stricter and never looser", async () => {
  verifies("G38");
  if (!isHere()) return missing();
  const stage = await openStage(calls({ command: "bash work.sh" }));
  script(stage, "echo x > made; echo y > ../outside; cat hidden");
  writeFileSync(path.join(stage.project, "hidden"), "hidden words");
  settings(stage, { enabled: true });
  mkdirSync(path.join(stage.project, ".keel"));
  const filesystem = { allowWrite: [".."], denyRead: ["hidden"] };
  const sandbox = { enabled: false, excludedCommands: ["bash:*"], filesystem };
  writeFileSync(path.join(stage.project, ".keel", "settings.json"), JSON.stringify({ sandbox }));
  const ended = await stage.run(["-p", "go"]);
  expect(existsSync(path.join(stage.project, "made"))).toBe(true);
  expect(existsSync(path.join(stage.project, "..", "outside"))).toBe(false);
  expect(told(stage, 1)).not.toContain("hidden words");
  expect(ended.stderr).toContain("a project may not set sandbox");
});

test("hooks are inside where that is wanted", async () => {
  if (!isHere()) return missing();
  const hook = { type: "command", command: "touch $HOME/by-hook; touch by-hook" };
  const hooks = { PreToolUse: [{ matcher: "Bash", hooks: [hook] }] };
  const outside = (stage: Stage): boolean => existsSync(path.join(stage.project, "..", "by-hook"));
  const inside = await openStage(calls({ command: "true" }));
  settings(inside, { enabled: true, hooks: true }, { hooks });
  await inside.run(["-p", "go"]);
  expect([existsSync(path.join(inside.project, "by-hook")), outside(inside)]).toEqual([true, false]);
  const free = await openStage(calls({ command: "true" }));
  settings(free, { enabled: true }, { hooks });
  await free.run(["-p", "go"]);
  expect(outside(free)).toBe(true);
});

test("what a command leaves running lives until Keel ends, and nothing is left on the disk", async () => {
  verifies("G38");
  if (!isHere()) return missing();
  const stage = await openStage(
    calls({ command: "sleep 300 & echo left" }, { command: "pgrep -x sleep && echo lives" }),
  );
  settings(stage, { enabled: true });
  mkdirSync(path.join(stage.project, "..", "tmp"));
  await stage.run(["-p", "go"], { env: { TMPDIR: path.join(stage.project, "..", "tmp") } });
  expect(told(stage, 2)).toContain("lives");
  await expect.poll(() => readdirSync(stage.project), waiting).toEqual([]);
  await expect.poll(() => readdirSync(path.join(stage.project, "..", "tmp")), waiting).toEqual([]);
});
