/** The one table of faults: what the person reads, what they can do, and how the command exits. */
import { databaseFaults, farFaults, machineFaults, packageFaults, providerFaults } from "./outside-faults.ts";

type FaultRow = {
  readonly says: string;
  readonly hint: string;
  readonly exit: number;
  /** What else a program may be told, that no sentence names. */
  readonly beside?: readonly string[];
};

export const exitCodes = {
  ended: 0,
  turnFailed: 1,
  usage: 64,
  damagedData: 65,
  noSession: 66,
  unreachable: 69,
  internal: 70,
  logUnwritable: 73,
  outputClosed: 74,
  sessionBusy: 75,
  keyRefused: 77,
  setUp: 78,
  interrupted: 130,
  terminated: 143,
} as const;

const mcpHint = "`keel mcp status` shows every server; what it wrote on stderr is in the logs folder.";
const laterHint =
  "Send the message again; where it happens again and again, another model (--model) may answer.";

export const faults = {
  // Set-up and use
  usage: {
    says: "{reason}",
    hint: "Run `keel --help` for the commands and their options.",
    exit: exitCodes.usage,
  },
  runtime_too_old: {
    says: "Keel needs Node {needed} or newer, but found {found}.",
    hint: "Install Node 24, or set KEEL_NODE to one.",
    exit: exitCodes.setUp,
  },
  no_model: {
    says: "No model is set up: {reason}",
    hint: "Set ANTHROPIC_API_KEY (or OPENAI_API_KEY), point ANTHROPIC_BASE_URL or OPENAI_BASE_URL at a local model server, or try `keel rehearse`, which needs neither.",
    exit: exitCodes.setUp,
  },
  ...packageFaults(exitCodes),
  ...databaseFaults(exitCodes),
  settings_invalid: {
    says: "The settings in {path} are not valid: {reason}",
    hint: "Mend the named value; all other settings stay in force.",
    exit: exitCodes.setUp,
  },
  settings_unwritable: {
    says: "{path} cannot be saved: {reason}",
    hint: "Nothing was changed; make the file readable and writable, then try again.",
    exit: exitCodes.setUp,
  },
  project_untrusted: {
    says: "{reason}",
    hint: "`keel trust` shows what the project would be allowed to do, and asks.",
    exit: exitCodes.setUp,
  },
  mode_refused: {
    says: "The permission mode {mode} cannot be set: {reason}",
    hint: "Only whoever starts Keel can allow it: --allow-dangerously-skip-permissions, and see the guide's page about permissions.",
    exit: exitCodes.usage,
  },
  // Sessions and the log
  session_unknown: {
    says: "No conversation found with session ID: {session}",
    hint: "`keel sessions list` shows the sessions of this folder.",
    exit: exitCodes.noSession,
  },
  session_busy: {
    says: "Session {session} is open in another process.",
    hint: "Close it there, use --fork to go on in a copy, or `keel attach {session}` where a server has it.",
    exit: exitCodes.sessionBusy,
    beside: ["pid"],
  },
  session_served: {
    says: "The server of this home has session {session}.",
    hint: "`keel attach {session}` joins it, `keel/client` from a program; --fork goes on in a copy.",
    exit: exitCodes.sessionBusy,
    beside: ["pid"],
  },
  session_exists: {
    says: "There is a session {session} already.",
    hint: "`--resume {session}` goes on with it; a new session needs another id.",
    exit: exitCodes.usage,
  },
  ...farFaults(exitCodes),
  outcome_unknown: {
    says: "It is not known whether {what} was done: the server started anew in between.",
    hint: "Look at the session, and send it again if it was not.",
    exit: exitCodes.unreachable,
  },
  server_runs: {
    says: "A server of this home runs already (process {pid}): {where}",
    hint: "Attach to it, or end it with `keel serve --stop`.",
    exit: exitCodes.sessionBusy,
  },
  workspace_unknown: {
    says: "No such workspace: {workspace}",
    hint: "It may have been removed: the overview of `keel console` shows those that there are.",
    exit: exitCodes.noSession,
  },
  worker_unknown: {
    says: "No such worker: {worker}",
    hint: "It may have been removed: the overview of `keel console` shows those that there are.",
    exit: exitCodes.noSession,
  },
  /** What was asked cannot be done with this workspace, worker or diff as it is now. */
  work_refused: {
    says: "{reason}",
    hint: "Look at it as it is now, then do it again if it is still wanted.",
    exit: exitCodes.turnFailed,
  },
  /** Of an agent of other people, which a workspace has as a worker. */
  agent_failed: {
    says: "The agent failed: {reason}",
    hint: "Start the worker anew; what was said is kept.",
    exit: exitCodes.turnFailed,
  },
  session_closed: {
    says: "The session is closed.",
    hint: "`--resume` with its id goes on with it, `keel sessions list` shows the ids.",
    exit: exitCodes.turnFailed,
  },
  /** Thrown by the iterator of a query, behind the result; programs of the interface look for its first words. */
  result_failed: {
    says: "Claude Code returned an error result: {text}",
    hint: "The result before it says how the turn ended.",
    exit: exitCodes.turnFailed,
  },
  session_invalid_id: {
    says: "{session} is not a session id.",
    hint: "A session id is a UUID; `keel sessions list` shows those of this folder.",
    exit: exitCodes.usage,
  },
  log_unwritable: {
    says: "The session's log cannot be written: {reason}",
    hint: "Free some space or make {path} writable; nothing that was accepted is lost.",
    exit: exitCodes.logUnwritable,
  },
  log_damaged: {
    says: "The log {path} is damaged: {reason}",
    hint: "The readable part is kept, and the original bytes stand beside it.",
    exit: exitCodes.damagedData,
  },
  not_imported: {
    says: "{path} was not imported: {reason}",
    hint: "Nothing was written, and the file is as it was. What `keel sessions export` wrote can be imported, and transcripts of the official interface.",
    exit: exitCodes.damagedData,
  },
  log_unreadable: {
    says: "The session's log {path} cannot be read: {reason}",
    hint: "It must be a plain file that you may read; nothing was changed.",
    exit: exitCodes.damagedData,
  },
  log_too_new: {
    says: "The log {path} was written by a newer Keel (format {found}, this one reads up to {known}).",
    hint: "Update Keel; the log was not touched.",
    exit: exitCodes.damagedData,
  },
  ...machineFaults(exitCodes),
  // Servers of tools
  mcp_failed: {
    says: "The MCP server {server} failed: {reason}",
    hint: mcpHint,
    exit: exitCodes.unreachable,
  },
  mcp_unanswered: { says: "{reason}", hint: mcpHint, exit: exitCodes.unreachable },
  mcp_refused: {
    says: "An MCP server named {server}, which may not be asked: {reason}.",
    hint: "Take it out of your MCP servers unless you know why it names this address: a server on the internet must not lead into a private network.",
    exit: exitCodes.usage,
  },
  tool_program_failed: {
    says: "{reason}",
    hint: "Mend the file of the tool or the plugin, or take it away: out of its folder, or with `keel plugin remove`.",
    exit: exitCodes.turnFailed,
  },
  hook_failed: {
    says: "{reason}",
    hint: "Mend the hook, or take it out of the settings.",
    exit: exitCodes.turnFailed,
  },
  embedder_failed: {
    says: "The embedder {embedder} cannot be used: {reason}.",
    hint: "`memory.embedder` of your settings names it; words are looked for without it.",
    exit: exitCodes.setUp,
  },
  // The model
  key_missing: {
    says: "No key for {provider}.",
    hint: "Set its key in your environment, or give it to `keel auth set`.",
    exit: exitCodes.setUp,
  },
  ...providerFaults(exitCodes),
  budget_used_up: {
    says: "The budget is used up.",
    hint: "`--resume` goes on with the session; --max-budget-usd gives it more.",
    exit: exitCodes.turnFailed,
  },
  unreachable: {
    says: "The provider cannot be reached: {reason}",
    hint: "Check the network and the base URL.",
    exit: exitCodes.unreachable,
    beside: ["host"],
  },
  // Apart from `unreachable`, because another try meets the same certificate.
  certificate_refused: {
    says: "The provider's certificate is not trusted: {reason}",
    hint: "Check the base URL; where a company's proxy signs, name its certificate in NODE_EXTRA_CA_CERTS.",
    exit: exitCodes.unreachable,
    beside: ["host"],
  },
  stream_stalled: {
    says: "The reply stalled: nothing came for {seconds} seconds.",
    hint: laterHint,
    exit: exitCodes.unreachable,
  },
  stream_cut: {
    says: "The reply broke off before its end.",
    hint: laterHint,
    exit: exitCodes.unreachable,
    beside: ["requestId"],
  },
  stream_malformed: {
    says: "The provider sent something that is not a reply: {reason}",
    hint: "Check that the base URL speaks this wire.",
    exit: exitCodes.turnFailed,
  },
  request_lost: {
    says: "The process ended during a model request; its cost is unknown.",
    hint: "Send a message to go on: the session is whole, and the bill shows at least what is known.",
    exit: exitCodes.turnFailed,
  },
  not_recorded: {
    says: "The cassette {file} has no answer. {reason}",
    hint: "Let the test ask what was recorded, or record it anew.",
    exit: exitCodes.turnFailed,
  },
  aborted: { says: "Interrupted.", hint: "Send another message to go on.", exit: exitCodes.interrupted },
  tool_late: {
    says: "{tool} did not find out within {seconds} s what this call is about.",
    hint: "A file or a drive may not answer; nothing was run.",
    exit: exitCodes.turnFailed,
  },
  // Files
  checkpoints_off: {
    says: "File rewinding is not enabled: this session keeps no checkpoints.",
    hint: "Start it with checkpoints: `checkpoints.enabled` in the settings, `enableFileCheckpointing` in a program.",
    exit: exitCodes.usage,
  },
  checkpoint_unknown: {
    says: "No file checkpoint found for this message: {checkpoint}.",
    hint: "A checkpoint is the id of a message of yours; only turns that changed files have one. `keel sessions rewind` lists them.",
    exit: exitCodes.usage,
  },
  // Wires
  line_too_long: {
    says: "A line is longer than {limit} bytes.",
    hint: "Send long content by file.",
    exit: exitCodes.usage,
  },
  line_invalid: {
    says: "A line is not valid: {reason}",
    hint: "One JSON object per line, UTF-8, ended by LF.",
    exit: exitCodes.usage,
    beside: ["kind"],
  },
  output_closed: {
    says: "The output was closed by its reader.",
    hint: "The session's log is whole; resume it to go on.",
    exit: exitCodes.outputClosed,
  },
  process_full: {
    says: "This process has no room for {what}: {usedMb} MB of its {maxMb} MB of heap are in use.",
    hint: "Try again when other sessions have ended or rest, or give it more with `node --max-old-space-size`.",
    exit: exitCodes.turnFailed,
  },
  queue_full: {
    says: "Too much is waiting ({limit}).",
    hint: "Wait for the work to be done, then send again.",
    exit: exitCodes.turnFailed,
  },
  // Everything else
  out_of_time: {
    says: "{what} took longer than {seconds} seconds.",
    hint: "Raise the limit if that is expected.",
    exit: exitCodes.turnFailed,
  },
  unexpected: {
    says: "Something unexpected happened: {reason}",
    hint: "`keel doctor --bundle FILE` writes down what a report needs, without secrets; it sends nothing.",
    exit: exitCodes.internal,
  },
} as const satisfies Record<string, FaultRow>;

export type FaultCode = keyof typeof faults;

/** What a provider may refuse a request with. */
export type ProviderFaultCode = keyof ReturnType<typeof providerFaults>;

export const isFaultCode = (text: string): text is FaultCode => Object.hasOwn(faults, text);
