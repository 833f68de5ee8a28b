// What may run: without a terminal nothing that must be asked, and with rules exactly what they say.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { byPosition, reply, toolUse } from "../../keel/src/testing/reply.ts";
import { notRunHere } from "../support/not-run.ts";
import { verifies } from "../support/verifies.ts";
import { lines, openStage, type Stage } from "./stage.ts";
import { openWire } from "./wire-client.ts";

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

describe.each([[["--dangerously-skip-permissions"]], [["--permission-mode", "bypassPermissions"]]])(
  "%j",
  (flags) => {
    const made = (stage: Stage): boolean => existsSync(path.join(stage.project, "made"));

    test("is the word of whoever starts the command", async () => {
      const stage = await openStage(touch);
      expect(await stage.run(["-p", "go", ...flags])).toMatchObject({ code: 0, stderr: "" });
      expect(made(stage)).toBe(true);
    });

    test("is the word of whoever starts the executable", async () => {
      const stage = await openStage(touch);
      const wire = openWire(stage, { args: flags });
      wire.say("go");
      wire.endInput();
      expect(await wire.ended).toMatchObject({ code: 0 });
      expect(wire.lines.find(({ subtype }) => subtype === "init")).toMatchObject({
        permissionMode: "bypassPermissions",
      });
      expect(made(stage)).toBe(true);
    });

    test("is refused for root outside of a sandbox", async () => {
      if (process.getuid?.() !== 0) return notRunHere("root", "not run as root");
      const stage = await openStage(touch);
      const refused = await stage.run(["-p", "go", ...flags], { env: { IS_SANDBOX: "" } });
      expect(refused).toMatchObject({ code: 64, stdout: "" });
      expect(refused.stderr).toMatch(/root.*IS_SANDBOX=1/);
      expect(stage.sessions()).toEqual([]);
      const wire = openWire(stage, { args: flags, env: { IS_SANDBOX: "" } });
      wire.say("go");
      wire.endInput();
      expect(await wire.ended).toMatchObject({ code: 64 });
      expect(wire.err()).toMatch(/root.*IS_SANDBOX=1/);
      expect(stage.server.requests).toHaveLength(0);
      expect(made(stage)).toBe(false);
    });

    test("is refused where an administrator forbids it", async () => {
      const stage = await openStage(touch);
      const managed = path.join(stage.project, "managed.json");
      writeFileSync(managed, '{"permissions":{"disableBypassPermissionsMode":"disable"}}');
      const refused = await stage.run(["-p", "go", ...flags], { env: { KEEL_MANAGED_SETTINGS: managed } });
      expect(refused).toMatchObject({ code: 64, stdout: "" });
      expect(refused.stderr).toContain("the settings forbid it");
      expect(made(stage)).toBe(false);
    });
  },
);

test("no settings file takes the questions away by itself", async () => {
  const stage = await openStage(touch);
  mkdirSync(stage.home, { recursive: true });
  const wish = '{"permissions":{"defaultMode":"bypassPermissions"},"env":{"IS_SANDBOX":"1"}}';
  writeFileSync(path.join(stage.home, "settings.json"), wish);
  const ended = await stage.run(["-p", "go"]);
  expect(ended.stderr).toContain("--allow-dangerously-skip-permissions");
  expect(existsSync(path.join(stage.project, "made"))).toBe(false);
});

test("a rule that is none is told and matches nothing", async () => {
  const stage = await openStage(touch);
  const ended = await stage.run(["-p", "go", "--allowed-tools", "Bash(touch made"]);
  expect(ended.stderr).toContain("is not a permission rule");
  expect(existsSync(path.join(stage.project, "made"))).toBe(false);
});

