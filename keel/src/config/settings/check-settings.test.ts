import { describe, expect, test } from "vitest";
import { checkSettings } from "./check-settings.ts";

describe("a value that does not fit", () => {
  test("is named by its path and left out, as small as it can be; the rest stays", () => {
    const { settings, problems } = checkSettings({
      model: 7,
      permissions: { allow: ["Read", 3, "Bash(ls:*)", null], deny: ["Bash(rm:*)"], defaultMode: "yolo" },
      env: { GOOD: "1", BAD: { a: 1 } },
      limits: { maxRetries: -1, maxTurns: 4 },
    });
    expect(settings).toEqual({
      permissions: { allow: ["Read", "Bash(ls:*)"], deny: ["Bash(rm:*)"] },
      env: { GOOD: "1" },
      limits: { maxTurns: 4 },
    });
    expect(problems.map((problem) => problem.split(":")[0]).sort()).toEqual([
      "env.BAD",
      "limits.maxRetries",
      "model",
      "permissions.allow.1",
      "permissions.allow.3",
      "permissions.defaultMode",
    ]);
  });

  test("takes with it only what cannot be without it", () => {
    const { settings } = checkSettings({
      models: [{ id: "mine", windowTokens: 8000 }, { windowTokens: 1 }],
      hooks: {
        PreToolUse: [{ hooks: [{ type: "command", command: "x", extra: [1] }] }, { matcher: "Bash" }],
      },
    });
    expect(settings).toEqual({
      models: [{ id: "mine", windowTokens: 8000 }],
      hooks: { PreToolUse: [{ hooks: [{ type: "command", command: "x", extra: [1] }] }] },
    });
  });

  test("does not change what was given", () => {
    const written = { model: 1, permissions: { allow: [1] } };
    checkSettings(written);
    expect(written).toEqual({ model: 1, permissions: { allow: [1] } });
  });

  test("is told twenty times at most", () => {
    const { settings, problems } = checkSettings({
      permissions: { allow: Array(5000).fill(1), ask: ["Bash"] },
    });
    expect(problems).toHaveLength(20);
    expect(settings.permissions).toEqual({ allow: [], ask: ["Bash"] });
  });
});

describe("a name that means nothing", () => {
  test("is told with its path, at any depth, and $schema is not one", () => {
    const { unknown } = checkSettings(
      JSON.parse(
        '{"$schema":"x","modle":"x","constructor":1,"permissions":{"dney":["Bash"]},"providers":{"a":{"url":"u"}}}',
      ),
    );
    expect(unknown).toEqual(["modle", "constructor", "permissions.dney", "providers.a.url"]);
  });

  test("what hooks and servers hold beside what is known is theirs", () => {
    const { settings, unknown } = checkSettings({ mcpServers: { a: { command: "x", odd: { deep: 1 } } } });
    expect(unknown).toEqual([]);
    expect(settings.mcpServers).toEqual({ a: { command: "x", odd: { deep: 1 } } });
  });
});
