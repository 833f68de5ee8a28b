/** What a program can learn about its session from beside, and ask to be read again, in the words of the interface. */

import type { HostCall } from "../../app/inquiries/inquiries.ts";
import type { OpenSession } from "../../app/open-session.ts";
import { present } from "../../kernel/json.ts";
import { hookEvents } from "../../protocol/hook.ts";
import type { HookRow, Inquire, InquiryAnswer, SessionRuleRow } from "../../protocol/inquiry.ts";
import type { PluginConfig } from "../../protocol/option-row.ts";
import type { SDKControlGetUsageResponse } from "../messages/reports.ts";
import { sourcesOf } from "../options/resolve-settings.ts";
import type { Conversation } from "./conversation.ts";
import { agentsOf, commandsOf } from "./introspection.ts";
import type {
  SDKControlMcpReadResourceResponse,
  SDKControlReloadOutputStylesResponse,
  SDKControlReloadPluginsResponse,
  SDKControlReloadSkillsResponse,
} from "./responses.ts";

export interface QueryInquiries {
  /** Keel's own: whatever the table of inquiries has, by the name of its row. */
  inquire: Inquire;
  /** Reads plugins' commands, skills, agents and styles again. Their hooks and servers are those of the start. */
  reloadPlugins(options?: {
    holdOnCacheImpact?: boolean;
    addPlugins?: PluginConfig[];
    refuseIfBusy?: boolean;
  }): Promise<SDKControlReloadPluginsResponse>;
  /** Reads commands and skills again; the model hears of new ones with the next request. */
  reloadSkills(): Promise<SDKControlReloadSkillsResponse>;
  /** Reads the styles again. The one that is in use stays as it is. */
  reloadOutputStyles(): Promise<SDKControlReloadOutputStylesResponse>;
  /** The conversation holds the file as it was at `mtime` (milliseconds): it may be edited unless it changed since. */
  seedReadState(path: string, mtime: number): Promise<void>;
  /** What a resource of a server holds. */
  readMcpResource(serverName: string, uri: string): Promise<SDKControlMcpReadResourceResponse>;
  usage_EXPERIMENTAL_MAY_CHANGE_DO_NOT_RELY_ON_THIS_API_YET(options?: {
    skipBehaviors?: boolean;
  }): Promise<SDKControlGetUsageResponse>;
}

export function inquiriesOf(conversation: Conversation): QueryInquiries {
  const reloaded = async (): Promise<OpenSession> => {
    const session = await conversation.open();
    await session.reload();
    return session;
  };
  return {
    inquire: async (name, ...question) => (await conversation.open()).inquire(name, ...question),
    async reloadPlugins() {
      const session = await reloaded();
      return {
        commands: commandsOf(session),
        agents: agentsOf(session),
        plugins: session.info.plugins.map((plugin) => ({ ...plugin })),
        mcpServers: (await conversation.servers()).states(),
        error_count: 0,
      };
    },
    async reloadSkills() {
      const session = await reloaded();
      const skills = new Set(session.info.skills);
      return { skills: commandsOf(session).filter(({ name }) => skills.has(name)) };
    },
    reloadOutputStyles: async () => ({
      available_output_styles: [...(await reloaded()).info.outputStyle.all],
    }),
    async seedReadState(path, mtime) {
      await (await conversation.open()).seedRead(path, mtime);
    },
    async readMcpResource(serverName, uri) {
      const blocks = await (await conversation.open()).mcp.resource(serverName, uri);
      return {
        contents: blocks.map((block) => {
          if (block.type === "text") return { uri, text: block.text };
          return { uri, mimeType: block.mediaType, blob: block.data };
        }),
      };
    },
    usage_EXPERIMENTAL_MAY_CHANGE_DO_NOT_RELY_ON_THIS_API_YET: async () => usageOf(await conversation.open()),
  };
}

async function usageOf(session: OpenSession): Promise<SDKControlGetUsageResponse> {
  const { foldTotals, noTotals } = await import("../../view/totals.ts");
  const { modelUsageOf } = await import("../dialect/result.ts");
  let totals = noTotals;
  for await (const event of session.history()) totals = foldTotals(totals, event);
  return {
    session: {
      total_cost_usd: totals.costUsd,
      total_api_duration_ms: totals.modelMs,
      total_duration_ms: totals.ms,
      total_lines_added: totals.linesAdded,
      total_lines_removed: totals.linesRemoved,
      model_usage: modelUsageOf(totals.models, session.info.models),
    },
    subscription_type: null,
    rate_limits_available: false,
    rate_limits: null,
    behaviors: null,
  };
}

/** `get_settings`. */
export type SDKControlGetSettingsResponse = Pick<InquiryAnswer<"settings">, "effective" | "applied"> & {
  sources: ReturnType<typeof sourcesOf>;
};

export async function settingsOf(session: OpenSession): Promise<SDKControlGetSettingsResponse> {
  const { effective, rows, applied } = await session.inquire("settings");
  const sources = sourcesOf(rows).map((said) => ({
    ...said,
    source: sourceNames[said.source] ?? said.source,
  }));
  return { effective, sources, applied };
}

/** `list_permission_rules`. */
export async function rulesOf(session: OpenSession): Promise<unknown> {
  const rules = await session.inquire("rules");
  return {
    state: {
      rules: rules.map(ruleEntry),
      workspaceDirectories: session.info.roots.map((path, index) => ({
        path,
        source: index === 0 ? "cwd" : "session",
      })),
      originalCwd: session.info.cwd,
      managedOnly: false,
    },
  };
}

const ruleEntry = ({ list, rule, source }: SessionRuleRow) => ({
  behavior: list,
  source: sourceNames[source] ?? source,
  rule,
  editability: editable[source] ?? "readonly",
});

const sourceNames: Readonly<Record<string, string | undefined>> = {
  managed: "policySettings",
  project: "projectSettings",
  local: "localSettings",
  user: "userSettings",
  flags: "flagSettings",
  "command-line": "cliArg",
};
const editable: Readonly<Record<string, "persistent" | "session" | undefined>> = {
  local: "persistent",
  project: "persistent",
  user: "persistent",
  session: "session",
};

/** `get_hooks_listing`. */
export async function hooksListing(session: OpenSession): Promise<unknown> {
  const hooks = await session.inquire("hooks");
  const catalog = hookEvents.map((name) => ({ name, supportsMatcher: /Tool|Permission/.test(name) }));
  return {
    events: catalog.map((event) => ({
      ...event,
      hookCount: hooks.filter(({ event: of }) => of === event.name).length,
    })),
    hooks: hooks.map(hookEntry),
    eventCatalog: catalog,
  };
}

const hookEntry = ({ event, matcher, source, plugin, type, words, timeoutSeconds }: HookRow) => ({
  event,
  matcher,
  source,
  type,
  displayText: words,
  commandText: words,
  ...present({ pluginName: plugin, timeout: timeoutSeconds }),
});

/** `mcp_call`: a result as servers give them. */
export async function callTool(session: OpenSession, call: HostCall): Promise<unknown> {
  const { content, failed = false, data } = await session.callTool(call);
  return {
    content: content.map((part) =>
      part.type === "text" ? part : { type: "image", data: part.data, mimeType: part.mediaType },
    ),
    ...(data === undefined ? {} : { structuredContent: data }),
    isError: failed,
  };
}
