// The OpenAPI document: that it is one, that all it names is there, and that all that is there is named.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { changeGroups } from "../keel/src/app/groups/change-groups.ts";
import { folderBell } from "../keel/src/app/schedules/bell.ts";
import { addSchedule } from "../keel/src/app/schedules/change-schedules.ts";
import { openApiDocument } from "../keel/src/hosts/server/openapi.ts";
import { type Json, type JsonObject, valueAt } from "../keel/src/kernel/json.ts";
import { reply, toolUse } from "../keel/src/testing/reply.ts";
import { stage, webServer } from "./handle/stage.ts";
import { openApiForm } from "./server/openapi-form.ts";
import { verifies } from "./support/verifies.ts";

type Operation = {
  readonly operationId: string;
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly responses: Readonly<Record<string, JsonObject>>;
};
type OpenApi = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly responses: Readonly<Record<string, JsonObject>> };
};

const made = openApiDocument("1.2.3");
const document = made as unknown as OpenApi;
const routes = Object.entries(document.paths).flatMap(([at, methods]) =>
  Object.keys(methods).map((method) => `${method.toUpperCase()} ${at}`),
);

/** Knows the whole document, so that its references lead somewhere. */
function validator(): Ajv2020 {
  const ajv = new Ajv2020({ strict: true, strictTypes: false, allErrors: true });
  ajv.addVocabulary(["openapi", "info", "servers", "security", "tags", "paths", "components"]);
  ajv.addFormat("uuid", /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i);
  ajv.addSchema({ $id: "keel", ...made });
  return ajv;
}
/** A JSON pointer into the document. */
const pointer = (...parts: readonly string[]): string =>
  `keel#/${parts.map((part) => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"))).join("/")}`;

/** Every place of the document where a schema stands. */
function* schemasIn(json: Json, at: readonly string[] = []): Generator<readonly string[]> {
  if (typeof json !== "object" || json === null) return;
  for (const [key, value] of Object.entries(json)) {
    const here = [...at, key];
    if (key === "schema" && at.at(-2) !== "properties") yield here;
    else if (at.at(-1) === "schemas" && at.length === 2) yield here;
    else yield* schemasIn(value, here);
  }
}