test("a rule that forbids and cannot be read stops the start where it is an option, and is told where it stands in a file", async () => {
  verifies("G29");
  const stage = await openStage(touch);
  const asked = () => stage.server.requests.length;
  for (const option of [
    ["--disallowed-tools", "Bash(touch"],
    ["--settings", JSON.stringify({ permissions: { deny: ["Bash(touch"] } })],
    ["--settings", JSON.stringify({ permissions: { deny: "Bash(touch:*)" } })],
  ]) {
    const ended = await stage.run(["-p", "go", ...option]);
    expect(ended, option.join(" ")).toMatchObject({ code: 64, stdout: "" });
  }
  expect(asked()).toBe(0);

  mkdirSync(path.join(stage.project, ".keel"));
  writeFileSync(
    path.join(stage.project, ".keel/settings.json"),
    JSON.stringify({ permissions: { deny: ["Bash(touch", "Bash(touch made)"] } }),
  );
  const told = await stage.run(["-p", "go", "--output-format", "stream-json", "--verbose"]);
  expect(told.code).toBe(0);
  expect(told.stderr).toContain("what it should deny is NOT denied");
  const init = lines(told.stdout).find((message) => message["subtype"] === "init");
  expect(init?.["warnings"]).toEqual([expect.stringContaining('"Bash(touch" (deny)')]);
  // Its neighbour holds.
  expect(stage.log().find(({ type }) => type === "tool.finished")).toMatchObject({ denied: { by: "rule" } });
});

test("permissions are not bypassed while a part of the administrator's settings cannot be read", async () => {
  verifies("G29");
  const stage = await openStage(touch);
  const file = path.join(stage.home, "..", "managed.json");
  const env = { KEEL_MANAGED_SETTINGS: file };
  const bypass = ["--permission-mode", "bypassPermissions", "--allow-dangerously-skip-permissions"];
  for (const deny of [["Bash(rm"], "Bash(rm:*)"]) {
    writeFileSync(file, JSON.stringify({ permissions: { deny } }));
    const ended = await stage.run(["-p", "go", ...bypass], { env });
    expect(ended).toMatchObject({ code: 64, stdout: "" });
    expect(ended.stderr).toContain("administrator");
  }
  expect(existsSync(path.join(stage.project, "made"))).toBe(false);
  writeFileSync(file, JSON.stringify({ permissions: { deny: ["Bash(rm:*)"] } }));
  expect((await stage.run(["-p", "go", ...bypass], { env })).code).toBe(0);
  expect(existsSync(path.join(stage.project, "made"))).toBe(true);
});

test("plan mode changes nothing, and acceptEdits accepts edits only", async () => {
  const stage = await openStage(touch);
  await stage.run(["-p", "go", "--permission-mode", "plan"]);
  await stage.run(["-p", "go", "--permission-mode", "acceptEdits"]);
  expect(existsSync(path.join(stage.project, "made"))).toBe(false);
  expect((await stage.run(["-p", "go", "--permission-mode", "yolo"])).code).toBe(64);
});

test("a kept session says what its decisions rested on, and its requests what they were made of", async () => {
  const stage = await openStage(touch);
  await stage.run(["-p", "go", "--allowed-tools", "Bash(touch made)"]);
  const [started] = stage.log().filter(({ type }) => type === "tool.started");
  const session = stage.sessions()[0] ?? expect.fail("no session was kept");
  const callId = String(started?.["callId"]);

  const all = await stage.run(["permissions", "explain", "--session", session]);
  expect(all).toMatchObject({ code: 0 });
  expect(all.stdout).toContain(`${callId}  Bash  allow: the rule Bash(touch made) (command-line) allows it`);
  const one = await stage.run(["permissions", "explain", "--session", session, callId]);
  for (const line of [
    "mode: default",
    "rule: allow Bash(touch made) (command-line)",
    "claim: execute touch made",
  ])
    expect(one.stdout.split("\n")).toContain(line);
  const json = await stage.run(["permissions", "explain", "--json", "--session", session, callId]);
  expect(lines(json.stdout)[0]).toMatchObject({
    callId,
    by: "rule",
    facts: { verdict: "allow", mode: "default" },
  });
  expect(await stage.run(["permissions", "explain", "--session", session, "none"])).toMatchObject({
    code: 64,
  });

  // The very bytes that the server was sent, from the first request on.
  const sums = stage.log().flatMap(({ type, ...event }) => (type === "model.started" ? [event["sums"]] : []));
  const sent = stage.server.requests.map(({ body }) => Buffer.from(JSON.stringify(body)));
  expect(sums).toMatchObject(
    sent.map((bytes) => ({
      body: {
        digest: createHash("sha256").update(bytes).digest("hex").slice(0, 32),
        bytes: bytes.length,
      },
    })),
  );
  expect(sums).toHaveLength(2);
});
