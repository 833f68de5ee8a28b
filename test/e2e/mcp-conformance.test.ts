// The official MCP conformance suite against Keel's client: every scenario that applies, and why each other does not.
import { spawn } from "node:child_process";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { countOf } from "../support/budget.ts";
import { verifies } from "../support/verifies.ts";

const here = path.resolve(import.meta.dirname, "../mcp-conformance");
const suite = path.resolve(
  import.meta.dirname,
  "../../node_modules/@modelcontextprotocol/conformance/dist/index.js",
);

/** In the order in which a sample takes them. */
const scenarios = [
  ...[
    "tools_call",
    "auth/metadata-default",
    "initialize",
    "elicitation-sep1034-client-defaults",
    "sse-retry",
  ],
  ...[
    "request-metadata",
    "auth/metadata-var1",
    "auth/metadata-var2",
    "auth/metadata-var3",
    "auth/basic-cimd",
  ],
  ...[
    "auth/scope-from-www-authenticate",
    "auth/scope-from-scopes-supported",
    "auth/scope-omitted-when-undefined",
  ],
  ...["auth/scope-step-up", "auth/scope-retry-limit", "auth/token-endpoint-auth-basic"],
  ...["auth/token-endpoint-auth-post", "auth/token-endpoint-auth-none", "auth/pre-registration"],
  ...["auth/2025-03-26-oauth-metadata-backcompat", "auth/2025-03-26-oauth-endpoint-fallback"],
  ...["auth/resource-mismatch", "auth/offline-access-scope", "auth/offline-access-not-supported"],
  ...["auth/authorization-server-migration", "auth/iss-supported", "auth/iss-not-advertised"],
  ...["auth/iss-supported-missing", "auth/iss-wrong-issuer", "auth/iss-unexpected", "auth/iss-normalized"],
  ...["auth/metadata-issuer-mismatch", "sep-2322-client-request-state", "http-standard-headers"],
  ...["http-custom-headers", "http-invalid-tool-headers", "json-schema-ref-no-deref"],
  "json-schema-2020-12-preservation",
] as const;

const machine = "an extension for machines that log in without a person; Keel logs in with one at the screen";
const skills = "an extension that serves skills over resources; Keel reads skills from folders only";

/** Why a scenario of the suite is not for Keel. */
const others: Readonly<Record<string, string>> = {
  "auth/client-credentials-jwt": machine,
  "auth/client-credentials-basic": machine,
  "auth/enterprise-managed-authorization": "an extension for tokens of an enterprise's own identity provider",
  "auth/dpop": "an extension that binds tokens to a key; no server that we know asks for it",
  "auth/dpop-nonce": "as auth/dpop",
  "auth/wif-jwt-bearer": machine,
  "sep-2640-client-no-prefetch": skills,
  "sep-2640-client-verify-digest": skills,
  "sep-2640-client-verify-size": skills,
  "sep-2640-client-verify-frontmatter": skills,
};

type Ended = { readonly code: number | null; readonly out: string };

function conformance(parameters: readonly string[]): Promise<Ended> {
  const options = `--import=${new URL(`file://${here}/localhost.mjs`).href} --no-warnings`;
  const child = spawn(process.execPath, [suite, ...parameters], {
    env: { ...process.env, NODE_OPTIONS: options },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let out = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (out += chunk));
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, out })));
}

describe("the official MCP conformance suite", () => {
  test("has no scenario for clients that nobody has looked at", { timeout: 60_000 }, async () => {
    const { out } = await conformance(["list"]);
    const [, part = ""] = /Client scenarios[^\n]*\n([\s\S]*?)\n\n/.exec(out) ?? [];
    const listed = [...part.matchAll(/^ {2}- (\S+)/gm)].map(([, name = ""]) => name);
    expect(listed.toSorted()).toEqual([...scenarios, ...Object.keys(others)].toSorted());
  });

  test.each(scenarios.slice(0, countOf("mcp-conformance")))("%s", { timeout: 180_000 }, async (scenario) => {
    verifies("S4.60", "S4.61");
    const command = `${process.execPath} ${path.join(here, "client.ts")}`;
    const { code, out } = await conformance([
      ...["client", "--timeout", "120000", "--scenario", scenario],
      ...["--command", command],
    ]);
    expect({ code, out: out.split("\n").filter((line) => line.includes("FAILURE")) }).toEqual({
      code: 0,
      out: [],
    });
  });
});
