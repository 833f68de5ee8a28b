/** The team of a session, as the rest of its agents see it; what makes it is loaded with the first. */
import type { AgentSendOutcome, TeamCommands } from "../ports/agents.ts";
import type { Tool } from "../ports/tool.ts";

export type TeamMessage = {
  readonly from: string;
  readonly to: string;
  readonly words: string;
  /** The call that sends it, by its session: a call that runs again after a crash sends nothing twice. */
  readonly call: string;
  readonly approves?: boolean | undefined;
};

export interface LedTeam {
  readonly list: {
    /** A tool of the list, as `by` uses it. */
    shared(tool: Tool, by: string): Tool;
  };
  /** Under which name an agent is in the team; undefined for one that is not. The leader is `main`. */
  nameOf(agentId: string | undefined): string | undefined;
  /** Whether mail to it is the team's. */
  knows(to: string): boolean;
  /** Why nobody of that name can join. */
  refusal(name: string): string | undefined;
  send(message: TeamMessage): Promise<AgentSendOutcome>;
  commands(agentId: string | undefined): TeamCommands;
  /** After a crash: who was at work goes on where it was. False where the log took nothing: then it is to be tried again. */
  revive(): Promise<boolean>;
}
