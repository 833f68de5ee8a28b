/** Slash commands as data: what every host lists, and what the built-in ones may look at. */
import type { InstructionFile } from "../../../config/definitions/instructions.ts";
import type { GoalState } from "../../../core/state/goal-state.ts";
import type { SessionInfo } from "../../../ports/store.ts";
import type { Command, Receipt } from "../../../protocol/command.ts";
import type { CommandInfo, SessionFacts } from "../../../protocol/inquiry.ts";
import type { McpServerState } from "../../../protocol/mcp.ts";
import type { ScheduleEntry } from "../../../protocol/schedule.ts";
import type { SessionSettings } from "../../../protocol/settings.ts";
import type { TeamReport } from "../../../protocol/team.ts";
import type { Bill, ContextBreakdown } from "../../../protocol/usage.ts";
import type { LateEditor } from "../../compose/late-editor.ts";
import type { SessionLibrary } from "../../compose/library.ts";
import type { McpControl } from "../../compose/mcp.ts";
import type { SettingsLocation } from "../../maintenance/settings-files.ts";

/** A built-in command that needs no model. */
export type LocalCommand = Pick<CommandInfo, "name" | "description" | "argumentHint"> & {
  readonly kind: "local" | "screen";
  readonly aliases?: readonly string[];
  /** Waits for the end of a turn that runs. */
  readonly waits?: boolean;
  /** Empty where what happened is told by an event. Throws a fault for what cannot be done. */
  run(args: string, context: CommandContext): Promise<string>;
};

/** What a command may look at and do: nothing that a host could not. */
export type CommandContext = {
  readonly id: string;
  readonly version: string;
  readonly location: string | undefined;
  readonly info: SessionFacts;
  readonly library: SessionLibrary;
  readonly settingsLocation: SettingsLocation;
  /** All commands that are listed. */
  commands(): readonly CommandInfo[];
  /** Whether the conversation holds anything yet. */
  hasSaid(): boolean;
  /** As they are now. */
  settings(): SessionSettings | null;
  bill(): Bill;
  context(): ContextBreakdown;
  instructions(): Promise<readonly InstructionFile[]>;
  /** How the MCP servers stand now. */
  servers(): readonly McpServerState[];
  /** One of them, by its name. Throws `usage` for a name that none has, `mcp_failed` where it does not come. */
  readonly server: Pick<McpControl, "reconnect" | "toggle">;
  /** The editor of this folder. */
  readonly editor: Pick<LateEditor, "status" | "connect" | "leave" | "editors">;
  /** How its team stands; null where it has none. */
  team(): Promise<TeamReport | null>;
  now(): number;
  /** What is due by the clock in its home. */
  schedules(): Promise<readonly ScheduleEntry[]>;
  /** How often its goal was tried since it was set. */
  goalTries(): GoalState;
  /** The newest sessions of this folder. */
  sessions(): Promise<readonly SessionInfo[]>;
  submit(command: Command): Promise<Receipt>;
};
