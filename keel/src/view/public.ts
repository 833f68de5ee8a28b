/**
 * The public entry `keel/view`: events → what every screen needs. It runs in a browser too.
 *
 * A screen keeps a transcript and folds each envelope into it. It draws `rowsOf(transcript)`, and below the row of an
 * agent `rowsOf(transcript, row.id)`; `changedKeys(before, after)` names the rows to draw anew. Transcripts that it keeps
 * stay as they were. An open ask is shown by its `askForm`, and what was picked becomes an answer by `choiceAnswer`,
 * `questionsAnswer` or, after `fillFields`, `formAnswer`.
 */

export { plainTerminal, readable, visible } from "../kernel/text.ts";
export { type Activity, activityOf, type Doing, foldActivity, idle } from "./activity.ts";
export {
  askOrigin,
  askTitle,
  askWords,
  keepings,
  offeredOptions,
  optionLabel,
  type RuleFile,
  ruleWords,
  sayExplanation,
} from "./ask-words.ts";
export {
  type BreakCause,
  type CacheBreak,
  type CacheHealth,
  type CacheTokens,
  cacheHealthOf,
  foldCacheHealth,
  noCacheHealth,
  readRatio,
} from "./cache-health.ts";
export { type CallLine, callLine } from "./call-line.ts";
export {
  type AskChoice,
  type AskForm,
  answerIn,
  askForm,
  type Chosen,
  choiceAnswer,
  choicesOf,
  choose,
  questionsAnswer,
} from "./choices.ts";
export { contextBar, sayContext } from "./context-bar.ts";
export { askedText, type DisplayText, displayText } from "./display-text.ts";
export { documentOf, type SessionDocument } from "./document.ts";
export {
  type ChangedFile,
  type FileChanges,
  type FileCheckpoint,
  fileChangesOf,
  foldFileChanges,
  noFileChanges,
} from "./file-changes.ts";
export {
  type Field,
  type FieldChoice,
  type FieldKind,
  type FieldValue,
  type Filled,
  fieldsOf,
  fillFields,
  formAnswer,
  sayKind,
  sayValue,
  takeValue,
  valueIn,
} from "./forms.ts";
export { toHtml } from "./html.ts";
export { inertMarkdown } from "./inert-markdown.ts";
export { toMarkdown } from "./markdown.ts";
export { type QrModules, qrCode } from "./qr-code.ts";
export type * from "./rows.ts";
export { isoTime, sayCount, sayDuration, sayReason, sayUsd } from "./say.ts";
export { isGrave, sayCommand, sayWord } from "./say-command.ts";
export { sayNext, sayRun, sayUntil, sayWhen } from "./say-schedule.ts";
export { memberStates, messagesOf, sayDoing, sayMember, sayWait, sayWhom } from "./say-team.ts";
export { isShownAddition, isShownBlock } from "./shown.ts";
export {
  foldStanding,
  type GoalTry,
  noStanding,
  type SessionStanding,
  standingOf,
  type TeamStanding,
} from "./standing.ts";
export {
  foldTimeline,
  noTimeline,
  type SpanKind,
  type Timeline,
  type TimelineSpan,
  timelineOf,
} from "./timeline.ts";
export {
  foldTotals,
  type ModelTotals,
  noTotals,
  sayCost,
  type ToolTotals,
  type Totals,
  totalsOf,
} from "./totals.ts";
export {
  changedKeys,
  foldTranscript,
  type KeyedTranscript,
  noTranscript,
  rowOf,
  rowsOf,
  transcriptOf,
} from "./transcript.ts";
export { foldUsage, noUsageReport, sayUsage, type UsageReport } from "./usage-report.ts";
export { withoutRow } from "./without-row.ts";
export { originOf } from "./work-rows.ts";
export {
  activityOfWorkspace,
  foldWorkspaces,
  noWorkspaces,
  openAsksOf,
  type Workspaces,
  workspacesByFolder,
} from "./workspaces.ts";
