/** What messages and methods may report beside a conversation: the window, the bill, limits, why a start failed. */
import type { UUID } from "../../kernel/uuid.ts";

/** A goal that a service of the vendor keeps; never sent. */
export type SDKActiveGoalMessage = {
  type: "active_goal";
  value: {
    condition: string;
    iterations: number;
    set_at: number;
    tokens_at_start: number;
    last_reason?: string;
  } | null;
  uuid: UUID;
  session_id: string;
};

export type SDKContextKind = "buffer" | "deferred" | "free" | "used";
export type SDKContextUsageCategory = { name: string; tokens: number; kind: SDKContextKind };
export type SDKContextUsage = {
  model: string;
  total_tokens: number;
  raw_max_tokens: number;
  percentage: number;
  over_limit?: { tokens_over: number; kind: "compaction_window" | "hard_limit" };
  categories: SDKContextUsageCategory[];
  mcp_tools: { name: string; server_name: string; tokens: number }[];
  memory_files: { path: string; type: string; tokens: number }[];
  agents: { agent_type: string; source: string; tokens: number }[];
  skills?: { name: string; source: string; plugin_name?: string; tokens: number }[];
};

export type ModelUsage = {
  inputTokens: number;
  outputTokens: number;
  thinkingTokens?: number;
  cacheReadInputTokens: number;
  cacheCreationInputTokens: number;
  cacheCreationEphemeral5mInputTokens?: number;
  cacheCreationEphemeral1hInputTokens?: number;
  webSearchRequests: number;
  costUSD: number;
  /** 0 when nobody told us. */
  contextWindow: number;
  /** 0 when nobody told us. */
  maxOutputTokens: number;
  canonicalModel?: string;
  provider?: string;
  /** `unknown`: some of these tokens have no known price, and `costUSD` leaves them out. */
  costBasis?: "list" | "managed" | "unknown";
};

/** What a session cost so far. */
export type SessionCost = {
  total_cost_usd: number;
  total_api_duration_ms: number;
  total_duration_ms: number;
  total_lines_added: number;
  total_lines_removed: number;
  model_usage: Record<string, ModelUsage>;
};

type ExtraUsage = {
  is_enabled: boolean;
  monthly_limit: number | null;
  used_credits: number | null;
  utilization: number | null;
  currency?: string | null;
};
type Named = { display_name: string } | null;

export type SDKUsageReport = {
  session: SessionCost;
  rate_limits: {
    limits:
      | {
          kind: string;
          group: string;
          percent: number;
          resets_at: string | null;
          scope?: { model?: Named; surface?: Named } | null;
          severity: string;
          is_active: boolean;
        }[]
      | null;
    extra_usage?: ExtraUsage | null;
  } | null;
};

type LimitWindow = { utilization: number | null; resets_at: string | null };
type Share = { name: string; pct: number };
type Habits = {
  request_count: number;
  session_count: number;
  behaviors: {
    key:
      | "always_on_context"
      | "cache_miss"
      | "cron"
      | "high_parallel"
      | "large_tool_results"
      | "long_context"
      | "max_effort"
      | "subagent_heavy"
      | "workflow";
    pct: number;
    count: number;
  }[];
  recommendations?: { key: string; pct: number; title: string; detail?: string }[];
  fix?: { keys: string[]; messages: string[] };
} & { [name in "agents" | "mcp_servers" | "plugins" | "skills"]: Share[] };

/** The bill, and what a subscription would say: Keel has none. */
export type SDKControlGetUsageResponse = {
  session: SessionCost;
  subscription_type: string | null;
  rate_limits_available: boolean;
  rate_limits:
    | ({
        [name in
          | "five_hour"
          | "seven_day"
          | "seven_day_oauth_apps"
          | "seven_day_opus"
          | "seven_day_sonnet"]?: LimitWindow | null;
      } & {
        model_scoped?: (LimitWindow & { display_name: string })[];
        extra_usage?: ExtraUsage | null;
      })
    | null;
  behaviors: { day: Habits; week: Habits } | null;
};

type LimitState = "allowed" | "allowed_warning" | "rejected";

/** What a provider says about its limits. */
export type SDKRateLimitInfo = {
  status: LimitState;
  resetsAt?: number;
  rateLimitType?:
    | "five_hour"
    | "overage"
    | "seven_day"
    | "seven_day_opus"
    | "seven_day_overage_included"
    | "seven_day_sonnet";
  utilization?: number;
  overageStatus?: LimitState;
  overageResetsAt?: number;
  overageDisabledReason?:
    | "fetch_error"
    | "group_zero_credit_limit"
    | "member_level_disabled"
    | "member_zero_credit_limit"
    | "no_limits_configured"
    | "org_level_disabled"
    | "org_level_disabled_until"
    | "org_service_level_disabled"
    | "out_of_credits"
    | "overage_not_provisioned"
    | "seat_tier_level_disabled"
    | "seat_tier_zero_credit_limit"
    | "unknown";
  isUsingOverage?: boolean;
  overageInUse?: boolean;
  overageEnabled?: boolean;
  surpassedThreshold?: number;
  limitScope?: "channel" | "group_pool" | "service";
  errorCode?: "credits_required";
  canUserPurchaseCredits?: boolean;
  hasChargeableSavedPaymentMethod?: boolean;
};

/** Why a session could not start. */
export type SDKStartupFailureReason =
  | "bypass_root"
  | "cli_version_too_old"
  | "config_file_invalid"
  | "cwd_unavailable"
  | "gateway_access_denied"
  | "gateway_signin_required"
  | "initialize_not_first"
  | "managed_settings_invalid"
  | "managed_settings_not_delivered"
  | "org_config_refused"
  | "org_config_required_unavailable"
  | "org_pin_api_key_conflict"
  | "org_pin_mismatch"
  | "org_verify_failed"
  | "provider_not_allowed"
  | "proxy_invalid"
  | "remote_settings_required_unavailable"
  | "sandbox_required_unavailable"
  | "session_held_by_background"
  | "shell_tool_missing"
  | "temp_dir_unusable"
  | "worktree_resume_refused"
  | "worktree_unverified";
