// The small commands beside the answer: help, doctor, models and the model server.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { reply } from "../../keel/src/testing/reply.ts";
import { loopback } from "../support/loopback.ts";
import { lines, openStage, until } from "./stage.ts";

test("help is shown for keel, for a group and for a command", async () => {
  const stage = await openStage({ replies: [] });
  expect((await stage.run(["--help"])).stdout).toContain("--max-budget-usd USD");
  expect((await stage.run(["sessions"])).stdout).toContain("keel sessions export");
  const command = await stage.run(["sessions", "export", "--help"]);
  expect(command.stdout).toContain("--format FORMAT");
  expect(command).toMatchObject({ code: 0, stderr: "" });
});

test("doctor says what it finds, writes nothing, and ends with 78 when there is no model", async () => {
  const stage = await openStage({ replies: [] });
  const found = await stage.run(["doctor", "--json"], { env: { ANTHROPIC_API_KEY: "sk-canary-123456" } });
  expect(found.code).toBe(0);
  const findings: { name: string; state: string; says: string }[] = JSON.parse(found.stdout);
  const says = Object.fromEntries(findings.map((finding) => [finding.name, finding.says]));
  expect(says["runtime"]).toContain("Node 24");
  expect(says["model"]).toContain("claude-haiku-4-5");
  expect(says["key"]).toBe("present, from ANTHROPIC_API_KEY");
  expect(says["home"]).toContain("not there yet");
  expect(says["guard"]).toMatch(/^PID namespace|^process group and sweep/);
  expect(Object.keys(says)).toEqual(expect.arrayContaining(["folder", "shell", "search"]));
  expect(found.stdout).not.toContain("canary");
  const without = await stage.run(["doctor"], { env: { ANTHROPIC_BASE_URL: "" } });
  expect(without.code).toBe(78);
  expect(without.stdout).toContain("!!  model");
});

test("a base URL alone is asked which models it has: one is taken, of several one must be named", async () => {
  const one = await openStage({ replies: [reply("ok")], models: ["only-model"] });
  await one.run(["-p", "hi"], { env: { KEEL_MODEL: "" } });
  expect(one.server.requests[0]?.body["model"]).toBe("only-model");
  const two = await openStage({ replies: [], models: ["first-model", "second-model"] });
  const ended = await two.run(["-p", "hi"], { env: { KEEL_MODEL: "" } });
  expect(ended.code).toBe(78);
  expect(ended.stderr).toContain("first-model, second-model");
});

test("models are listed with window and prices, and settings add to them", async () => {
  const stage = await openStage({ replies: [] });
  expect((await stage.run(["models"])).stdout).toMatch(/^claude-\S+ +anthropic +[\d,]+ tokens +\$/m);
  const ids = JSON.parse((await stage.run(["models", "--json"])).stdout).map(({ id }: { id: string }) => id);
  expect(ids).toContain("claude-haiku-4-5");
});

test("a newer catalog is taken from a file or an address that is named, and settings count more", async () => {
  const prices = { input: 7, output: 8, cacheRead: 1, cacheWrite: 1, cacheWriteLong: 1, asOf: "2027-01-01" };
  const abilities = { tools: true, images: false, thinking: "none", cache: false };
  const row = {
    id: "gpt-99",
    name: "GPT 99",
    provider: "openai",
    windowTokens: 9_000,
    maxOutputTokens: 900,
    prices,
    abilities,
  };
  const known = { ...row, id: "gpt-4.1", name: "renamed" };
  const server = await loopback(
    (response) => void response.end(JSON.stringify([row, known, { id: "half" }])),
  );
  try {
    const stage = await openStage({ replies: [] });
    writeFileSync(path.join(stage.project, "newer.json"), JSON.stringify([row, known]));
    const taken = await stage.run(["models", "refresh", "--from", "newer.json"]);
    expect(taken).toMatchObject({ code: 0, stdout: "" });
    expect(taken.stderr).toMatch(/^2 models, 1 of them new, 1 changed: /);
    const models = JSON.parse((await stage.run(["models", "--json"])).stdout);
    const find = (id: string) => models.find((model: { id: string }) => model.id === id);
    expect(find("gpt-99")).toMatchObject({ windowTokens: 9_000, prices: { input: 7 } });
    expect(find("gpt-4.1")).toMatchObject({
      name: "GPT-4.1",
      windowTokens: 9_000,
      abilities: { images: true },
    });
    expect((await stage.run(["models"])).stderr).toContain("2027-01-01");
    const fetched = await stage.run(["models", "refresh", "--from", `${server.url}/catalog.json`]);
    expect(fetched.stderr).toContain("1 could not be read");
    for (const from of ["missing.json", `${server.url.replace("http", "ftp")}`, ""])
      expect((await stage.run(["models", "refresh", "--from", from])).code).toBe(64);
    expect(server.seen).toHaveLength(1);
  } finally {
    await server.close();
  }
});

test("the model server prints where it is, serves its script and ends with its input", async () => {
  const stage = await openStage({ replies: [] });
  writeFileSync(path.join(stage.project, "script.json"), JSON.stringify({ replies: ["from the server"] }));
  const server = stage.start(["model-server", "--script", "script.json"]);
  await until("its address", () => server.out().includes("\n"));
  const url = String(lines(server.out())[0]?.["url"]);
  const asked = await stage.run(["-p", "hi"], { env: { ANTHROPIC_BASE_URL: url } });
  expect(asked).toMatchObject({ code: 0, stdout: "from the server\n" });
  server.child.stdin?.end();
  expect((await server.ended).code).toBe(0);
  expect((await stage.run(["model-server"])).code).toBe(64);
  expect((await stage.run(["model-server", "--script", "none.json"])).code).toBe(64);
});
