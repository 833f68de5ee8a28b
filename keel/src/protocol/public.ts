/** The public entry `keel/protocol`: commands, events, asks and their parts, as schemas and types. */
export type { FaultData } from "../kernel/fault.ts";
export { exitCodes, type FaultCode, faults, isFaultCode } from "../kernel/faults.ts";
export type { Json, JsonObject } from "../kernel/json.ts";
export {
  type Answer,
  type AnsweredBy,
  type Ask,
  type AskOption,
  answeredBySchema,
  answerSchema,
  askOptionSchema,
  askSchema,
  type Origin,
  originSchema,
} from "./ask.ts";
export { type Boundary, boundariesOf, changedSections, type Section } from "./boundary.ts";
export { type Command, commandSchema, type Receipt, receiptSchema } from "./command.ts";
export {
  type Denial,
  type Durable,
  type DurableEvent,
  denialSchema,
  durableEventSchema,
  faultDataSchema,
  type Input,
  inputFromSchema,
  inputSchema,
  logVersion,
  protocolVersion,
  purposeSchema,
} from "./event/durable.ts";
export { type Envelope, type Event, type EventType, envelopeSchema, isDurable } from "./event/envelope.ts";
export { type Live, type LiveEvent, liveEventSchema } from "./event/live.ts";
export type {
  Extension,
  ExtensionCommand,
  ExtensionPanel,
  ExtensionPanelView,
  ExtensionPlace,
  ExtensionTool,
  PanelForm,
  ShownDisplay,
  ShownPanel,
} from "./extension.ts";
export type {
  CommandInfo,
  Inquire,
  InquiryAnswer,
  InquiryName,
  InquiryQuestion,
  SessionFacts,
} from "./inquiry.ts";
export {
  type Block,
  blockSchema,
  documentSchema,
  foreignSchema,
  type Image,
  type InputBlock,
  imageSchema,
  inputBlockSchema,
  jsonSchema,
  type Message,
  messageSchema,
  type ResultPart,
  resultPartSchema,
  type Text,
  type ToolResult,
  type ToolUse,
  text,
  textOf,
  textSchema,
  thinkingSchema,
  toolResultSchema,
  toolUseSchema,
  toolUses,
} from "./message.ts";
export type {
  Access,
  AnswerTo,
  DeviceEntry,
  OperationName,
  OperationQuestion,
  Pairing,
  SessionEntry,
} from "./operation.ts";
export { type Outcome, outcomeOf } from "./outcome.ts";
export { spelled } from "./pairing.ts";
export type { Question } from "./question.ts";
export {
  type AddedWhy,
  addedWhySchema,
  type PromptWhy,
  promptWhySchema,
  type Stop,
  stopSchema,
  type TurnReason,
  turnReasonSchema,
} from "./reasons.ts";
export { type RecordedDecision, recordedDecisions } from "./recorded-decisions.ts";
export type { Schedule, ScheduledRun, ScheduleEntry, When } from "./schedule.ts";
export {
  effortSchema,
  type PermissionMode,
  permissionModeSchema,
  type SessionSettings,
  type SettingsPatch,
  sessionSettingsSchema,
  settingsPatchSchema,
  type ThinkingMode,
  thinkingModeSchema,
} from "./settings.ts";
export { type TaskData, type TaskStatus, taskDataSchema, taskStatusSchema } from "./task.ts";
export type { TeamMemberEntry, TeamReport, TeamWait } from "./team.ts";
export {
  type Claim,
  claimSchema,
  type DiffHunk,
  type Display,
  diffHunkSchema,
  displaySchema,
  type FileSeen,
  fileSeenSchema,
  type Todo,
  type ToolSpec,
  todoSchema,
  toolSpecSchema,
} from "./tool.ts";
export {
  addUsage,
  type Bill,
  type BytesSum,
  billSchema,
  bytesSumSchema,
  type ContextBreakdown,
  type ContextKind,
  contextKinds,
  contextTokens,
  type ModelInfo,
  modelInfoSchema,
  noUsage,
  type Prediction,
  type Prices,
  predictionSchema,
  pricesSchema,
  type RequestSums,
  requestSumsSchema,
  type Usage,
  usageSchema,
} from "./usage.ts";
export {
  type ClaimFound,
  claimFoundSchema,
  type PathFound,
  type PlaceFound,
  pathFoundSchema,
  placeFoundSchema,
  type RuleSource,
  ruleSources,
  type VerdictFacts,
  verdictFactsSchema,
} from "./verdict-facts.ts";
export type {
  DiffFile,
  DiffSummary,
  EngineEntry,
  FileDiff,
  NewWorker,
  TerminalUpdate,
  WorkerActivity,
  WorkerEntry,
  WorkerKind,
  WorkspaceEntry,
  WorkspaceUpdate,
} from "./workspace.ts";
