// Parts of messages and answers that have a name of their own: compiled and never run.
import type * as keel from "keel";

export type Parts = [
  keel.RegisteredTool,
  keel.SDKCitation,
  keel.SDKSentTextBlock,
  keel.SDKImageType,
  keel.SDKSentBlock,
  keel.SDKSentProviderBlock<keel.SDKDocumentBlock>,
  keel.SDKRefusalDetails,
  keel.SDKReplyFacts,
  keel.SDKCacheCreation,
  keel.SDKUsageIteration,
  keel.SDKFallbackCredit,
  keel.SDKContextKind,
  keel.SessionCost,
  keel.AnyHookInput,
  keel.AnyHookSpecificOutput,
  keel.UncalledHookInput,
  keel.UncalledHookSpecificOutput,
  keel.OfferedModel,
];
