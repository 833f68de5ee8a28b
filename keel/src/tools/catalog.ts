/** The built-in tools, sorted by name: their order is part of the cached prefix of every request. */
import type { Agents } from "../ports/agents.ts";
import type { Library } from "../ports/library.ts";
import type { Memory } from "../ports/memory.ts";
import type { Tool } from "../ports/tool.ts";
import type { Digest, Web, WebSearch } from "../ports/web.ts";
import type { Worktrees } from "../ports/worktrees.ts";
import { agentTool } from "./agent.ts";
import { askUserQuestionTool } from "./ask-user-question.ts";
import { bashTool } from "./bash.ts";
import { editTool } from "./edit.ts";
import { enterPlanModeTool } from "./enter-plan-mode.ts";
import { enterWorktreeTool } from "./enter-worktree.ts";
import { exitPlanModeTool } from "./exit-plan-mode.ts";
import { exitWorktreeTool } from "./exit-worktree.ts";
import { globTool } from "./glob.ts";
import { grepTool } from "./grep.ts";
import { multiEditTool } from "./multi-edit.ts";
import { notebookEditTool } from "./notebook-edit.ts";
import { byName } from "./presets.ts";
import { readTool } from "./read.ts";
import { recallTool } from "./recall.ts";
import { rememberTool } from "./remember.ts";
import { sendMessageTool } from "./send-message.ts";
import { skillTool } from "./skill.ts";
import { taskCreateTool } from "./task-create.ts";
import { taskGetTool } from "./task-get.ts";
import { taskListTool } from "./task-list.ts";
import { taskOutputTool } from "./task-output.ts";
import { taskStopTool } from "./task-stop.ts";
import { taskUpdateTool } from "./task-update.ts";
import { todoWriteTool } from "./todo-write.ts";
import { toolSearchTool } from "./tool-search.ts";
import { webFetchTool } from "./web-fetch.ts";
import { webSearchTool } from "./web-search.ts";
import { writeTool } from "./write.ts";

/** What some tools need beside the workspace. Where it is absent, so are they. */
export type ToolPorts = {
  readonly web?: Web | undefined;
  readonly digest?: Digest | undefined;
  readonly search?: WebSearch | undefined;
  readonly library?: Library | undefined;
  readonly agents?: Agents | undefined;
  readonly worktrees?: Worktrees | undefined;
  readonly memory?: Memory | undefined;
};

/** All of them; which ones a session offers is chosen by `chooseTools`. */
export function builtInTools({
  web,
  digest,
  search,
  library,
  agents,
  worktrees,
  memory,
}: ToolPorts = {}): Tool[] {
  const tools: Tool[] = [
    ...[bashTool, editTool, globTool, grepTool, multiEditTool, notebookEditTool, readTool, writeTool],
    ...[taskOutputTool, taskStopTool],
    ...[taskCreateTool, taskGetTool, taskListTool, taskUpdateTool, todoWriteTool],
    ...[askUserQuestionTool, enterPlanModeTool, exitPlanModeTool, toolSearchTool],
    ...(web ? [webFetchTool({ web, digest })] : []),
    ...(search ? [webSearchTool(search)] : []),
    ...(library ? [skillTool(library, agents)] : []),
    ...(agents ? [agentTool(agents), sendMessageTool(agents)] : []),
    ...(worktrees ? [enterWorktreeTool(worktrees), exitWorktreeTool(worktrees)] : []),
    ...(memory ? [recallTool(memory), rememberTool(memory)] : []),
  ];
  return tools.sort(byName);
}
