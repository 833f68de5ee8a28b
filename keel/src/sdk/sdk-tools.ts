/**
 * `keel/sdk-tools`: what tools are given and what `tool_use_result` holds of them, in the names of the interface. Types
 * only. Of tools that Keel does not have, the names are here and nothing is known.
 */
import type {
  AgentInput,
  AskUserQuestionInput,
  BashInput,
  EnterPlanModeInput,
  EnterWorktreeInput,
  ExitPlanModeInput,
  ExitWorktreeInput,
  FileEditInput,
  FileReadInput,
  FileWriteInput,
  GlobInput,
  GrepInput,
  ListMcpResourcesInput,
  McpInput,
  NotebookEditInput,
  ReadMcpResourceDirInput,
  ReadMcpResourceInput,
  TaskCreateInput,
  TaskGetInput,
  TaskListInput,
  TaskStopInput,
  TaskUpdateInput,
  TodoWriteInput,
  WebFetchInput,
  WebSearchInput,
} from "./tool-shapes/inputs.ts";
import type {
  AgentOutput,
  AskUserQuestionOutput,
  BashOutput,
  EnterPlanModeOutput,
  EnterWorktreeOutput,
  ExitPlanModeOutput,
  ExitWorktreeOutput,
  FileEditOutput,
  FileReadOutput,
  FileWriteOutput,
  GlobOutput,
  GrepOutput,
  ListMcpResourcesOutput,
  McpOutput,
  NotebookEditOutput,
  ReadMcpResourceDirOutput,
  ReadMcpResourceOutput,
  TaskCreateOutput,
  TaskGetOutput,
  TaskListOutput,
  TaskStopOutput,
  TaskUpdateOutput,
  TodoWriteOutput,
  WebFetchOutput,
  WebSearchOutput,
} from "./tool-shapes/outputs.ts";

export type * from "./tool-shapes/inputs.ts";
export type * from "./tool-shapes/outputs.ts";

// Of tools that Keel does not have.
export type RefreshMcpToolsOutput = unknown;
export type ArtifactOutput = unknown;
export type ProjectsOutput = unknown;
export type RefreshMcpToolsInput = unknown;
export type ReportFindingsInput = unknown;
export type SendFeedbackInput = unknown;
export type ClaudeDesignInput = unknown;
export type ProjectsInput = unknown;
export type WorkflowInput = unknown;
export type CronCreateInput = unknown;
export type CronDeleteInput = unknown;
export type CronListInput = unknown;
export type ScheduleWakeupInput = unknown;
export type RemoteTriggerInput = unknown;
export type ShowOnboardingRolePickerInput = unknown;
export type OfferChromeSetupInput = unknown;
export type ReadNotificationsInput = unknown;
export type MonitorInput = unknown;
export type ProposeSkillsInput = unknown;
export type ProposeGoalInput = unknown;
export type ArtifactInput = unknown;
export type PushNotificationInput = unknown;
export type ReportFindingsOutput = unknown;
export type SendFeedbackOutput = unknown;
export type RemoteTriggerOutput = unknown;
export type ShowOnboardingRolePickerOutput = unknown;
export type OfferChromeSetupOutput = unknown;
export type ReadNotificationsOutput = unknown;
export type ScheduleWakeupOutput = unknown;
export type MonitorOutput = unknown;
export type ProposeSkillsOutput = unknown;
export type ProposeGoalOutput = unknown;
export type WorkflowOutput = unknown;
export type CronCreateOutput = unknown;
export type CronDeleteOutput = unknown;
export type CronListOutput = unknown;
export type PushNotificationOutput = unknown;
export type ClaudeDesignOutput = unknown;

export type ToolInputSchemas =
  | AgentInput
  | BashInput
  | ExitPlanModeInput
  | FileEditInput
  | FileReadInput
  | FileWriteInput
  | GlobInput
  | GrepInput
  | TaskStopInput
  | ListMcpResourcesInput
  | ReadMcpResourceInput
  | ReadMcpResourceDirInput
  | McpInput
  | NotebookEditInput
  | TodoWriteInput
  | WebFetchInput
  | WebSearchInput
  | AskUserQuestionInput
  | EnterPlanModeInput
  | EnterWorktreeInput
  | ExitWorktreeInput
  | TaskCreateInput
  | TaskGetInput
  | TaskListInput
  | TaskUpdateInput;
export type ToolOutputSchemas =
  | AgentOutput
  | BashOutput
  | FileEditOutput
  | FileWriteOutput
  | FileReadOutput
  | GlobOutput
  | GrepOutput
  | NotebookEditOutput
  | TaskStopOutput
  | TodoWriteOutput
  | TaskCreateOutput
  | TaskGetOutput
  | TaskUpdateOutput
  | TaskListOutput
  | WebFetchOutput
  | WebSearchOutput
  | AskUserQuestionOutput
  | ExitPlanModeOutput
  | EnterPlanModeOutput
  | EnterWorktreeOutput
  | ExitWorktreeOutput
  | ListMcpResourcesOutput
  | ReadMcpResourceOutput
  | ReadMcpResourceDirOutput
  | McpOutput;
