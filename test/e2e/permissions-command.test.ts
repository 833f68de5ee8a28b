// `keel permissions`: rules with their sources, a team's own test of them, and verdicts for programs, line by line.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { notRunHere } from "../support/not-run.ts";
import { verifies } from "../support/verifies.ts";
import { keel, launcher } from "./command.ts";
import { lines, openStage } from "./stage.ts";

const stageOf = () => openStage({ replies: [] });

describe("rules", () => {
  test("are listed with their source and file, also those that do not count", async () => {
    const stage = await stageOf();
    mkdirSync(path.join(stage.project, ".keel"));
    writeFileSync(
      path.join(stage.project, ".keel/settings.json"),
      JSON.stringify({ permissions: { allow: ["Bash(make:*)"], deny: ["Read(./secrets/)", "Bash("] } }),
    );
    expect(await stage.run(["permissions", "add", "Bash(git push:*)", "--ask"])).toMatchObject({ code: 0 });
    const listed = await stage.run(["permissions", "list", "--json"]);
    expect(lines(listed.stdout)[0]).toMatchObject([
      { list: "deny", rule: "Read(./secrets/)", source: "project", state: "counts" },
      { list: "deny", rule: "Bash(", source: "project", state: "not-a-rule" },
      { list: "ask", rule: "Bash(git push:*)", source: "user", state: "counts" },
      { list: "allow", rule: "Bash(make:*)", source: "project", state: "left-out" },
    ]);
    expect((await stage.run(["permissions", "list"])).stdout).toContain(
      "left out: the project is not trusted",
    );
  });

  test("that allow more than they seem to are pointed out, where they are added, listed and trusted", async () => {
    verifies("S4.49");
    const stage = await stageOf();
    expect((await stage.run(["permissions", "add", "Bash(python3:*)", "--project"])).stderr).toContain(
      "mind that",
    );
    expect((await stage.run(["permissions", "add", "Bash(npm test:*)"])).stderr).not.toContain("mind that");
    expect((await stage.run(["permissions", "add", "Bash", "--deny"])).stderr).not.toContain("mind that");
    expect((await stage.run(["trust"])).stdout).toMatch(/│ Bash\(python3:\*\)\n\s+mind that/);
    await stage.run(["trust", "add"]);
    expect((await stage.run(["permissions", "list"])).stdout).toMatch(/Bash\(python3:\*\).*mind that/);
  });

  test("are added to the file that is named and removed from wherever they stand", async () => {
    const stage = await stageOf();
    const places = ["--user", "--project", "--local"];
    for (const place of places) await stage.run(["permissions", "add", "Bash(ls)", "--deny", place]);
    const files = [
      path.join(stage.home, "settings.json"),
      path.join(stage.project, ".keel/settings.json"),
      path.join(stage.project, ".keel/settings.local.json"),
    ];
    for (const file of files)
      expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ permissions: { deny: ["Bash(ls)"] } });
    expect((await stage.run(["permissions", "remove", "Bash(ls)", "--local"])).code).toBe(0);
    const rest = await stage.run(["permissions", "remove", "Bash(ls)"]);
    expect(rest.stderr.match(/Removed from deny/g)).toHaveLength(2);
    expect((await stage.run(["permissions", "remove", "Bash(ls)"])).code).toBe(64);
    for (const wrong of [["Bash("], [], ["a", "b"], ["Bash", "--deny", "--ask"]])
      expect((await stage.run(["permissions", "add", ...wrong])).code).toBe(64);
  });
});

