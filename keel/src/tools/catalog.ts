/** The built-in tools, sorted by name: their order is part of the cached prefix of every request. */
import type { Agents } from "../ports/agents.ts";
import type { Library } from "../ports/library.ts";
import type { LiveTerminals } from "../ports/live-terminals.ts";
import type { Memory } from "../ports/memory.ts";
import type { Programs } from "../ports/programs.ts";
import type { Schedules } from "../ports/schedules.ts";
import type { Tool, ToolHead } from "../ports/tool.ts";
import type { Digest, Web, WebSearch } from "../ports/web.ts";
import type { Worktrees } from "../ports/worktrees.ts";
import { toolHeads } from "./heads.ts";
import { byName } from "./presets.ts";

/** What some tools need beside the workspace. Where it is absent, so are they. */
export type ToolPorts = {
  readonly web?: Web | undefined;
  readonly digest?: Digest | undefined;
  readonly search?: WebSearch | undefined;
  readonly library?: Library | undefined;
  readonly agents?: Agents | undefined;
  readonly worktrees?: Worktrees | undefined;
  readonly memory?: Memory | undefined;
  readonly terminals?: LiveTerminals | undefined;
  readonly schedules?: Schedules | undefined;
  readonly programs?: Programs | undefined;
};

type ToolLoaders = Readonly<Record<string, () => Promise<Tool>>>;

/** Those that need nothing else. */
const plainLoaders: ToolLoaders = {
  Bash: async () => (await import("./bash.ts")).bashTool,
  Edit: async () => (await import("./edit.ts")).editTool,
  Glob: async () => (await import("./glob.ts")).globTool,
  Grep: async () => (await import("./grep.ts")).grepTool,
  MultiEdit: async () => (await import("./edit.ts")).multiEditTool,
  NotebookEdit: async () => (await import("./notebook-edit.ts")).notebookEditTool,
  Read: async () => (await import("./read.ts")).readTool,
  Write: async () => (await import("./write.ts")).writeTool,
  TaskOutput: async () => (await import("./background-tasks.ts")).taskOutputTool,
  TaskStop: async () => (await import("./background-tasks.ts")).taskStopTool,
  TaskCreate: async () => (await import("./todo-list.ts")).taskCreateTool,
  TaskGet: async () => (await import("./todo-list.ts")).taskGetTool,
  TaskList: async () => (await import("./todo-list.ts")).taskListTool,
  TaskUpdate: async () => (await import("./todo-list.ts")).taskUpdateTool,
  TodoWrite: async () => (await import("./todo-list.ts")).todoWriteTool,
  AskUserQuestion: async () => (await import("./ask-user-question.ts")).askUserQuestionTool,
  EnterPlanMode: async () => (await import("./plan-mode.ts")).enterPlanModeTool,
  ExitPlanMode: async () => (await import("./plan-mode.ts")).exitPlanModeTool,
  ToolSearch: async () => (await import("./tool-search.ts")).toolSearchTool,
};

const headsOf = (loaders: ToolLoaders): ToolHead[] =>
  Object.entries(loaders).map(([name, load]) => ({ ...toolHeads[name as keyof typeof toolHeads], load }));

/** The same for every session: a thousand of them hold these once. */
const plainHeads: readonly ToolHead[] = headsOf(plainLoaders);

/** All of them; which ones a session offers is chosen by `chooseTools`. */
export const builtInTools = (ports: ToolPorts = {}): ToolHead[] =>
  [...plainHeads, ...headsOf(portLoaders(ports))].sort(byName).filter(({ name }) => name !== replyName);

/** The tools by which agents are given work, told something, and answer. */
export const agentTools = (agents: Agents): ToolHead[] =>
  headsOf(portLoaders({ agents })).filter(({ name }) => ofAgents.has(name));

/** For members of a team alone. */
const replyName = "ShutdownReply";
const ofAgents: ReadonlySet<string> = new Set(["Agent", "SendMessage", replyName]);

/** How each is loaded, by its name: with its first call. */
export const toolLoaders = (ports: ToolPorts): ToolLoaders => ({ ...plainLoaders, ...portLoaders(ports) });

function portLoaders(ports: ToolPorts): ToolLoaders {
  const { web, digest, search, library, agents, worktrees, memory, terminals, schedules, programs } = ports;
  return {
    ...(web ? { WebFetch: async () => (await import("./web-fetch.ts")).webFetchTool({ web, digest }) } : {}),
    ...(search ? { WebSearch: async () => (await import("./web-search.ts")).webSearchTool(search) } : {}),
    ...(library ? { Skill: async () => (await import("./skill.ts")).skillTool(library, agents) } : {}),
    ...(agents ? { Agent: async () => (await import("./agent.ts")).agentTool(agents) } : {}),
    ...(agents
      ? {
          SendMessage: async () => (await import("./send-message.ts")).sendMessageTool(agents),
          ShutdownReply: async () => (await import("./team.ts")).shutdownReplyTool(agents),
          TeamCreate: async () => (await import("./team.ts")).teamCreateTool(agents),
          TeamDelete: async () => (await import("./team.ts")).teamDeleteTool(agents),
          TeamShutdown: async () => (await import("./team.ts")).teamShutdownTool(agents),
        }
      : {}),
    ...(worktrees
      ? { EnterWorktree: async () => (await import("./worktree-tools.ts")).enterWorktreeTool(worktrees) }
      : {}),
    ...(worktrees
      ? { ExitWorktree: async () => (await import("./worktree-tools.ts")).exitWorktreeTool(worktrees) }
      : {}),
    ...(memory ? { Recall: async () => (await import("./memory-tools.ts")).recallTool(memory) } : {}),
    ...(memory ? { Remember: async () => (await import("./memory-tools.ts")).rememberTool(memory) } : {}),
    ...(schedules
      ? {
          schedule_task: async () => (await import("./schedules.ts")).scheduleTaskTool(schedules),
          list_tasks: async () => (await import("./schedules.ts")).listTasksTool(schedules),
          cancel_task: async () => (await import("./schedules.ts")).cancelTaskTool(schedules),
        }
      : {}),
    ...(programs
      ? { RunProgram: async () => (await import("./run-program.ts")).runProgramTool(programs) }
      : {}),
    ...(terminals ? { Terminal: async () => (await import("./terminal.ts")).terminalTool(terminals) } : {}),
  };
}
