/** What a host learns when its session is open. */
import type { OpenSession } from "../../app/open-session.ts";
import type { OpenOptions } from "../../app/options.ts";
import type { RunnerEvent } from "./events.ts";
import { serversOf } from "./servers.ts";
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
      budget: {
        ...(maxBudgetUsd === undefined ? {} : { maxBudgetUsd }),
        ...(maxTurns === undefined ? {} : { maxTurns }),
        ...(maxThinkingTokens === undefined ? {} : { maxThinkingTokens }),
      },
      trust: { ...info.trust, leftOut: [...info.trust.leftOut] },
      checkpointing: options.checkpoints === "on",
    },
    { type: "session_started", sessionId, source: kind === "new" ? "startup" : kind },
    ...(kind === "fork"
      ? [
          {
            type: "session_id_update" as const,
            sessionId,
            ...(start.resume === undefined ? {} : { previous: start.resume }),
          },
        ]
      : []),
    { type: "context_window_size", model: info.model, windowTokens, totalTokens, tokens: { ...tokens } },
    ...session.notices.map(
      ({ level, text: message, code }): RunnerEvent => ({
        type: "agent_notification",
        level,
        title: "Notice",
        message,
        ...(code === undefined ? {} : { code }),
      }),
    ),
  ];
}
