// Functions that need no session: settings, stores, agents of a session, names.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { projectKeyOf } from "../../keel/src/kernel/path.ts";
import type { Agents } from "../../keel/src/ports/agents.ts";
import { BUILTIN_TOOL_NAMES, LEGACY_TOOL_NAME_ALIASES } from "../../keel/src/sdk/names.ts";
import { resolveSettings } from "../../keel/src/sdk/options/resolve-settings.ts";
import type { Settings } from "../../keel/src/sdk/options/settings.ts";
import { query } from "../../keel/src/sdk/query/query.ts";
import {
  getSessionInfo,
  getSessionMessages,
  getSubagentMessages,
  importSessionToStore,
  listSessions,
  listSubagents,
} from "../../keel/src/sdk/stored/session-functions.ts";
import { InMemorySessionStore } from "../../keel/src/sdk/stored/session-store.ts";
import { reply } from "../../keel/src/testing/reply.ts";
import { agentTools, builtInTools } from "../../keel/src/tools/catalog.ts";
import { all, sdkStage } from "../support/sdk-stage.ts";

describe("resolveSettings", () => {
  test("says what counts, from where, and why the rest does not", async () => {
    const { cwd, home, options } = await sdkStage({ replies: [] });
    mkdirSync(home, { recursive: true });
    mkdirSync(path.join(cwd, ".keel"));
    const put = (file: string, settings: object) => writeFileSync(file, JSON.stringify(settings));
    put(path.join(home, "settings.json"), { model: "haiku", permissions: { deny: ["Bash"] } });
    put(path.join(cwd, ".keel/settings.json"), { permissions: { deny: ["Write"], allow: ["Read"] } });
    const managedSettings = { permissions: { deny: ["WebFetch"], allow: ["Bash"] } };
    const env = options.env ?? {};
    const resolved = await resolveSettings({ cwd, env, managedSettings });
    expect(resolved.effective).toMatchObject({
      model: "haiku",
      permissions: { deny: ["Bash", "Write", "WebFetch"] },
    });
    expect(resolved.effective["permissions"]).not.toHaveProperty("allow");
    expect(resolved.provenance).toMatchObject({
      model: { source: "user", path: path.join(home, "settings.json") },
      permissions: { source: "managed" },
    });
    expect(resolved.machinePolicy).toEqual({ didNotLoad: false });
    const project = resolved.sources.find(({ source }) => source === "project");
    expect(project).toMatchObject({
      path: path.join(cwd, ".keel/settings.json"),
      settings: { permissions: { deny: ["Write"], allow: ["Read"] } },
    });
    expect(project?.values).toContainEqual({
      name: "permissions.allow",
      value: "Read",
      counts: false,
      why: expect.stringContaining("not trusted"),
    });
    const named = await resolveSettings({ cwd, env, settingSources: ["project"] });
    expect(named.effective).toMatchObject({ permissions: { allow: ["Read"] } });
    expect(named.effective).not.toHaveProperty("model");
  });

  test("refuses what a host forbids in words that cannot be read", async () => {
    const { cwd, options } = await sdkStage({ replies: [] });
    const managedSettings = { permissions: { deny: "Bash" } } as unknown as Settings;
    await expect(resolveSettings({ cwd, env: options.env ?? {}, managedSettings })).rejects.toMatchObject({
      code: "settings_invalid",
    });
  });
});

describe("a store", () => {
  test("takes a whole session in batches, lists it, and gives it back", async () => {
    const { cwd, options } = await sdkStage({ replies: [reply("One.")] });
    const [first] = await all(query({ prompt: "hello", options }));
    const sessionId = first?.session_id ?? "";
    const store = new InMemorySessionStore();
    const sizes: number[] = [];
    const counting = {
      load: store.load.bind(store),
      listSessions: store.listSessions.bind(store),
      append: async (...given: Parameters<typeof store.append>) => {
        sizes.push(given[1].length);
        await store.append(...given);
      },
    };
    await importSessionToStore(sessionId, counting, { dir: cwd, batchSize: 3 });
    expect(Math.max(...sizes)).toBe(3);
    expect(sizes.length).toBeGreaterThan(2);

    const elsewhere = await sdkStage({ replies: [] });
    await expect(listSessions({ dir: elsewhere.cwd, sessionStore: counting })).resolves.toEqual([]);
    const key = { projectKey: projectKeyOf(elsewhere.cwd), sessionId };
    await store.append(key, (await store.load({ projectKey: projectKeyOf(cwd), sessionId })) ?? []);
    const place = { dir: elsewhere.cwd, sessionStore: counting };
    expect(await listSessions(place)).toMatchObject([{ sessionId }]);
    expect(await getSessionInfo(sessionId, place)).toMatchObject({ sessionId });
    expect(await getSessionMessages(sessionId, place)).toMatchObject([
      { type: "user" },
      { type: "assistant" },
    ]);
  });

  test("that never answers is not waited for longer than was said", async () => {
    const { options } = await sdkStage({ replies: [] });
    const silent = { append: async () => undefined, load: () => new Promise<null>(() => undefined) };
    const running = query({
      prompt: "x",
      options: {
        ...options,
        resume: "11111111-1111-4111-8111-111111111111",
        sessionStore: silent,
        loadTimeoutMs: 50,
      },
    });
    await expect(all(running)).rejects.toMatchObject({ code: "out_of_time" });
  });
});

test("a session without agents lists none, and an agent of nobody has no messages", async () => {
  const { cwd, options } = await sdkStage({ replies: [reply("One.")] });
  const [first] = await all(query({ prompt: "hello", options }));
  const sessionId = first?.session_id ?? "";
  expect(await listSubagents(sessionId, { dir: cwd })).toEqual([]);
  expect(await getSubagentMessages(sessionId, sessionId, { dir: cwd })).toEqual([]);
});

test("the names of tools are those that there are", () => {
  // Whatever needs a port is there when the port is: none of them is used to list names.
  const ports = new Proxy({}, { get: () => ({ kinds: () => [], skills: async () => [] }) });
  const tools = builtInTools(ports);
  const ofMembers = agentTools(ports as Agents).filter(
    ({ name }) => !tools.some((tool) => tool.name === name),
  );
  expect([...tools, ...ofMembers].map(({ name }) => name).sort()).toEqual([...BUILTIN_TOOL_NAMES].sort());
  const old = Object.fromEntries(tools.flatMap(({ name, aliases }) => aliases.map((alias) => [alias, name])));
  expect(LEGACY_TOOL_NAME_ALIASES).toMatchObject(old);
});
