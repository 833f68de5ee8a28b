import { afterEach, describe, expect, test } from "vitest";
import { type Loopback, loopback } from "../../../test/support/loopback.ts";
import { fault } from "../kernel/fault.ts";
import { catalog } from "./catalog.ts";
import { connectModel } from "./connect.ts";
import { openHttp } from "./http.ts";
import { listModels } from "./list-models.ts";
import { type ModelSources, resolveModel } from "./resolve.ts";

const known = catalog();
const key = { ANTHROPIC_API_KEY: "sk-ant-canary-1" };
const local = { ANTHROPIC_BASE_URL: "http://127.0.0.1:9" };

const resolve = (sources: Partial<ModelSources>, listed: string[] = []) =>
  resolveModel({ env: {}, ...sources }, { catalog: known, list: async () => listed });

/** The model, or the code of the fault. */
async function chosen(sources: Partial<ModelSources>, listed: string[] = []): Promise<string> {
  const found = await resolve(sources, listed);
  return found.ok ? found.value.model : found.error.code;
}

describe("which model", () => {
  test("the flag comes before the environment, that before the settings, and those before the default", async () => {
    const env = { ...key, KEEL_MODEL: "env-keel", ANTHROPIC_MODEL: "env-anthropic" };
    expect(await chosen({ flag: "flag", env, settingsModel: "settings" })).toBe("flag");
    expect(await chosen({ env, settingsModel: "settings" })).toBe("env-keel");
    expect(await chosen({ env: { ...env, KEEL_MODEL: " " }, settingsModel: "settings" })).toBe(
      "env-anthropic",
    );
    expect(await chosen({ env: key, settingsModel: "settings" })).toBe("settings");
    expect(await chosen({ env: key })).toBe(known.defaultOf("anthropic"));
  });

  test("default is no name: what would count without it does", async () => {
    const env = { ...key, KEEL_MODEL: "default" };
    expect(await chosen({ flag: "default", env, settingsModel: "settings" })).toBe("settings");
    expect(await chosen({ flag: "default", env: key })).toBe(known.defaultOf("anthropic"));
    expect(await chosen({ flag: "default", logged: "claude-opus-5-5", env: key })).toBe("claude-opus-5-5");
  });

  test("an alias is the model that it stands for", async () => {
    expect(await chosen({ flag: "haiku", env: key })).toBe("claude-haiku-5-5");
    expect(await chosen({ flag: "anthropic/opus", env: key })).toBe("claude-opus-5-5");
  });

  test("a slash names a provider only when it is one", async () => {
    expect(await chosen({ flag: "anthropic/claude-x", env: key })).toBe("claude-x");
    expect(await chosen({ flag: "qwen/qwen3-coder", env: key })).toBe("qwen/qwen3-coder");
    expect(await chosen({ flag: "anthropic/", env: key })).toBe("usage");
  });

  test("with only a base URL it is the one model that is listed there", async () => {
    expect(await chosen({ env: local }, ["only-one"])).toBe("only-one");
  });

  test("with only a base URL and several models, they are named and none is guessed", async () => {
    const found = await resolve({ env: local }, [
      "a",
      "b",
      ...Array.from({ length: 30 }, (_, at) => `m${at}`),
    ]);
    expect(found).toMatchObject({ ok: false, error: { code: "no_model", exitCode: 78 } });
    expect(found.ok ? "" : found.error.message).toMatch(/several models.*: a, b, m0, .* and 12 more/);
    expect(await chosen({ env: local }, [])).toBe("no_model");
  });

  test("a base URL and a key together mean the default model there", async () => {
    const found = await resolve({ env: { ...key, ...local } });
    expect(found).toMatchObject({
      ok: true,
      value: {
        model: known.defaultOf("anthropic"),
        endpoint: { baseUrl: "http://127.0.0.1:9", credential: { kind: "key", value: "sk-ant-canary-1" } },
      },
    });
  });

  test("without key and base URL there is none, also when one is named, and the hint says three ways on", async () => {
    const found = await resolve({ flag: "sonnet" });
    expect(found).toMatchObject({ ok: false, error: { code: "no_model", exitCode: 78 } });
    expect(found.ok ? "" : found.error.hint).toMatch(/KEY.*BASE_URL.*rehearse/);
    expect(await chosen({})).toBe("no_model");
  });

  test("a server that cannot be asked for its models is a fault of its own", async () => {
    const list = () => Promise.reject(fault("unreachable", { reason: "nothing answers" }));
    const found = await resolveModel({ env: local }, { catalog: known, list });
    expect(found).toMatchObject({ ok: false, error: { code: "unreachable" } });
  });
});

