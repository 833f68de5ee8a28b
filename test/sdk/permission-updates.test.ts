// What `updatedPermissions` means: every kind of change, for every place where it can be kept.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { SDKMessage } from "../../keel/src/sdk/messages/messages.ts";
import type { CanUseTool } from "../../keel/src/sdk/options/callbacks.ts";
import type {
  PermissionUpdate,
  PermissionUpdateDestination,
} from "../../keel/src/sdk/options/permission-updates.ts";
import { query } from "../../keel/src/sdk/query/query.ts";
import { reply, toolUse } from "../../keel/src/testing/reply.ts";
import { all, type SdkStage, sdkStage } from "../support/sdk-stage.ts";
import { verifies } from "../support/verifies.ts";

const destinations = ["session", "cliArg", "localSettings", "projectSettings", "userSettings"] as const;
const write = (name: string) => toolUse("Write", { file_path: name, content: "x" });

/** The first question is answered with the updates, all later ones with a plain yes; says for which tools it was asked. */
async function run(stage: SdkStage, updates: PermissionUpdate[], more: object = {}) {
  const asked: string[] = [];
  const canUseTool: CanUseTool = async (tool, input) => {
    asked.push(`${tool} ${path.basename(String(input["file_path"] ?? input["command"]))}`);
    return { behavior: "allow", ...(asked.length === 1 ? { updatedPermissions: updates } : {}) };
  };
  const messages = await all(query({ prompt: "go", options: { ...stage.options, canUseTool, ...more } }));
  return { asked, messages, denied: denials(messages) };
}

const denials = (messages: readonly SDKMessage[]): string[] =>
  messages.flatMap((message) =>
    message.type === "result" ? message.permission_denials.map(({ tool_name }) => tool_name) : [],
  );

/** The file that a destination is kept in. */
function fileOf({ cwd, home }: SdkStage, destination: PermissionUpdateDestination): string | undefined {
  switch (destination) {
    case "userSettings":
      return path.join(home, "settings.json");
    case "projectSettings":
      return path.join(cwd, ".keel/settings.json");
    case "localSettings":
      return path.join(cwd, ".keel/settings.local.json");
    default:
      return undefined;
  }
}

const permissionsIn = (file: string): Record<string, unknown> =>
  (JSON.parse(readFileSync(file, "utf8")) as { permissions: Record<string, unknown> }).permissions;

const rule = (behavior: "allow" | "deny" | "ask", type: "addRules" | "replaceRules" | "removeRules") => ({
  type,
  behavior,
  rules: [{ toolName: "Write" }],
});

describe.each(destinations)("an update for %s", (destination) => {
  const three = [reply(write("a")), reply(write("b")), reply(write("c")), reply("Done.")];

  test("that allows a tool takes the next question away, and stands where it was wanted", async () => {
    verifies("S2.15");
    const stage = await sdkStage({ replies: three });
    const { asked } = await run(stage, [{ ...rule("allow", "addRules"), destination }]);
    expect(asked).toEqual(["Write a"]);
    const file = fileOf(stage, destination);
    if (file) expect(permissionsIn(file)).toEqual({ allow: ["Write"] });
    else expect(existsSync(path.join(stage.cwd, ".keel"))).toBe(false);
  });

  test("that denies a tool holds from the next call on", async () => {
    const stage = await sdkStage({ replies: three });
    const { asked, denied } = await run(stage, [{ ...rule("deny", "addRules"), destination }]);
    expect(asked).toEqual(["Write a"]);
    expect(denied).toEqual(["Write", "Write"]);
    expect(existsSync(path.join(stage.cwd, "b"))).toBe(false);
    const file = fileOf(stage, destination);
    if (file) expect(permissionsIn(file)).toEqual({ deny: ["Write"] });
  });

  test("that asks beats what allows", async () => {
    const stage = await sdkStage({ replies: three });
    const { asked } = await run(stage, [
      { ...rule("allow", "addRules"), destination },
      { ...rule("ask", "addRules"), destination },
    ]);
    expect(asked).toEqual(["Write a", "Write b", "Write c"]);
  });

  test("takes back what was added there, and replaces all of a list", async () => {
    const stage = await sdkStage({ replies: three });
    const { asked } = await run(stage, [
      { ...rule("allow", "addRules"), destination },
      { ...rule("allow", "removeRules"), destination },
      { type: "replaceRules", behavior: "deny", rules: [{ toolName: "Read" }], destination },
      { type: "replaceRules", behavior: "deny", rules: [{ toolName: "Bash" }], destination },
    ]);
    expect(asked).toEqual(["Write a", "Write b", "Write c"]);
    const file = fileOf(stage, destination);
    if (file) expect(permissionsIn(file)).toMatchObject({ deny: ["Bash"] });
  });

  test("that sets the mode changes it now", async () => {
    const stage = await sdkStage({ replies: three });
    const { asked, messages } = await run(stage, [{ type: "setMode", mode: "acceptEdits", destination }]);
    expect(asked).toEqual(["Write a"]);
    expect(messages).toContainEqual(
      expect.objectContaining({ subtype: "status", permissionMode: "acceptEdits" }),
    );
  });

  test("that adds a folder lets it be read, and one that removes it asks again", async () => {
    const stage = await sdkStage({ replies: [] });
    const outside = path.join(path.dirname(stage.cwd), "outside");
    mkdirSync(outside);
    const read = (name: string) => toolUse("Read", { file_path: path.join(outside, name) });
    const replies = [reply(write("a")), reply(read("x")), reply("Done.")];
    const with_ = await sdkStage({ replies });
    const { asked } = await run(with_, [{ type: "addDirectories", directories: [outside], destination }]);
    expect(asked).toEqual(["Write a"]);
    const file = fileOf(with_, destination);
    if (file) expect(permissionsIn(file)).toEqual({ additionalDirectories: [realpathSync(outside)] });
    const without = await sdkStage({ replies });
    const back = await run(without, [
      { type: "addDirectories", directories: [outside], destination },
      { type: "removeDirectories", directories: [outside], destination },
    ]);
    expect(back.asked).toEqual(["Write a", "Read x"]);
  });
});

