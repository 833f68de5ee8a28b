/** The public entry `keel/testing`: what Keel's own tests use, for the tests of its users. */
export { type AcpVerdict, checkAcp, checkAcpV2, runAcpKit, runAcpKitV2 } from "./acp/kit.ts";
export { type AcpRequirementId, type AcpTier, acpRequirements } from "./acp/requirements.ts";
export { type AcpRequirementIdV2, acpRequirementsV2 } from "./acp/requirements-v2.ts";
export type { AcpKitOptions } from "./acp/stage.ts";
export type { Asked, ScriptFunction } from "./answers.ts";
export { openRecorder, type RecordedExchange, type RecorderOptions } from "./cassette-record.ts";
export {
  type MatchRules,
  openReplay,
  openReplayModel,
  type Replay,
  type ReplayModelOptions,
  type ReplayOptions,
} from "./cassette-replay.ts";
export {
  type CassetteServer,
  type RecordingProxyOptions,
  startRecordingProxy,
  startReplayServer,
} from "./cassette-server.ts";
export { type ChannelUnderTest, channelSuite } from "./channel-suite.ts";
export { type ChunksInMemory, chunksInMemory } from "./chunks-in-memory.ts";
export { countingIds } from "./counting-ids.ts";
export { type CrashPoint, crashAfter, crashPoint } from "./crash.ts";
export { embedderSuite } from "./embedder-suite.ts";
export { type FakeClock, fakeClock, instantClock, testEpochMs } from "./fake-clock.ts";
export { type FakeDiagnostics, fakeDiagnostics } from "./fake-diagnostics.ts";
export { type FaultName, faultNames, faultReply } from "./fault-replies.ts";
export type { KitCase } from "./kit-case.ts";
export { layout } from "./layout.ts";
export { memoryConversations } from "./memory-conversations.ts";
export type { MemoryFiles } from "./memory-files.ts";
export { type MemoryWorkspace, type MemoryWorkspaceOptions, memoryWorkspace } from "./memory-workspace.ts";
export {
  type Meter,
  type ModelServer,
  type ModelServerOptions,
  type SeenRequest,
  startModelServer,
} from "./model-server.ts";
export { type ModelSuiteOptions, type ModelUnderTest, modelSuite } from "./model-suite.ts";
export { countTokens, type PromptCache, promptCache } from "./prompt-cache.ts";
export { rehearsalFiles, rehearsalModel, rehearsalPrompt, rehearsalScript } from "./rehearsal.ts";
export {
  type DecisionReplay,
  type ReplayedDecision,
  type ReplayRules,
  replayDecisions,
} from "./replay-decisions.ts";
export { replaySession, type SessionReplay, type SessionReplayOptions } from "./replay-session.ts";
export { byPosition, httpError, rawToolUse, reply, replyWith, thinking, toolUse } from "./reply.ts";
export {
  type Followed,
  type LawBreak,
  type LawMessage,
  lawChannel,
  type RequestLaw,
  type RequestLawOptions,
  requestLaw,
} from "./request-law.ts";
export { findViolations } from "./request-rules.ts";
export type { Condition, Reply, ReplyFault, Rule, Script, ScriptBlock } from "./script.ts";
export { fillPlaceholders, parseScript } from "./script-file.ts";
export {
  type ScriptedModel,
  type ScriptedModelOptions,
  scriptedModel,
  testModelInfo,
} from "./scripted-model.ts";
export type { ShellReply, ShellScript } from "./scripted-shell.ts";
export { type StoreCase, storeSuite } from "./store-suite.ts";
export type { StoreUnderTest } from "./store-suite-events.ts";
export { type WireUnderTest, wireSuite } from "./wire-suite.ts";
export { anthropicWire } from "./wires/anthropic.ts";
export { openaiWire } from "./wires/openai.ts";
export type { Incoming, Want, Wire, WireError } from "./wires/wire.ts";