describe("a team's test", () => {
  const cases = `{
    // What our rules are meant to mean.
    "rules": { "allow": ["Bash(npm test:*)"], "deny": ["Bash(npm publish:*)", "Read(./secrets/**)"] },
    "cases": [
      { "command": "npm test -- --watch", "expect": "allow" },
      { "command": "npm test && npm publish", "expect": "deny" },
      { "command": "npm install", "expect": "ask" },
      { "tool": "Read", "input": { "file_path": "secrets/key" }, "expect": "deny" },
      { "command": "touch x", "mode": "dontAsk", "expect": "deny" },
    ]
  }`;

  test("passes while the rules mean what the file says, and fails with the reason when they do not", async () => {
    const stage = await stageOf();
    writeFileSync(path.join(stage.project, "rules.jsonc"), cases);
    const passed = await stage.run(["permissions", "test", "rules.jsonc"]);
    expect(passed).toMatchObject({ code: 0, stdout: "5 of 5 as expected.\n" });
    writeFileSync(
      path.join(stage.project, "rules.jsonc"),
      cases.replace('"npm install", "expect": "ask"', '"npm install", "expect": "allow"'),
    );
    const failed = await stage.run(["permissions", "test", "rules.jsonc"]);
    expect(failed.code).toBe(1);
    expect(failed.stdout).toMatch(/npm install: expected allow, is ask, because .*\n4 of 5 as expected/);
  });

  test("without rules of its own it is about the project's, trusted or not", async () => {
    const stage = await stageOf();
    mkdirSync(path.join(stage.project, ".keel"));
    writeFileSync(
      path.join(stage.project, ".keel/settings.json"),
      JSON.stringify({ permissions: { allow: ["Bash(make:*)"] } }),
    );
    writeFileSync(
      path.join(stage.project, "rules.json"),
      JSON.stringify({ cases: [{ command: "make all", expect: "allow" }] }),
    );
    expect((await stage.run(["permissions", "test", "rules.json"])).code).toBe(0);
    expect((await stage.run(["permissions", "test", "none.json"])).code).toBe(64);
    expect((await stage.run(["permissions", "test", ".keel/settings.json"])).code).toBe(64);
  });
});

describe("expectations that stand beside the rules", () => {
  const written = `# What our rules are meant to mean.
allow $ make all
deny by Bash(make publish:*): $ make clean && make publish

mode default, dontAsk
not allow $ make publish-later; curl example.org
`;

  test("are found without a name, and told by their lines where they do not hold", async () => {
    verifies("P11");
    const stage = await stageOf();
    mkdirSync(path.join(stage.project, ".keel"));
    const settings = { permissions: { allow: ["Bash(make:*)"], deny: ["Bash(make publish:*)"] } };
    writeFileSync(path.join(stage.project, ".keel/settings.json"), JSON.stringify(settings));
    const file = path.join(stage.project, ".keel/permissions.test");
    writeFileSync(file, written);
    expect(await stage.run(["permissions", "test"])).toMatchObject({
      code: 0,
      stdout: "4 of 4 as expected.\n",
    });
    writeFileSync(
      file,
      written.replace("Bash(make publish:*):", "Bash(make:*):").replace("not allow", "allow"),
    );
    const failed = await stage.run(["permissions", "test", ".keel/permissions.test"]);
    expect(failed.code).toBe(1);
    expect(failed.stdout).toContain("line 3: deny by Bash(make:*): $ make clean && make publish: expected");
    expect(failed.stdout).toMatch(/line 6: .*\(default\): expected allow, is ask, because/);
    expect(failed.stdout).toMatch(/line 6: .*\(dontAsk\): expected allow, is deny, because/);
    expect(failed.stdout).toMatch(/1 of 4 as expected\.\n$/);
    writeFileSync(file, `${written}\nperhaps $ ls\n`);
    const refused = await stage.run(["permissions", "test"]);
    expect(refused).toMatchObject({ code: 64, stderr: expect.stringContaining("line 8: it is none of") });
  });
});

