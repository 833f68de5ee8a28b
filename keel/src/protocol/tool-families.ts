/** The built-in tools by name, for rules, logs and programs that name one: written by `npm run reference` from their definitions. */
import type { ToolFamily } from "./tool.ts";

// biome-ignore format: as it is made
export const toolNames = ["Agent","AskUserQuestion","Bash","Edit","EnterPlanMode","EnterWorktree","ExitPlanMode","ExitWorktree","Glob","Grep","MultiEdit","NotebookEdit","Read","Recall","Remember","RunProgram","SendMessage","ShutdownReply","Skill","TaskCreate","TaskGet","TaskList","TaskOutput","TaskStop","TaskUpdate","TeamCreate","TeamDelete","TeamShutdown","Terminal","TodoWrite","ToolSearch","WebFetch","WebSearch","Write","cancel_task","list_tasks","schedule_task"] as const;

/** Older names under which a tool can still be called. */
// biome-ignore format: as it is made
export const toolAliases: Readonly<Record<string, string>> = {"Task":"Agent","BashOutput":"TaskOutput","AgentOutput":"TaskOutput","KillShell":"TaskStop","KillBash":"TaskStop"};

// biome-ignore format: as it is made
const families: Readonly<Record<string, ToolFamily>> = {"Agent":"agents","AskUserQuestion":"person","Bash":"shell","Edit":"edits","EnterPlanMode":"person","ExitPlanMode":"person","Glob":"reads","Grep":"reads","LS":"reads","MultiEdit":"edits","NotebookEdit":"edits","NotebookRead":"reads","Read":"reads","Task":"agents","Terminal":"shell","WebFetch":"web","WebSearch":"web","Write":"edits","mcp__desktop-assistant-tools__analyze_image":"reads","mcp__desktop-assistant-tools__list_files":"reads","mcp__desktop-assistant-tools__read_file":"reads","mcp__desktop-assistant-tools__run_shell_command":"shell","mcp__desktop-assistant-tools__search_files":"reads","mcp__desktop-assistant-tools__write_file":"edits"};

export const familyOf = (tool: string): ToolFamily | undefined =>
  Object.hasOwn(families, tool) ? families[tool] : undefined;
