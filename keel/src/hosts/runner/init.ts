/** What a host learns when its session is open. */
import type { OpenSession } from "../../app/open-session.ts";
import type { OpenOptions } from "../../app/options.ts";
import { notification } from "./dialect.ts";
import type { RunnerEvent, RunnerEventOf } from "./events.ts";
import type { RunnerStart } from "./start.ts";

export function initEvents(
  session: OpenSession,
  { start, options }: { start: RunnerStart; options: OpenOptions },
): RunnerEvent[] {
  const { info, id: sessionId } = session;
  const kind = options.which?.kind ?? "new";
  const { maxBudgetUsd, maxTurns, maxThinkingTokens } = start;
  const { windowTokens, totalTokens, tokens } = session.context();
  return [
    {
      type: "init",
      sessionId,
      cwd: info.cwd,
      model: info.model,
      permissionMode: info.permissionMode,
      tools: [...info.tools],
      commands: info.commands.map(({ name }) => name),
      agents: info.agents.map(({ name }) => name),
      skills: [...info.skills],
      mcpServers: serversOf(session),
      budget: { maxBudgetUsd, maxTurns, maxThinkingTokens },
      trust: { ...info.trust, leftOut: [...info.trust.leftOut] },
      checkpointing: options.checkpoints === "on",
    },
    { type: "session_started", sessionId, source: kind === "new" ? "startup" : kind },
    ...(kind === "fork" ? [{ type: "session_id_update", sessionId, previous: start.resume } as const] : []),
    { type: "context_window_size", model: info.model, windowTokens, totalTokens, tokens: { ...tokens } },
    ...session.notices.map(({ level, text, code }) => notification(level, "Notice", text, code)),
  ];
}

/** The workspace's own server is always there. */
export const serversOf = ({ mcp }: OpenSession): RunnerEventOf<"mcp_status">["servers"] => [
  { name: "workspace", status: "connected" },
  ...mcp.status().map((server) => ({
    name: server.name,
    status: server.status,
    error: "error" in server ? server.error : undefined,
  })),
];