describe("an update", () => {
  test("never bypasses permissions, and what is no rule is told while the answer stands", async () => {
    const stage = await sdkStage({ replies: [reply(write("a")), reply(write("b")), reply("Done.")] });
    const { asked, messages } = await run(
      stage,
      [
        { type: "setMode", mode: "bypassPermissions", destination: "session" },
        { type: "addRules", behavior: "deny", rules: [{ toolName: "a b" }], destination: "session" },
      ],
      { allowDangerouslySkipPermissions: true },
    );
    expect(asked).toEqual(["Write a", "Write b"]);
    expect(existsSync(path.join(stage.cwd, "a"))).toBe(true);
    expect(messages).toContainEqual(
      expect.objectContaining({
        subtype: "informational",
        content: expect.stringContaining("not a permission rule"),
      }),
    );
  });

  test("of the session is known when it goes on; one of a file is what the file says then", async () => {
    const stage = await sdkStage({
      replies: [reply(write("a")), reply("Done."), reply(write("b")), reply("Done.")],
    });
    const first = await run(stage, [
      { ...rule("deny", "addRules"), destination: "session" },
      { type: "addRules", behavior: "deny", rules: [{ toolName: "Read" }], destination: "cliArg" },
    ]);
    const sessionId = first.messages.at(-1)?.session_id ?? "";
    const { denied } = await run(stage, [], { resume: sessionId });
    expect(denied).toEqual(["Write"]);
  });

  test("that allows answers the other questions that wait for the same", async () => {
    const both = reply(write("a"), write("b"));
    const stage = await sdkStage({ replies: [both, reply("Done.")] });
    let calls = 0;
    const canUseTool: CanUseTool = async () => {
      calls++;
      await new Promise((resolve) => setTimeout(resolve, 50));
      return {
        behavior: "allow",
        updatedPermissions: [{ ...rule("allow", "addRules"), destination: "localSettings" }],
      };
    };
    await all(query({ prompt: "go", options: { ...stage.options, canUseTool } }));
    expect(calls).toBe(1);
    expect(existsSync(path.join(stage.cwd, "b"))).toBe(true);
  });
});

describe("what is offered to be remembered", () => {
  /** The suggestions of each question of one reply, folders under short names. */
  async function offered(stage: SdkStage): Promise<unknown[]> {
    const seen: unknown[] = [];
    const canUseTool: CanUseTool = async (_, __, { suggestions }) => {
      seen.push(suggestions);
      return { behavior: "deny", message: "no" };
    };
    await all(query({ prompt: "go", options: { ...stage.options, canUseTool } }));
    return JSON.parse(JSON.stringify(seen).replaceAll(path.dirname(stage.cwd), ""));
  }
  const calls = (outside: string) =>
    reply(
      write("inside.txt"),
      write(path.join(outside, "outside.txt")),
      toolUse("Read", { file_path: path.join(outside, "notes.txt") }),
      toolUse("Bash", { command: "git push origin main" }),
    );
  const rules = (destination: string, toolName: string, ruleContent: string) => [
    { type: "addRules", behavior: "allow", destination, rules: [{ toolName, ruleContent }] },
  ];

  test("is of the session for files, one kind of change each, and of the local settings for commands", async () => {
    verifies("S2.16");
    const outside = realpathSync(mkdtempSync(path.join(tmpdir(), "keel-outside-")));
    onTestFinished(() => rmSync(outside, { recursive: true, force: true }));
    const stage = await sdkStage({ replies: [calls(outside), reply("Done.")] });
    expect(await offered(stage)).toEqual([
      [{ type: "setMode", mode: "acceptEdits", destination: "session" }],
      rules("session", "Edit", `/${outside}/outside.txt`),
      rules("session", "Read", `/${outside}/notes.txt`),
      rules("localSettings", "Bash", "git push:*"),
    ]);
  });
});