describe("rules tried on the past", () => {
  test("say which calls would be decided otherwise, which rules save questions, and which are too wide", async () => {
    verifies("P11");
    const stage = await openStage({
      replies: [
        reply(toolUse("Bash", { command: "touch one" })),
        reply(toolUse("Bash", { command: "touch two" })),
        reply(toolUse("Bash", { command: "mkdir three" })),
        reply(toolUse("Read", { file_path: "none.txt" })),
        reply("done"),
      ],
    });
    const began = await stage.run(["-p", "go", "--allowed-tools", "Bash(touch:*)"]);
    expect(began.code).toBe(0);
    // What is there by now says nothing.
    for (const name of readdirSync(stage.project))
      rmSync(path.join(stage.project, name), { recursive: true });
    const rules = path.join(stage.project, "rules.jsonc");
    writeFileSync(
      rules,
      `{ "permissions": { "allow": ["Bash(mk*)", "Bash(make:*)"], "deny": ["Bash(touch two)"] } } // new`,
    );
    const tried = await stage.run(["permissions", "backtest", "--rules", "rules.jsonc", "--json"]);
    expect(tried.code).toBe(0);
    expect(lines(tried.stdout)[0]).toMatchObject({
      sessions: 1,
      calls: 4,
      same: 1,
      unknown: [],
      changed: [
        { about: "touch one", recorded: "allow", replayed: "ask" },
        { about: "touch two", recorded: "allow", replayed: "deny", rule: "Bash(touch two)" },
        { about: "mkdir three", recorded: "ask", replayed: "allow", rule: "Bash(mk*)" },
      ],
      rules: [
        { rule: "Bash(touch two)", calls: 1 },
        { rule: "Bash(mk*)", calls: 1, saves: 1, narrower: ["Bash(mkdir:*)"] },
        { rule: "Bash(make:*)", calls: 0 },
      ],
    });
    const said = await stage.run(["permissions", "backtest", "--rules", "rules.jsonc"]);
    expect(said.stdout).toContain("4 calls of 1 session: 1 as then, 3 otherwise, 0 unknown.");
    expect(said.stdout).toMatch(/asked then, allowed now: 1\n {2}Bash\(mk\*\): 1\n {4}Bash mkdir three/);
    expect(said.stdout).toMatch(/decided no call:\n {2}allow Bash\(make:\*\) \(flags\)\n/);
    // Without a file the rules in force are tried, and without sessions there is nothing to try.
    const now = await stage.run(["permissions", "backtest", "--json"]);
    expect(lines(now.stdout)[0]).toMatchObject({
      calls: 4,
      changed: [{ replayed: "ask" }, { replayed: "ask" }],
    });
    expect(existsSync(path.join(stage.project, "one"))).toBe(false);
    writeFileSync(rules, `{ "permissions": { "deny": ["Bash(("] } }`);
    for (const wrong of [["--rules", "rules.jsonc"], ["--rules", "none"], ["--mode", "fast"], ["x"]])
      expect((await stage.run(["permissions", "backtest", ...wrong])).code, wrong.join(" ")).toBe(64);
  });
});

test("trying rules on the past starts no program and reaches nobody, by the trace of the system", async () => {
  verifies("P11");
  if (spawnSync("strace", ["-V"]).error) return notRunHere("back-test under a trace", "strace absent");
  const stage = await openStage({
    replies: [
      reply(toolUse("Bash", { command: "touch one; curl http://127.0.0.1:9/" })),
      reply(toolUse("WebFetch", { url: "https://a.example/", prompt: "x" })),
      reply("done"),
    ],
  });
  expect((await stage.run(["-p", "go"])).code).toBe(0);
  const trace = path.join(stage.project, "trace");
  const tracer = path.join(stage.project, "traced");
  const calls = "execve,execveat,connect,sendto,bind,fork,vfork";
  writeFileSync(tracer, `#!/bin/sh\nexec strace -f -qq -e trace=${calls} -o ${trace} ${launcher} "$@"\n`, {
    mode: 0o755,
  });
  const tried = await keel(["permissions", "backtest", "--mode", "plan", "--json"], {
    launcher: tracer,
    cwd: stage.project,
    env: stage.env,
  });
  expect(lines(tried.stdout)[0]).toMatchObject({ calls: 2 });
  const seen = readFileSync(trace, "utf8")
    .split("\n")
    .map((line) => line.replace(/^\d+ +/, ""))
    .filter((line) => line !== "" && !line.includes("ENOENT") && !/^(?:---|\+\+\+)/.test(line));
  // The launcher, and Node, which it becomes.
  expect(seen.map((line) => /^execve\("[^"]*\/(keel|node)"/.exec(line)?.[1] ?? line)).toEqual([
    "keel",
    "node",
  ]);
});

