import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { reply } from "../../keel/src/testing/reply.ts";
import { verifies } from "../support/verifies.ts";
import { openStage } from "./stage.ts";

const key = "sk-test-0123456789abcdefghijklmnop";

describe("keel auth", () => {
  test("keeps a key from standard input in a private file, uses it, shows no more than its end, and forgets it", async () => {
    verifies("S1.38");
    const stage = await openStage({ replies: [reply("Hello.")] }, { key });
    const { url } = stage.server;
    const without = await stage.run(["-p", "hi"]);
    expect(without.code).not.toBe(0);

    const set = await stage.run(["auth", "set", "anthropic", "--base-url", url], { stdin: `${key}\n` });
    expect(set).toMatchObject({ code: 0, stdout: "" });
    expect(set.stderr).toContain("kept in auth.json");
    const file = path.join(stage.home, "auth.json");
    expect(statSync(file).mode & 0o777).toBe(0o600);

    expect(await stage.run(["-p", "hi"])).toMatchObject({ code: 0, stdout: "Hello.\n" });
    const status = await stage.run(["auth", "status"]);
    expect(status.stdout).toContain("auth.json (…mnop)");
    expect(status.stdout).not.toContain(key);
    const doctor = await stage.run(["doctor"]);
    expect(doctor.stdout).toContain("present, from auth.json");
    expect(doctor.stdout).not.toContain(key);

    expect(await stage.run(["auth", "remove", "anthropic"])).toMatchObject({ code: 0 });
    expect(readFileSync(file, "utf8")).not.toContain(key);
    expect((await stage.run(["auth", "remove", "anthropic"])).code).toBe(1);
  });

  test("a key is not sent to another address than the one it was given for", async () => {
    const stage = await openStage({ replies: [reply("Hello.")] });
    await stage.run(["auth", "set", "anthropic"], { stdin: key });
    expect((await stage.run(["auth", "status"])).stdout).toContain("anthropic   none");
    expect(await stage.run(["-p", "hi"])).toMatchObject({ code: 0 });
    const [request] = stage.server.requests;
    expect(request?.headers["x-api-key"]).toBeUndefined();
  });

  test.each([
    [["auth", "set", "nobody"], "There is no provider"],
    [["auth", "set"], "Name one provider"],
    [["auth", "set", "anthropic", "--base-url", "ftp://x"], "not an http"],
  ])("%j is wrong use, and nothing is kept", async (parameters, words) => {
    const stage = await openStage({ replies: [] });
    const ended = await stage.run(parameters, { stdin: key });
    expect(ended.code).toBe(64);
    expect(ended.stderr).toContain(words);
    expect((await stage.run(["auth", "status"])).stdout).not.toContain("mnop");
  });

  test("what is no key is refused without repeating it", async () => {
    const stage = await openStage({ replies: [] });
    const ended = await stage.run(["auth", "set", "anthropic"], { stdin: "two words" });
    expect(ended.code).toBe(64);
    expect(ended.stderr).not.toContain("two words");
  });
});