describe("the OpenAPI document", () => {
  test("has the form of OpenAPI 3.1", () => {
    verifies("P5", "P6");
    const isForm = new Ajv2020({ strict: true, strictTypes: false, allErrors: true }).compile(openApiForm);
    isForm(made);
    expect(isForm.errors ?? []).toEqual([]);
  });

  test("holds schemas of its dialect, and references that lead somewhere", () => {
    const ajv = validator();
    const places = [...schemasIn(made)];
    expect(places.length).toBeGreaterThan(40);
    for (const at of places) expect(() => ajv.compile({ $ref: pointer(...at) }), at.join("/")).not.toThrow();
    const refs = [...JSON.stringify(made).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, to = ""]) => to);
    expect(refs.length).toBeGreaterThan(100);
    for (const to of new Set(refs)) expect(valueAt(made, to.split("/")), to).toBeDefined();
  });

  test("has one id for each operation, and a parameter for each name in a path", () => {
    const operations = Object.entries(document.paths).flatMap(([at, methods]) =>
      Object.values(methods).map((operation) => [at, operation] as const),
    );
    const ids = operations.map(([, { operationId }]) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [at, { parameters, operationId }] of operations) {
      const inPath = [...at.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();
      const given = parameters.filter((one) => one.in === "path").map(({ name }) => name);
      expect(given.sort(), operationId).toEqual(inPath);
    }
  });

  test("names every address that a test calls", () => {
    const root = path.resolve(import.meta.dirname, "..");
    const files = ["test", "keel/src", "examples"].flatMap((folder) =>
      readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })
        .filter((file) => /\.(ts|mjs|sh)$/.test(file) && !file.includes("node_modules"))
        .map((file) => path.join(root, folder, file)),
    );
    const known = Object.keys(document.paths).map(
      (at) => new RegExp(`^${at.replaceAll(/\{\w+\}/g, "[\\w-]+")}$`),
    );
    const called = files.flatMap((file) =>
      [
        ...readFileSync(file, "utf8").matchAll(
          /["'`](?:\$\{[\w.]+\})?(\/(?:api|ws)(?:\/[^"'`?\s\\]*)?)["'`?]/g,
        ),
      ].map(([, address = ""]) => ({ file, address: address.replaceAll(/\$\{[^}]*\}|\{\w+\}/g, "x") })),
    );
    expect(called.length).toBeGreaterThan(10);
    const unknown = called.filter(({ address }) => !known.some((at) => at.test(address)));
    // Addresses that are wrong on purpose say so, and some are those of servers of models.
    const ofOthers = ["/api/embed", "/api/tags", "/api/show", "/api/v0/models"];
    expect(
      unknown.filter(({ address }) => !address.includes("nowhere") && !ofOthers.includes(address)),
    ).toEqual([]);
  });
});

describe("every route of the document", () => {
  test("answers as it says, and there is no other", async () => {
    const at = await stage({
      replies: [reply("Hello."), reply(toolUse("Bash", { command: "echo made > made.txt" })), reply("Made.")],
    });
    const { url, secret } = await webServer(at);
    const ajv = validator();
    const called = new Set<string>();

    /** What came is what the document says of this route and status. */
    const check = (route: string, status: number, body: unknown): void => {
      const [method = "", pattern = ""] = route.split(" ");
      called.add(route);
      const told = document.paths[pattern]?.[method.toLowerCase()]?.responses[String(status)];
      expect(told, `${route} says nothing of ${status}: ${JSON.stringify(body)}`).toBeDefined();
      const place = told?.["$ref"]
        ? ["components", "responses", `Refused${status}`]
        : ["paths", pattern, method.toLowerCase(), "responses", String(status)];
      const isAsSaid = ajv.compile({ $ref: pointer(...place, "content", "application/json", "schema") });
      isAsSaid(body);
      expect(isAsSaid.errors ?? [], `${route} ${status}`).toEqual([]);
    };
    const call = async (
      route: string,
      {
        fields = {},
        query = "",
        body,
        headers = {},
      }: {
        fields?: Record<string, string>;
        query?: string;
        body?: unknown;
        headers?: Record<string, string>;
      } = {},
    ) => {
      const [method = "", pattern = ""] = route.split(" ");
      const address = pattern.replaceAll(/\{(\w+)\}/g, (_, name: string) => fields[name] ?? "none");
      const response = await fetch(`${url}${address}${query}`, {
        method,
        headers: {
          authorization: `Bearer ${secret}`,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      const answer: unknown = await response.json();
      check(route, response.status, answer);
      return { status: response.status, answer: answer as Record<string, unknown> };
    };
    const works = async (route: string, options: Parameters<typeof call>[1] = {}) => {
      const { status, answer } = await call(route, options);
      expect(status, `${route}: ${JSON.stringify(answer)}`).toBe(200);
      return answer;
    };

    await works("GET /api/status");
    await works("GET /api/openapi.json");
    const opened = await works("POST /api/sessions", {
      body: { cwd: at.cwd, options: { model: "claude-haiku-4-5" } },
    });
    const session = String(opened["session"]);
    const fields = { session };
    const events = await follow(`${url}/api/sessions/${session}/events?after=0`, secret);
    called.add("GET /api/sessions/{session}/events");
    const isEvent = ajv.compile({ $ref: pointer("components", "schemas", "Event") });
    const hear = async (type: string) => {
      for (;;) {
        const event = await events.next();
        isEvent(event);
        expect(isEvent.errors ?? [], JSON.stringify(event)).toEqual([]);
        if (event.type === type) return event;
      }
    };
    await works("POST /api/sessions/{session}/messages", { fields, body: { content: "Hi" } });
    await hear("turn.finished");
    await works("GET /api/sessions", { query: `?limit=1&cwd=${encodeURIComponent(at.cwd)}` });
    const words = { type: "input", content: [{ type: "text", text: "Make it" }] };
    await works("GET /api/search", { query: "?words=Hi&limit=5" });
    const { found } = await works("GET /api/memory", { query: "?words=Hi&limit=5" });
    await works("GET /api/memory");
    await works("GET /api/memory/stats");
    const [piece] = found as { id: number }[];
    await works("POST /api/memory/forget", { body: { pieces: [piece?.id ?? 0] } });
    await works("GET /api/groups");
    const book = await at.home.groupBook();
    const lunch = { id: "lunch", name: "Lunch", folder: at.cwd, box: "none" as const, options: {} };
    await changeGroups(at.home, book).add(lunch, { version: "0", env: at.env });
    const group = { group: "lunch" };
    await works("POST /api/groups/{group}/messages", {
      fields: group,
      body: { text: "hungry?", from: "Ana" },
    });
    const { lines: said } = await works("GET /api/groups/{group}/log", { fields: group, query: "?last=5" });
    expect(said).toMatchObject([{ from: "Ana", text: "hungry?" }]);
    expect((await works("GET /api/groups"))["groups"]).toMatchObject([{ id: "lunch", waiting: 1 }]);
    await book.close();
    const schedules = await at.home.scheduleBook();
    const change = { book: schedules, bell: folderBell(at.home.schedulesPath), now: Date.now() };
    await addSchedule({ id: "news", every: "1h", prompt: "What is new?", cwd: at.cwd }, change);
    const news = { schedule: "news" };
    const pause = { fields: news, body: { paused: true } };
    await works("PATCH /api/schedules/{schedule}", pause);
    expect((await works("GET /api/schedules"))["schedules"]).toMatchObject([{ next: [] }]);
    await works("PATCH /api/schedules/{schedule}", { fields: news, body: { paused: false } });
    await works("POST /api/schedules/{schedule}/runs", { fields: news, body: {} });
    expect(await works("GET /api/schedules", { query: "?limit=1" })).toMatchObject({
      total: 1,
      schedules: [{ schedule: { id: "news" }, runs: [{ schedule: "news" }], open: 1 }],
    });
    await works("DELETE /api/schedules/{schedule}", { fields: news });
    expect((await call("POST /api/schedules/{schedule}/runs", { fields: news, body: {} })).status).toBe(400);
    await schedules.close();
    await works("POST /api/sessions/{session}/commands", { fields, body: { command: words } });
    await hear("ask.opened");
    const [ask] = (await works("GET /api/sessions/{session}/asks", { fields })) as unknown as {
      id: string;
    }[];
    const answer = { type: "answer", askId: ask?.id, answer: { verdict: "allow" } };
    await works("POST /api/sessions/{session}/commands", {
      fields,
      body: { command: answer, commandId: "a" },
    });
    await hear("turn.finished");
    await works("POST /api/sessions/{session}/inquiries/{name}", {
      fields: { ...fields, name: "facts" },
      body: { question: {} },
    });
    const stands = await works("GET /api/sessions/{session}", { fields });
    expect(stands).toMatchObject({ session, working: false });
    const newest = await works("GET /api/sessions/{session}/history", { fields, query: "?last=2" });
    expect(newest).toMatchObject({ events: [{}, { seq: stands["seq"] }] });
    const history = await works("GET /api/sessions/{session}/history", { fields, query: "?after=2&limit=5" });
    expect(history).toMatchObject({ more: true, events: [{ seq: 3 }, {}, {}, {}, {}] });
    const exported = await fetch(`${url}/api/sessions/${session}/export`, {
      headers: { authorization: `Bearer ${secret}` },
    });
    called.add("GET /api/sessions/{session}/export");
    expect(exported.headers.get("content-type")).toBe("application/x-ndjson");
    const eventsIn = (text: string): unknown[] =>
      text
        .trim()
        .split("\n")
        .slice(1)
        .map((line) => JSON.parse(line));
    const logged = eventsIn(readFileSync(at.home.sessions.location(session) ?? "", "utf8"));
    expect(eventsIn(await exported.text())).toEqual(logged);
    const nowhere = { session: "0198c0de-0000-7000-8000-000000000008" };
    expect((await call("GET /api/sessions/{session}/export", { fields: nowhere })).status).toBe(404);
    const copy = await works("POST /api/sessions/{session}/forks", { fields, body: { title: "A copy" } });
    await works("POST /api/sessions/{session}/rules", { fields, body: { rule: "Bash(ls)", to: "user" } });
    await works("PATCH /api/sessions/{session}", { fields, body: { title: "A name" } });
    await works("POST /api/sessions/{session}/rules", { fields, body: { rule: "Bash(ls:*)", to: "user" } });
    await works("DELETE /api/sessions/{session}", { fields: { session: String(copy["session"]) } });
    const sdk = await follow(`${url}/v1/code/sessions/${session}/events/stream`, secret);
    called.add("GET /v1/code/sessions/{session}/events/stream");
    await sdk.stop();
    await works("GET /v1/code/sessions/{session}/events", { fields, query: "?limit=3" });
    const line = { type: "keep_alive" };
    await works("POST /v1/code/sessions/{session}/events", { fields, body: { events: [{ payload: line }] } });
    await events.stop();

    // Who may come in.
    await works("POST /api/links", { body: {} });
    const { pairing, code } = await works("POST /api/pairings", { body: { access: "watch" } });
    const named = { fields: { pairing: String(pairing) } };
    await works("GET /api/pairings/{pairing}", named);
    const { claim } = await works("POST /api/pair", { body: { code, name: "A phone" } });
    await works("POST /api/pairings/{pairing}/answer", { ...named, body: { verdict: "allow" } });
    const { device } = await works("POST /api/pair/secret", { body: { claim, keep: "bearer" } });
    await works("GET /api/pairings/{pairing}", named);
    await works("GET /api/devices");
    await works("DELETE /api/devices/{device}", { fields: { device: String(device) } });
    const workspace = String((await works("POST /api/workspaces", { body: { cwd: at.cwd } }))["id"]);
    await works("GET /api/workspaces", { query: "?archived=true" });
    await works("GET /api/workspaces/choices", { query: `?cwd=${encodeURIComponent(at.cwd)}` });
    await works("PATCH /api/workspaces/{workspace}", { fields: { workspace }, body: { title: "A place" } });
    const agent = { kind: "agent", options: { model: "claude-haiku-4-5" } };
    const made = await works("POST /api/workspaces/{workspace}/workers", {
      fields: { workspace },
      body: { worker: agent },
    });
    const worker = { worker: String(made["id"]) };
    await works("PATCH /api/workers/{worker}", { fields: worker, body: { name: "An agent" } });
    await works("POST /api/workers/{worker}/restart", { fields: worker });
    const watched = await follow(`${url}/api/workspaces/events`, secret);
    const isUpdate = ajv.compile({ $ref: pointer("components", "schemas", "WorkspaceUpdate") });
    isUpdate(await watched.next());
    expect(isUpdate.errors ?? []).toEqual([]);
    called.add("GET /api/workspaces/events");
    await watched.stop();
    await works("POST /api/workers/{worker}/interrupt", { fields: worker });
    const nobody = { fields: { worker: "none" }, body: { content: "Hi" } };
    expect((await call("POST /api/workers/{worker}/messages", nobody)).status).toBe(404);
    // An agent of ours has neither, and no messages but those of its session.
    const hasNone = [
      await call("POST /api/workers/{worker}/answers", {
        fields: worker,
        body: { ask: "a", verdict: "deny" },
      }),
      await call("GET /api/workers/{worker}/messages/events", { fields: worker }),
      await call("POST /api/workers/{worker}/keys", { fields: worker, body: { keys: "x" } }),
      await call("POST /api/workers/{worker}/size", { fields: worker, body: { columns: 80, rows: 24 } }),
      await call("GET /api/workers/{worker}/output", { fields: worker }),
      await call("GET /api/workers/{worker}/diff", { fields: worker }),
      await call("GET /api/workers/{worker}/diff/file", { fields: worker, query: "?path=a" }),
      await call("GET /api/workers/{worker}/diff/events", { fields: worker }),
      await call("POST /api/workers/{worker}/diff", { fields: worker, body: { action: "stage", path: "a" } }),
    ];
    expect(hasNone.map(({ status }) => status)).toEqual(hasNone.map(() => 409));
    await works("DELETE /api/workers/{worker}", { fields: worker });
    await works("DELETE /api/workspaces/{workspace}", { fields: { workspace } });

    // A machine that nobody can reach.
    const bridge = "0198c0de-0000-7000-8000-000000000010";
    await works("POST /v1/environments/bridge", {
      body: {
        dir: "/far/away",
        machineName: "far away",
        branch: "main",
        maxSessions: 2,
        spawnMode: "same-dir",
        bridgeId: "0198c0de-0000-7000-8000-000000000011",
        environmentId: bridge,
      },
    });
    const gave = await works("POST /api/bridges/{bridge}/work", {
      fields: { bridge },
      body: { prompt: "Begin." },
    });
    expect(await works("GET /api/bridges")).toMatchObject([{ id: bridge, sessions: [gave["session"]] }]);
    const lines = await follow(`${url}/v1/environments/${bridge}/lines?channel=a`, secret);
    called.add("GET /v1/environments/{environment}/lines");
    await works("POST /v1/environments/{environment}/lines", {
      fields: { environment: bridge },
      query: "?channel=a",
      body: { lines: [{ type: "hello", version: 1, epoch: 1, session_ids: [], done: [] }] },
    });
    expect((await lines.next()).type).toBe("welcome");
    const work = (await lines.next()) as { type: string; secret: string };
    const { session_ingress_token: token } = JSON.parse(Buffer.from(work.secret, "base64url").toString());
    const far = { session: String(gave["session"]) };
    const ingress = await follow(`${url}/v1/sessions/${far.session}/ingress?channel=b`, secret);
    called.add("GET /v1/sessions/{session}/ingress");
    await works("POST /v1/sessions/{session}/ingress", {
      fields: far,
      query: "?channel=b",
      body: {
        lines: [{ type: "attach", session_id: far.session, key: "a-key-of-some-length", token, seq: 0 }],
      },
    });
    expect(await ingress.next()).toEqual({ type: "attached", after: 0 });
    await ingress.stop();
    await lines.stop();
    await works("DELETE /api/bridges/{bridge}", { fields: { bridge } });

    // A session that would come from another machine, and does not.
    const coming = { move: "0198c0de-0000-7000-8000-000000000012" };
    const offer = { ...coming, session: "0198c0de-0000-7000-8000-000000000013", bytes: 3 };
    expect(await works("POST /api/moves", { body: offer })).toMatchObject({ have: 0, state: "open" });
    expect(
      await works("POST /api/moves/{move}/pieces", { fields: coming, body: { at: 0, data: "YWJj" } }),
    ).toEqual({ have: 3 });
    const refused = [
      await call("POST /api/moves/{move}/check", { fields: coming }),
      await call("POST /api/moves/{move}/take", { fields: coming, body: { tombstone: "" } }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([409, 409]);
    expect(
      await works("DELETE /api/moves/{move}", { fields: coming, body: { session: offer.session } }),
    ).toEqual({ state: "void" });
    await works("POST /api/sessions/{session}/release", { fields: { session: offer.session } });

    // What is refused is told as the document says.
    const unknown = { session: "0198c0de-0000-7000-8000-000000000009" };
    const open = "POST /api/sessions";
    const refusals = [
      (await call(open, { body: { cwd: 7 } })).status,
      (await call("GET /api/status", { headers: { authorization: "Bearer wrong" } })).status,
      (await call("GET /api/status", { headers: { origin: "https://evil.example" } })).status,
      (await call("GET /api/sessions/{session}/asks", { fields: unknown })).status,
      (await call(open, { body: "{}", headers: { "content-type": "text/plain" } })).status,
      (await call(open, { body: `"${"x".repeat(17 * 1024 * 1024)}"` })).status,
    ];
    expect(refusals).toEqual([400, 401, 403, 404, 415, 413]);

    // Sockets.
    for (const route of routes.filter(
      (one) => document.paths[one.split(" ")[1] ?? ""]?.["get"]?.responses["101"],
    )) {
      const address = (route.split(" ")[1] ?? "").replaceAll(/\{\w+\}/g, "none");
      await opens(`${url.replace("http", "ws")}${address}`, secret);
      called.add(route);
    }
    expect([...called].sort()).toEqual([...routes].sort());
  });
});

/** Events without a name, as they come. */
async function follow(address: string, secret: string) {
  const stop = new AbortController();
  const response = await fetch(address, {
    headers: { authorization: `Bearer ${secret}` },
    signal: stop.signal,
  });
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  return {
    async next(): Promise<{ type: string }> {
      for (;;) {
        const end = rest.indexOf("\n\n");
        if (end === -1) {
          rest += (await reader?.read())?.value ?? "";
          continue;
        }
        const block = rest.slice(0, end);
        rest = rest.slice(end + 2);
        const data = /^data: (.*)$/m.exec(block)?.[1];
        if (!block.includes("event:") && data !== undefined) return JSON.parse(data);
      }
    },
    stop: async () => stop.abort(),
  };
}

function opens(address: string, secret: string): Promise<void> {
  const socket = new WebSocket(address, { headers: { authorization: `Bearer ${secret}` } });
  return new Promise((resolve, reject) => {
    socket.once("open", () => {
      socket.terminate();
      resolve();
    });
    socket.once("error", reject);
  });
}