test("in auto mode a model lets a call run that nobody forbids; its reason is explained", async () => {
  verifies("S4.44", "S4.47");
  const stage = await openStage((request, asked) => {
    const code = /The code of the call: (\w+)/.exec(JSON.stringify(request))?.[1];
    if (code !== undefined)
      return reply(JSON.stringify({ call: code, verdict: "allow", reason: "The person wants it." }));
    const replies = [
      reply(toolUse("Bash", { command: "touch made" })),
      reply(toolUse("Bash", { command: "rm -rf made" })),
    ];
    return replies[asked.assistantTurns] ?? reply("done");
  });
  expect(await stage.run(["-p", "make it", "--permission-mode", "auto"])).toMatchObject({ code: 0 });
  // What destroys is a person's to allow, and nobody is there.
  expect(existsSync(path.join(stage.project, "made"))).toBe(true);
  const [session = ""] = stage.sessions();
  const calls = lines(
    (await stage.run(["permissions", "explain", "--session", session, "--json"])).stdout,
  )[0];
  expect(calls).toMatchObject([{ by: "mode", facts: { review: { verdict: "allow" } } }, { by: "no-host" }]);
});

describe("an explanation", () => {
  const ask = (question: Record<string, unknown>): string => JSON.stringify(question);

  test("of a batch is one line for each line, in their order, whatever a line is; nothing runs", async () => {
    const stage = await stageOf();
    const ended = await stage.run(["permissions", "explain", "--batch"], {
      stdin: [
        ask({ id: "read", tool: "Bash", input: { command: "git status && ls" }, cwd: "/srv/project" }),
        "not JSON",
        ask({ id: "made", tool: "Bash", input: { command: "touch made" } }),
        ask({ id: 7, mode: "yolo" }),
        '{"id":"twice","id":"twice"}',
        "",
        ask({
          id: "rules",
          tool: "Bash",
          input: { command: "git push" },
          rules: { allow: ["Bash(git push:*)", "Bash("], deny: ["Bash(git push --force:*)"] },
          readOnlyAuto: false,
        }),
        ask({ id: "last", tool: "Bash", input: { command: "find . -exec rm {} ;" }, mode: "dontAsk" }),
      ].join("\n"),
    });
    expect(ended.code).toBe(0);
    expect(lines(ended.stdout)).toEqual([
      {
        id: "read",
        verdict: "allow",
        because: expect.any(String),
        programs: ["git", "ls"],
        wrapped: [],
        flags: { readOnly: true, writesOutsideCwd: false, network: false, destructive: false },
      },
      { id: null, error: expect.any(String) },
      expect.objectContaining({ id: "made", verdict: "ask" }),
      { id: 7, error: expect.stringContaining("mode") },
      { id: null, error: expect.any(String) },
      expect.objectContaining({ id: "rules", verdict: "allow" }),
      expect.objectContaining({ id: "last", verdict: "deny", wrapped: ["rm"] }),
    ]);
    expect(ended.stderr).toContain('"Bash(" is not a permission rule');
    expect(existsSync(path.join(stage.project, "made"))).toBe(false);
    expect(existsSync(stage.home) ? readdirSync(stage.home) : []).toEqual([]);
  });

  test("reads nobody's settings unless it is told to", async () => {
    const stage = await stageOf();
    await stage.run(["permissions", "add", "Bash(make:*)"]);
    const words = ["permissions", "explain", "--json"];
    const verdictOf = async (...more: string[]) =>
      lines((await stage.run([...words, ...more])).stdout)[0]?.["verdict"];
    expect(await verdictOf("--", "make all")).toBe("ask");
    expect(await verdictOf("--with-settings", "--", "make", "all")).toBe("allow");
    expect((await stage.run(["permissions", "explain"])).code).toBe(64);
    expect((await stage.run(["permissions", "explain", "--", "curl x | sh"])).stdout).toMatch(
      /^ask: .*\nprograms: curl, sh\n/,
    );
  });
});
