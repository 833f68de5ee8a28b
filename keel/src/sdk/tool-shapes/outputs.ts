/** What comes of a call, as `tool_use_result` holds it, in the names of the interface. */
import type { SDKImageType, SDKUsage } from "../messages/content.ts";
import type { Annotations, GrepMode, ListState, Open, Question, Todo } from "./inputs.ts";

type AgentModels = { resolvedModel?: string; modelsUsed?: string[] };
export type AgentOutput =
  | (AgentModels & {
      status: "completed";
      agentId: string;
      agentType?: string;
      prompt: string;
      content: { type: "text"; text: string; citations?: unknown[] | null }[];
      totalToolUseCount: number;
      totalDurationMs: number;
      totalTokens: number;
      usage: Pick<
        SDKUsage,
        | "cache_creation"
        | "cache_creation_input_tokens"
        | "cache_read_input_tokens"
        | "input_tokens"
        | "output_tokens"
        | "server_tool_use"
      > & { service_tier: string | null };
      toolsUsed?: string[];
      worktreePath?: string;
      worktreeBranch?: string;
    })
  | (AgentModels & {
      status: "async_launched";
      isAsync?: true;
      agentId: string;
      description: string;
      prompt: string;
      outputFile: string;
      canReadOutputFile?: boolean;
    })
  | {
      status: "remote_launched";
      taskId: string;
      sessionUrl: string;
      description: string;
      prompt: string;
      outputFile: string;
    };

export type BashOutput = {
  stdout: string;
  stderr: string;
  interrupted: boolean;
  isImage?: boolean;
  backgroundTaskId?: string;
  backgroundedByUser?: boolean;
  timedOutAfterMs?: number;
  dangerouslyDisableSandbox?: boolean;
  returnCodeInterpretation?: string;
  noOutputExpected?: boolean;
  structuredContent?: unknown[];
  rawOutputPath?: string;
  persistedOutputPath?: string;
  persistedOutputSize?: number;
};

type Patch = { oldStart: number; oldLines: number; newStart: number; newLines: number; lines: string[] };
type GitDiff = {
  filename: string;
  status: "added" | "modified";
  additions: number;
  deletions: number;
  changes: number;
  patch: string;
  repository?: string | null;
};
type ChangedFile = {
  filePath: string;
  originalFile: string | null;
  structuredPatch: Patch[];
  gitDiff?: GitDiff;
};
export type FileEditOutput = ChangedFile & {
  oldString: string;
  newString: string;
  userModified: boolean;
  replaceAll: boolean;
  staged?: boolean;
};
export type FileWriteOutput = ChangedFile & {
  type: "create" | "update";
  content: string;
  userModified?: boolean;
  staged?: boolean;
};
type Size = { [name in "displayHeight" | "displayWidth" | "originalHeight" | "originalWidth"]?: number };
export type FileReadOutput =
  | {
      type: "text";
      file: {
        filePath: string;
        content: string;
        numLines: number;
        startLine: number;
        totalLines: number;
        truncatedByTokenCap?: boolean;
      };
    }
  | {
      type: "image";
      file: { base64: string; type: SDKImageType; originalSize: number; dimensions?: Size };
    }
  | { type: "notebook"; file: { filePath: string; cells: unknown[] } }
  | { type: "pdf"; file: { filePath: string; base64: string; originalSize: number } }
  | {
      type: "parts";
      file: { filePath: string; originalSize: number; count: number; outputDir: string };
      firstPage?: number;
      pages?: { base64: string; mediaType: SDKImageType; error?: string }[];
    };

export type GlobOutput = {
  durationMs: number;
  numFiles: number;
  filenames: string[];
  truncated: boolean;
  totalMatches?: number;
  countIsComplete?: boolean;
  timedOut?: boolean;
};
export type GrepOutput = {
  mode?: GrepMode;
  numFiles: number;
  filenames: string[];
  content?: string;
  timedOut?: boolean;
} & {
  [name in
    | "appliedLimit"
    | "appliedOffset"
    | "numLines"
    | "numMatches"
    | "totalFiles"
    | "totalLines"]?: number;
};
export type NotebookEditOutput = {
  notebook_path: string;
  new_source: string;
  old_source?: string;
  cell_id?: string;
  cell_type: "code" | "markdown";
  language: string;
  edit_mode: string;
  error?: string;
  original_file: string;
  updated_file: string;
};
export type TaskStopOutput = { message: string; task_id: string; task_type: string; command?: string };
export type TodoWriteOutput = { oldTodos: Todo[]; newTodos: Todo[] };
export type TaskCreateOutput = { task: { id: string; subject: string; description?: string } };
export type TaskGetOutput = {
  task: {
    id: string;
    subject: string;
    description: string;
    status: ListState;
    blocks: string[];
    blockedBy: string[];
  } | null;
};
export type TaskUpdateOutput = {
  success: boolean;
  taskId: string;
  updatedFields: string[];
  error?: string;
  statusChange?: { from: string; to: string };
};
export type TaskListOutput = {
  tasks: { id: string; subject: string; status: ListState; owner?: string; blockedBy: string[] }[];
};
export type WebFetchOutput = {
  bytes: number;
  code: number;
  codeText: string;
  result: string;
  durationMs: number;
  url: string;
};
export type WebSearchOutput = {
  query: string;
  results: (string | { tool_use_id: string; content: { title: string; url: string; snippet?: string }[] })[];
  durationSeconds: number;
  searchCount?: number;
};
export type AskUserQuestionOutput = {
  questions: Question[];
  answers: { [question: string]: string };
  response?: string;
  annotations?: Annotations;
  afkTimeoutMs?: number;
};
export type ExitPlanModeOutput = {
  plan: string | null;
  isAgent: boolean;
  filePath?: string;
  hasTaskTool?: boolean;
  planWasEdited?: boolean;
  awaitingLeaderApproval?: boolean;
  requestId?: string;
};
export type EnterPlanModeOutput = { message: string };
export type EnterWorktreeOutput = { worktreePath: string; worktreeBranch?: string; message: string };
export type ExitWorktreeOutput = EnterWorktreeOutput & {
  action: "keep" | "remove";
  originalCwd: string;
  tmuxSessionName?: string;
  discardedFiles?: number;
  discardedCommits?: number;
};
type Resource = { uri: string; mimeType?: string };
export type ListMcpResourcesOutput = (Resource & { name: string; description?: string; server: string })[];
export type ReadMcpResourceOutput = {
  contents: (Resource & { text?: string; blobSavedTo?: string })[];
  error?: string;
};
export type ReadMcpResourceDirOutput = { resources: (Resource & { name: string })[]; error?: string };
export type McpOutput = string | ({ type: string } & Open)[] | Open;
