/** What a session tells about itself: commands, models, agents, account. */

import type { OpenSession } from "../../app/open-session.ts";
import { toldKind } from "../dialect/say.ts";
import type { SlashCommand } from "../messages/system.ts";

export type OfferedModel = { value: string; displayName: string; description: string };
export type AgentInfo = { name: string; description: string; model?: string };
export type AccountInfo = {
  apiKeySource?: string;
  apiProvider?: string;
  email?: string;
  organization?: string;
};

export type InitializationResult = {
  commands: SlashCommand[];
  agents: AgentInfo[];
  models: OfferedModel[];
  account: AccountInfo;
  output_style: string;
  available_output_styles: string[];
};

export type ContextUsage = {
  categories: { name: string; tokens: number }[];
  totalTokens: number;
  maxTokens: number;
  /** From this size on the conversation is shortened by itself. */
  autoCompactThreshold?: number;
  isAutoCompactEnabled: boolean;
  percentage: number;
  model: string;
};

export async function describeSession(session: OpenSession): Promise<InitializationResult> {
  const { info } = session;
  const models = await session.inquire("models");
  return {
    commands: commandsOf(session),
    agents: agentsOf(session),
    models: models.map(({ id, name, provider, windowTokens }) => ({
      value: id,
      displayName: name,
      description: `${provider}, ${Math.round(windowTokens / 1000)}k tokens`,
    })),
    account: { apiKeySource: info.keySource, apiProvider: info.provider },
    output_style: info.outputStyle.name,
    available_output_styles: [...info.outputStyle.all],
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

export function contextUsage(session: OpenSession): ContextUsage {
  const { model, totalTokens, windowTokens, freeTokens, compactAtTokens, tokens } = session.context();
  return {
    categories: [...Object.entries(tokens), ["free", freeTokens] as const].map(([name, count]) => ({
      name,
      tokens: count,
    })),
    totalTokens,
    maxTokens: windowTokens,
    ...(compactAtTokens === null ? {} : { autoCompactThreshold: compactAtTokens }),
    isAutoCompactEnabled: compactAtTokens !== null,
    percentage: windowTokens > 0 ? Math.round((totalTokens / windowTokens) * 100) : 0,
    model,
  };
}
