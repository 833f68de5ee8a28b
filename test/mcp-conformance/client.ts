// Keel's MCP client as the official conformance suite drives it: connects, logs in where it must, calls every tool once.
// The suite appends the address of its server and names the scenario in the environment.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { nodeClock, nodeIds } from "../../keel/src/app/node-ports.ts";
import { isObject } from "../../keel/src/kernel/json.ts";
import { McpBox } from "../../keel/src/mcp/box.ts";
import { defaultMcpLimits } from "../../keel/src/mcp/limits.ts";
import { login } from "../../keel/src/mcp/login.ts";
import { LinkPool } from "../../keel/src/mcp/pool.ts";
import { authFileOf, type McpEnvironment } from "../../keel/src/mcp/routes.ts";
import type { ToolContext } from "../../keel/src/ports/tool.ts";
import type { McpServerSpec } from "../../keel/src/protocol/mcp.ts";

const url = process.argv.at(-1) ?? "";
const scenario = process.env["MCP_CONFORMANCE_SCENARIO"] ?? "";
const told: unknown = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}");
const given = isObject(told) ? told : {};

/** As a person would who said yes to the page. */
const openPage = async (page: URL): Promise<void> => {
  const answer = await fetch(page, { redirect: "manual" });
  const location = answer.headers.get("location");
  if (location !== null) await fetch(new URL(location, page));
};

const home = mkdtempSync(path.join(tmpdir(), "keel-mcp-conformance-"));
const site: McpEnvironment = {
  cwd: home,
  home,
  start: () => Promise.reject(new Error("no program is started here")),
  whyNot: async () => undefined,
};
const config: Extract<McpServerSpec, { type: "http" }> = {
  type: "http",
  url,
  oauth: {
    ...(typeof given["client_id"] === "string" ? { clientId: given["client_id"] } : {}),
    ...(typeof given["client_secret"] === "string" ? { clientSecret: given["client_secret"] } : {}),
    ...(scenario === "auth/basic-cimd"
      ? { clientMetadataUrl: "https://conformance-test.local/client-metadata.json" }
      : {}),
  },
};
const box = new McpBox([{ name: "suite", scope: "host", config }], {
  environment: site,
  roots: [home],
  version: "0",
  clock: nodeClock(),
  ids: nodeIds(),
  limits: { ...defaultMcpLimits, startMs: 100_000, connectMs: 100_000 },
  pool: new LinkPool(),
  sampling: "ask",
});
const { signal } = new AbortController();

try {
  await box.ready(signal);
  await logIn();
  for (const [name, input] of wantedCalls()) {
    await call(name, input);
    // More rights may be wanted than the first login gave.
    if (box.status()[0]?.status === "needs-auth") {
      await logIn();
      await call(name, input);
    }
  }
  const [status] = box.status();
  if (status?.status !== "connected") throw new Error(JSON.stringify(status));
} finally {
  await box.close();
  rmSync(home, { recursive: true, force: true });
}

/** Those that the scenario names, else every tool once; one of them wants the schema of another as it was received. */
function wantedCalls(): [name: string, input: Record<string, unknown>][] {
  const named = Array.isArray(given["toolCalls"]) ? given["toolCalls"].filter(isObject) : [];
  if (named.length > 0)
    return named.map(({ name, arguments: input }) => [`mcp__suite__${name}`, isObject(input) ? input : {}]);
  const rich = box.tools().find(({ name }) => name.endsWith("json_schema_2020_12_tool"));
  return box
    .tools()
    .map(({ name, spec }) => [
      name,
      rich && name.endsWith("json_schema_echo") ? { schema: rich.spec.input } : inputFor(spec.input),
    ]);
}

async function logIn(): Promise<void> {
  for (let tries = 0; tries < 3 && box.status()[0]?.status === "needs-auth"; tries++) {
    await login(
      { name: "suite", config, file: authFileOf(home, config), version: "0", whyNot: site.whyNot, openPage },
      AbortSignal.timeout(100_000),
    );
    await box.reconnect("suite").catch(() => undefined);
  }
}

async function call(name: string, input: Record<string, unknown>): Promise<void> {
  const tool = box.tools().find((one) => one.name === name);
  if (!tool) return;
  const context = {
    callId: `call-${name}`,
    ask: async () => ({ verdict: "allow", by: "host", data: {} }),
    consult: async () => ({ ok: true, value: { text: "a reply", model: "test", stop: "end" } }),
  } as unknown as ToolContext;
  const run = (await tool.load()).run(input, context, signal);
  for (;;) {
    const next = await run.next();
    if (!next.done) continue;
    const [first] = next.value.content;
    const words = first?.type === "text" ? first.text.slice(0, 300) : "";
    process.stderr.write(`${name} ${next.value.failed ? "failed" : "worked"} ${words}\n`);
    return;
  }
}

/** Something of the right kind for every field. */
function inputFor(schema: Record<string, unknown>): Record<string, unknown> {
  const fields = isObject(schema["properties"]) ? schema["properties"] : {};
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, valueFor(isObject(field) ? field : {}, name)]),
  );
}

function valueFor({ type, enum: choices, default: usual }: Record<string, unknown>, name: string): unknown {
  if (usual !== undefined) return usual;
  if (Array.isArray(choices)) return choices[0];
  switch ([type].flat()[0]) {
    case "number":
    case "integer":
      return name === "a" ? 5 : 3;
    case "boolean":
      return true;
    case "array":
      return [];
    case "object":
      return {};
    default:
      return "text";
  }
}
