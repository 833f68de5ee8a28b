// The environment of a session is its own: many live in one process, and none changes the process.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { environmentOf } from "../../keel/src/sdk/options/environment.ts";
import { query } from "../../keel/src/sdk/query/query.ts";
import { httpError, reply, toolUse } from "../../keel/src/testing/reply.ts";
import { all, heard, sdkStage } from "../support/sdk-stage.ts";
import { verifies } from "../support/verifies.ts";

describe("the environment of a session", () => {
  test("is what its commands, its hooks and its model see, and nobody else", async () => {
    verifies("S2.10");
    const see = (file: string) => toolUse("Bash", { command: `echo "$WHO $SECRET_OF_PROCESS" > ${file}` });
    const stages = await Promise.all(
      ["one", "two"].map((who) =>
        sdkStage({ replies: [reply(see(`${who}.txt`)), reply("Done.")], otherwise: reply("Again.") }),
      ),
    );
    process.env["SECRET_OF_PROCESS"] = "of the process";
    const before = { ...process.env };
    const at = process.cwd();
    await Promise.all(
      stages.map(async ({ options, cwd, home }, index) => {
        mkdirSync(home, { recursive: true });
        const command = `echo "hook $WHO" > hook.txt`;
        writeFileSync(
          path.join(home, "settings.json"),
          JSON.stringify({ hooks: { Stop: [{ hooks: [{ type: "command", command }] }] } }),
        );
        const env = { ...options.env, WHO: `session ${index}` };
        const canUseTool = async () => ({ behavior: "allow" as const });
        await all(query({ prompt: "go", options: { ...options, env, canUseTool } }));
        expect(existsSync(path.join(cwd, "hook.txt"))).toBe(false);
        const allowed = { ...options, env, settingSources: ["user" as const] };
        await all(query({ prompt: "again", options: allowed }));
        expect(readFileSync(path.join(cwd, "hook.txt"), "utf8")).toBe(`hook session ${index}\n`);
      }),
    );
    for (const [index, { cwd }] of stages.entries())
      expect(readFileSync(path.join(cwd, `${["one", "two"][index]}.txt`), "utf8")).toBe(
        `session ${index} \n`,
      );
    expect({ ...process.env }).toEqual(before);
    expect(process.cwd()).toBe(at);
    delete process.env["SECRET_OF_PROCESS"];
  });

  test("is the process's own when it is left out", () => {
    expect(environmentOf({}, { A: "1" })).toEqual({ A: "1" });
    expect(environmentOf({ env: { B: "2" } }, { A: "1" })).toEqual({ B: "2" });
  });

  test("has no model when it names none, whatever the process has", async () => {
    const { options } = await sdkStage({ replies: [] });
    await expect(all(query({ prompt: "x", options: { ...options, env: {} } }))).rejects.toMatchObject({
      code: "no_model",
    });
  });
});

describe("variables of the executable that the interface drives elsewhere", () => {
  test("mean the same as ours, and ours win", () => {
    const env = environmentOf({ env: { CLAUDE_CODE_MAX_RETRIES: "1", KEEL_MAX_RETRIES: "2" } }, {});
    expect(env["KEEL_MAX_RETRIES"]).toBe("2");
    expect(environmentOf({ env: { CLAUDE_CODE_MAX_RETRIES: "1" } }, {})["KEEL_MAX_RETRIES"]).toBe("1");
  });

  test.each(["CLAUDE_CODE_MAX_RETRIES", "KEEL_MAX_RETRIES"])("%s bounds the tries", async (name) => {
    const { options, server } = await sdkStage({ replies: [], otherwise: httpError(529) });
    const { messages } = await heard(
      query({ prompt: "x", options: { ...options, env: { ...options.env, [name]: "1" } } }),
    );
    expect(messages.at(-1)).toMatchObject({ is_error: true, terminal_reason: "api_error" });
    expect(server.requests).toHaveLength(2);
  });

  test.each(["CLAUDE_CODE_ENABLE_TASKS", "KEEL_ENABLE_TASKS"])(
    "%s chooses the older form of the list",
    async (name) => {
      const { options } = await sdkStage({ replies: [reply("ok")] });
      const env = { ...options.env, [name]: "false" };
      const [init] = await all(query({ prompt: "x", options: { ...options, env } }));
      expect(init).toMatchObject({ tools: expect.arrayContaining(["TodoWrite"]) });
      expect(JSON.stringify(init)).not.toContain("TaskCreate");
    },
  );

  test.each(["CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING", "KEEL_FILE_CHECKPOINTING"])(
    "%s keeps files before they change",
    async (name) => {
      const uuid = "11111111-1111-4111-8111-111111111111";
      const { options, cwd } = await sdkStage({
        replies: [reply(toolUse("Write", { file_path: "a.txt", content: "new" })), reply("Done.")],
      });
      async function* prompt() {
        yield { type: "user" as const, message: { role: "user" as const, content: "go" }, uuid };
      }
      const env = { ...options.env, [name]: "true" };
      const running = query({
        prompt: prompt(),
        options: { ...options, env, permissionMode: "acceptEdits", keepOpen: true },
      });
      for await (const message of running) if (message.type === "result") break;
      expect(existsSync(path.join(cwd, "a.txt"))).toBe(true);
      const again = query({ prompt: "x", options: { ...options, env, continue: true, keepOpen: true } });
      await expect(again.rewindFiles(uuid, { dryRun: true })).resolves.toMatchObject({ canRewind: true });
      again.close();
    },
  );
});
