/**
 * The names that settings have in the interface, by the form of their value, so that a program which writes or reads
 * them compiles. Which of them Keel heeds stands in the reference of settings; it has names of its own beside them.
 */
import type { PermissionMode } from "../../protocol/settings.ts";
import type { SandboxSettings } from "./sandbox.ts";
import type { NumberName, SwitchName, TextName, TextsName } from "./setting-names.ts";

type Each<Name extends string, Value> = { [name in Name]?: Value };
type OpenSettings = { [name: string]: unknown };
type Limit = "5m" | "10m" | "60s" | "never";

export type Settings = Each<SwitchName, boolean> &
  Each<TextName, string> &
  Each<NumberName, number> &
  Each<TextsName, string[]> &
  Each<"promptCacheTtl" | "subagentPromptCacheTtl", "1h" | "5m"> &
  Each<"parentSettingsBehavior" | "managedSourcesBehavior", "first-wins" | "merge"> &
  Each<"disableAutoMode" | "disableDeepLinkRegistration", "disable"> &
  Each<"askUserQuestionTimeout" | "dialogExpiry", Limit> &
  Each<"allowedMcpServers" | "deniedMcpServers", ServerMatch[]> &
  Each<"strictKnownMarketplaces" | "allowedMarketplaces" | "blockedMarketplaces", MarketplaceSource[]> &
  Each<"extraKnownMarketplaces" | "additionalMarketplaces", Record<string, Marketplace>> &
  ChosenSettings &
  GroupedSettings &
  OpenSettings;

/** One of a few words. */
type ChosenSettings = {
  allowedProviders?: (
    | "anthropic"
    | "anthropicAws"
    | "bedrock"
    | "customEndpoint"
    | "foundry"
    | "gateway"
    | "mantle"
    | "vertex"
  )[];
  autoUpdatesChannel?: "latest" | "rc" | "stable";
  availableModelsMatch?: "exact" | "prefix";
  crossSessionInbound?: "accept" | "hold" | "refuse";
  daemonColdStart?: "ask" | "transient";
  defaultShell?: "bash" | "powershell";
  defaultView?: "chat" | "transcript";
  editorMode?: "normal" | "vim";
  effortLevel?: "high" | "low" | "medium" | "xhigh";
  feedbackDrafts?: "notify" | "off" | "quiet";
  forceLoginMethod?: "claudeai" | "console" | "gateway";
  forceLoginOrgUUID?: string | string[];
  keybindingFlavor?: "classic" | "readline";
  maxEffortLevel?: "high" | "low" | "max" | "medium" | "xhigh";
  preferredNotifChannel?:
    | "auto"
    | "ghostty"
    | "iterm2"
    | "iterm2_with_bell"
    | "kitty"
    | "notifications_disabled"
    | "terminal_bell";
  strictPluginOnlyCustomization?: boolean | ("agents" | "hooks" | "mcp" | "skills")[];
  teammateMode?: "auto" | "in-process" | "iterm2" | "tmux";
  theme?: string;
  timeFormat?: string;
  tui?: "default" | "fullscreen";
  viewMode?: "default" | "focus" | "verbose";
  workflowSizeGuideline?: "large" | "medium" | "small" | "unrestricted";
};

