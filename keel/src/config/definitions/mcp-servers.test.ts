import { describe, expect, test } from "vitest";
import { examplesOf } from "../../../../test/docs/examples.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { parseWith } from "../../kernel/schema.ts";
import { entriesOf, judgeEntries } from "../settings/entries.ts";
import type { LayerSource } from "../settings/layers.ts";
import { settingsSchema } from "../settings/settings-schema.ts";
import { mcpServersOf, readServer } from "./mcp-servers.ts";

const settings = (layers: Partial<Record<LayerSource, Record<string, Record<string, unknown>>>>) =>
  judgeEntries(
    entriesOf(
      Object.entries(layers).map(([source, mcpServers]) => ({
        source: source as LayerSource,
        settings: { mcpServers },
      })),
    ),
    () => undefined,
  );

const run = (command: string): Record<string, unknown> => ({ command });

test("the three of the guide are settings, and servers once their variables are set", () => {
  verifies("S1.33");
  const [shown] = examplesOf("settings").filter(
    ({ page, text }) => page.endsWith("mcp.md") && text.includes("comfyui"),
  );
  const written = JSON.parse(shown?.text ?? "");
  expect(parseWith(settingsSchema, written)).toMatchObject({ ok: true });
  const entries = settings({ user: written.mcpServers });
  const { servers, problems } = mcpServersOf({ entries, env: {}, personEnv: { HOME: "/home/me" } });
  expect(problems).toEqual([]);
  expect(servers.map(({ name, config }) => [name, "command" in config && config.command])).toEqual([
    ["comfyui", "npx"],
    ["firestore", "npx"],
    ["brave", "npx"],
  ]);
  expect(servers[2]?.config).toMatchObject({ env: { BRAVE_API_KEY_FILE: "/home/me/.brave-key" } });
  expect(mcpServersOf({ entries, env: {} }).problems).toEqual([
    'The MCP server "brave" is left out: HOME is not set.',
  ]);
});

describe("the MCP servers of a start", () => {
  test("of two of one name the stronger scope counts, and all scopes are there", () => {
    verifies("S4.61", "S0.66", "S4.65");
    const { servers } = mcpServersOf({
      entries: settings({
        flags: { a: run("of-the-host") },
        local: { a: run("of-the-folder"), b: run("of-the-folder-too") },
        project: { c: run("of-the-project") },
        user: { b: run("of-the-person"), d: run("of-the-person-too") },
      }),
      plugins: [{ name: "extra", mcpServers: { a: run("of-the-plugin") } }],
      env: {},
    });
    expect(
      servers.map(({ name, scope, config }) => [name, scope, "command" in config && config.command]),
    ).toEqual([
      ["a", "host", "of-the-host"],
      ["b", "local", "of-the-folder-too"],
      ["c", "project", "of-the-project"],
      ["d", "user", "of-the-person-too"],
      ["plugin:extra:a", "plugin", "of-the-plugin"],
    ]);
  });

  test("one that is reached like a stronger one is not started twice, whatever it is called", () => {
    verifies("S4.65");
    const { servers } = mcpServersOf({
      entries: settings({ project: { mine: run("same") }, user: { yours: run("same"), other: run("else") } }),
      plugins: [{ name: "p", mcpServers: { again: run("same") } }],
      env: {},
    });
    expect(servers.map(({ name }) => name)).toEqual(["mine", "other"]);
  });

  test("what waits for trust is not among them", () => {
    const entries = judgeEntries(
      entriesOf([{ source: "project", settings: { mcpServers: { evil: run("rm") } } }]),
      () => ({ why: "the project is not trusted", isForbidden: false }),
    );
    expect(mcpServersOf({ entries, env: {} })).toEqual({ servers: [], problems: [] });
  });

  test("one that is no server is left out, and the rest is there", () => {
    const { servers, problems } = mcpServersOf({
      entries: settings({ user: { bad: { type: "http" }, good: run("x") } }),
      env: {},
    });
    expect(servers.map(({ name }) => name)).toEqual(["good"]);
    expect(problems).toEqual([expect.stringContaining('"bad"')]);
  });
});

describe("a server as somebody wrote it", () => {
  test("has its variables put in, once, with what to take otherwise", () => {
    const env = { TOKEN: "${HOME}", EMPTY: "" };
    expect(
      readServer(
        {
          type: "http",
          url: "https://${HOST:-example.org}/x",
          headers: { a: "Bearer ${TOKEN}", b: "${EMPTY:-e}" },
        },
        env,
      ),
    ).toMatchObject({
      ok: true,
      value: { url: "https://example.org/x", headers: { a: "Bearer ${HOME}", b: "e" } },
    });
  });

  test("is refused for a variable that is not set, also one with the name of a property", () => {
    expect(readServer({ command: "x", env: { A: "${constructor}" } }, {})).toEqual({
      ok: false,
      error: "constructor is not set",
    });
  });

  test.each([
    [{ command: "x" }, "stdio"],
    [{ url: "https://a.org" }, "http"],
    [{ url: "wss://a.org" }, "ws"],
    [{ type: "streamable-http", url: "https://a.org" }, "http"],
    [{ type: "sse", url: "https://a.org" }, "sse"],
  ])("%j is of the kind %s", (written, type) => {
    verifies("S2.14");
    expect(readServer(written, {})).toMatchObject({ ok: true, value: { type } });
  });
});