describe("where requests go", () => {
  const endpoint = async (sources: Partial<ModelSources>) => {
    const found = await resolve({ flag: "m", ...sources });
    return found.ok ? found.value.endpoint : found.error.code;
  };

  test("to the provider itself, unless the user names another address", async () => {
    expect(await endpoint({ env: key })).toMatchObject({ baseUrl: "https://api.anthropic.com" });
    expect(
      await endpoint({ env: { ...key, ANTHROPIC_BASE_URL: "https://gw.example/team/v1/" } }),
    ).toMatchObject({
      baseUrl: "https://gw.example/team",
    });
  });

  test("the environment comes before the user's settings", async () => {
    const providers = { anthropic: { baseUrl: "https://settings.example", key: "from-settings" } };
    expect(await endpoint({ env: {}, providers })).toEqual({
      provider: "anthropic",
      baseUrl: "https://settings.example",
      credential: { kind: "key", value: "from-settings" },
    });
    expect(await endpoint({ env: { ...key, ...local }, providers })).toMatchObject({
      baseUrl: "http://127.0.0.1:9",
      credential: { value: "sk-ant-canary-1" },
    });
  });

  test("with a bearer token where that is what the user has", async () => {
    expect(await endpoint({ env: { ANTHROPIC_AUTH_TOKEN: " t " } })).toMatchObject({
      credential: { kind: "token", value: "t" },
    });
  });

  test.each([
    ["no address", { ANTHROPIC_BASE_URL: "nonsense" }],
    ["another scheme", { ANTHROPIC_BASE_URL: "file:///etc/passwd" }],
    ["a password in the address", { ANTHROPIC_BASE_URL: "https://user:canary@example.com" }],
    ["a query in the address", { ANTHROPIC_BASE_URL: "https://example.com/?key=canary" }],
    ["a key with a line break", { ANTHROPIC_API_KEY: "canary\r\nx-evil: 1" }],
    ["a key that is not ASCII", { ANTHROPIC_API_KEY: "canary…" }],
  ])("%s is refused without being repeated", async (_, env) => {
    const found = await resolve({ flag: "m", env });
    expect(found).toMatchObject({ ok: false, error: { code: "usage" } });
    expect(JSON.stringify(found.ok ? {} : found.error.toData())).not.toContain("canary");
  });
});

describe("a real server", () => {
  const closers: (() => void | Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0)) await close();
  });

  async function serving(status: number, body: string): Promise<Loopback> {
    const server = await loopback((response) => void response.writeHead(status).end(body));
    closers.push(server.close);
    return server;
  }

  function http() {
    const made = openHttp();
    closers.push(made.close);
    return made.send;
  }

  const never = new AbortController().signal;
  const at = (baseUrl: string) => ({ provider: "anthropic", baseUrl }) as const;

  test("is asked for its models, and the one that it lists is taken", async () => {
    const { url, seen } = await serving(200, '{"data":[{"id":"local-1","object":"model"}]}');
    const send = http();
    const found = await resolveModel(
      { env: { ANTHROPIC_BASE_URL: url } },
      { catalog: known, list: (endpoint) => listModels(endpoint, send, never) },
    );
    expect(found).toMatchObject({ ok: true, value: { model: "local-1" } });
    expect(seen[0]).toMatchObject({ method: "GET", path: "/v1/models" });
  });

  test.each([
    [404, "not found"],
    [200, "<html>"],
    [200, '{"models":[]}'],
  ])("that answers %s %s lists none: the person is asked to name one", async (status, body) => {
    const { url } = await serving(status, body);
    await expect(listModels(at(url), http(), never)).rejects.toMatchObject({ code: "no_model" });
  });

  test("connects to a Model port that knows what the catalog knows", async () => {
    const { url } = await serving(
      401,
      '{"type":"error","error":{"type":"authentication_error","message":"no"}}',
    );
    const model = connectModel({ endpoint: at(url) }, { catalog: known, http: http(), now: () => 0 });
    expect(model.info("claude-sonnet-4-5")).toEqual(known.info("claude-sonnet-4-5"));
    const request = {
      model: "claude-sonnet-4-5",
      system: [],
      tools: [],
      messages: [],
      maxOutputTokens: 10,
      thinking: { kind: "off" },
      session: "s",
    } as const;
    const reply = model.stream(request, never)[Symbol.asyncIterator]();
    await expect(reply.next()).rejects.toMatchObject({ code: "key_refused" });
  });
});