/** Several values under one name. */
type GroupedSettings = {
  permissions?: PermissionSettings & OpenSettings;
  env?: Record<string, string>;
  hooks?: Record<string, { matcher?: string; hooks: WrittenHook[] }[]>;
  sandbox?: SandboxSettings & OpenSettings;
  attribution?: boolean | ({ commit?: string; pr?: string; sessionUrl?: boolean } & OpenSettings);
  statusLine?: ShellLine & { padding?: number; refreshInterval?: number; hideVimModeIndicator?: boolean };
  subagentStatusLine?: ShellLine;
  fileSuggestion?: ShellLine;
  worktree?: {
    symlinkDirectories?: string[];
    sparsePaths?: string[];
    baseRef?: "fresh" | "head";
    bgIsolation?: "none" | "worktree";
    location?: string;
  };
  allowedChannelPlugins?: { marketplace: string; plugin: string }[];
  attributionProjectPolicy?: { default?: string };
  autoMode?: Each<"allow" | "environment" | "hard_deny" | "soft_deny", string[]> & {
    classifyAllShell?: boolean;
  };
  enabledPlugins?: Record<string, string[] | boolean | OpenSettings>;
  footerLinksRegexes?: (
    | ({ type: "regex"; pattern: string; url: string; label?: string } & OpenSettings)
    | ({ type: string } & OpenSettings)
  )[];
  managedMcpServers?: Record<string, OpenSettings>;
  modelOverrides?: Record<string, string>;
  modelPicker?: {
    options: { model: string; label?: string; description?: string; behavesAs?: string }[];
    replaceBuiltInOptions?: boolean;
  };
  modelPricing?: {
    multiplier?: number;
    overrides?: Record<string, Record<"cacheRead" | "cacheWrite" | "input" | "output", number>>;
  };
  modelSettings?: Record<
    string,
    Pick<ChosenSettings, "effortLevel" | "maxEffortLevel"> & {
      autoCompactWindow?: number | "auto";
    } & OpenSettings
  >;
  pluginConfigs?: Record<
    string,
    { mcpServers?: Record<string, PluginValues>; options?: PluginValues } | OpenSettings
  >;
  policyHelper?: { path: string; timeoutMs?: number; refreshIntervalMs?: number };
  remote?: { defaultEnvironmentId?: string };
  skillOverrides?: Record<string, "name-only" | "off" | "on" | "user-invocable-only">;
  spellcheck?: Each<"checker" | "color" | "language", string> & { enabled?: boolean } & OpenSettings;
  spinnerTipsOverride?: Each<"label" | "tipsFile", string> & {
    excludeDefault?: boolean;
    tips?: (string | OpenSettings)[];
  } & OpenSettings;
  spinnerVerbs?: { mode: "append" | "replace"; verbs: string[] };
  sshConfigs?: ({ id: string; name: string; sshHost: string; sshPort?: number } & Each<
    "sshIdentityFile" | "startDirectory",
    string
  >)[];
  sshHostCommands?: unknown[];
  vimInsertModeRemaps?: OpenSettings;
  voice?: { enabled?: boolean; mode?: "hold" | "tap"; autoSubmit?: boolean };
};

type ShellLine = { type: "command"; command: string };
type ServerMatch = { serverName?: string; serverCommand?: [string, ...string[]]; serverUrl?: string };
type PluginValues = Record<string, boolean | number | string | string[]>;

type PermissionSettings = Each<
  "additionalDirectories" | "allow" | "ask" | "blockReadsExemptPaths" | "deny" | "workingDirectoriesAsGiven",
  string[]
> &
  Each<
    "blockReadsOutsideWorkingDirectories" | "blockWritesOutsideWorkingDirectories" | "denyInsteadOfPrompting",
    boolean
  > &
  Each<"disableAutoMode" | "disableBypassPermissionsMode", "disable"> & { defaultMode?: PermissionMode };

/** A hook as files have it. */
type WrittenHook = { if?: string; timeout?: number; statusMessage?: string; once?: boolean } & (
  | {
      type: "command";
      command: string;
      args?: string[];
      shell?: "bash" | "powershell";
      onFailure?: "block" | "continue";
      async?: boolean;
      asyncRewake?: boolean;
    }
  | { type: "prompt"; prompt: string; model?: string; continueOnBlock?: boolean }
  | { type: "agent"; prompt: string; model?: string }
  | {
      type: "http";
      url: string;
      headers?: Record<string, string>;
      allowedEnvVars?: string[];
      onFailure?: "block" | "continue";
    }
  | { type: "mcp_tool"; server: string; tool: string; input?: OpenSettings }
);

type Marketplace = {
  source: MarketplaceSource;
  installLocation?: string;
  autoUpdate?: boolean;
  pluginDigests?: Record<string, string[]>;
};
type Headers = { headers?: Record<string, string>; headersHelper?: string };
type Checkout = { ref?: string; path?: string; sparsePaths?: string[]; skipLfs?: boolean };
type NpmSource = { source: "npm"; package: string; version?: string; registry?: string };
type PinnedCommit = { ref?: string; sha?: string };

type MarketplaceSource =
  | ({ source: "url"; url: string } & Headers)
  | ({ source: "github"; repo: string } & Checkout)
  | ({ source: "git"; url: string } & Checkout)
  | NpmSource
  | { source: "file"; path: string }
  | { source: "directory"; path: string }
  | { source: "skills-dir" }
  | { source: "hostPattern"; hostPattern: string }
  | { source: "pathPattern"; pathPattern: string }
  | {
      source: "settings";
      name: string;
      plugins: MarketplacePlugin[];
      owner?: { name: string; email?: string; url?: string };
    };

type MarketplacePlugin = Headers & {
  name: string;
  source: ListedPluginSource;
  description?: string;
  version?: string;
  strict?: boolean;
  engines?: OpenSettings;
};
type ListedPluginSource =
  | string
  | NpmSource
  | ({ source: "url"; url: string } & PinnedCommit)
  | ({ source: "github"; repo: string } & PinnedCommit)
  | ({ source: "git-subdir"; url: string; path: string } & PinnedCommit)
  | { source: "archive"; url: string; sha256?: string }
  | { source: "command"; command: string; timeout?: number; mode?: "copy" | "link" }
  | { source: "unsupported"; error?: string };
