/** What a session tells about itself: commands, models, agents, account. */

import type { OpenSession } from "../../app/open-session.ts";
import type { SlashCommand } from "../messages/system.ts";
import { toldKind } from "../names.ts";
import { version } from "../version.ts";
import type { AgentInfo, SDKControlInitializeResponse } from "./responses.ts";

export async function describeSession(session: OpenSession): Promise<SDKControlInitializeResponse> {
  const { info } = session;
  const models = await session.inquire("offeredModels");
  return {
    commands: commandsOf(session),
    agents: agentsOf(session),
    models: models.map(({ name, model, efforts }) => ({
      value: name,
      displayName: name === "default" ? `Default (${model.name})` : model.name,
      description: `${model.provider}, ${Math.round(model.windowTokens / 1000)}k tokens`,
      resolvedModel: model.id,
      supportsEffort: efforts.length > 0,
      supportedEffortLevels: [...efforts],
      supportsAdaptiveThinking: model.abilities.thinking === "adaptive",
      supportsFastMode: false,
    })),
    account: {
      apiKeySource: info.keySource,
      apiProvider: info.provider === "anthropic" ? "firstParty" : "gateway",
      provider: info.provider,
    },
    output_style: info.outputStyle.name,
    available_output_styles: [...info.outputStyle.all],
    claude_code_version: version,
    current_permission_mode: info.permissionMode,
    hook_on_failure_supported: true,
    fast_mode_state: "off",
  };
}

export const commandsOf = ({ info }: Pick<OpenSession, "info">): SlashCommand[] =>
  info.commands.map(({ name, description, argumentHint, aliases, source }) => ({
    name,
    description,
    argumentHint,
    ...(aliases.length > 0 ? { aliases: [...aliases] } : {}),
    builtin: source === "built-in",
  }));

export const agentsOf = ({ info }: Pick<OpenSession, "info">): AgentInfo[] =>
  info.agents.map(({ name, description, model }) => ({
    name: toldKind(name),
    description,
    ...(model === undefined ? {} : { model }),
  }));
