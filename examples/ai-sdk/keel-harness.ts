// Keel as a harness of the AI SDK (`@ai-sdk/harness`, harness-v1): `new HarnessAgent({ harness: keelHarness(), … })`.
// Keel runs as a command inside of the agent's sandbox, one process for each turn; the session in its log joins the turns.
// What nobody allowed is refused there, since nobody can be asked in it.
import {
  HarnessCapabilityUnsupportedError,
  type HarnessV1,
  type HarnessV1PromptTurnOptions,
  type HarnessV1ResumeSessionState,
  type HarnessV1Session,
  type HarnessV1StartOptions,
} from "@ai-sdk/harness";
import type { SDKMessage } from "keel";

export type KeelHarnessSettings = {
  /** As the sandbox finds it. */
  readonly command?: string;
  /** Keys and addresses of models, for Keel alone. */
  readonly env?: Readonly<Record<string, string>>;
};

const harnessId = "keel";
const specificationVersion = "harness-v1";

const permissionFlags = {
  "allow-reads": ["--permission-mode", "default"],
  "allow-edits": ["--permission-mode", "acceptEdits"],
  "allow-all": ["--dangerously-skip-permissions"],
} as const;

export const keelHarness = (settings: KeelHarnessSettings = {}): HarnessV1 => ({
  specificationVersion,
  harnessId,
  builtinTools: {},
  doStart: async (start) => keelSession(settings, start),
});

function keelSession(
  { command = "keel", env = {} }: KeelHarnessSettings,
  {
    sessionId,
    resumeFrom,
    permissionMode = "allow-reads",
    sandboxSession,
    sessionWorkDir,
  }: HarnessV1StartOptions,
): HarnessV1Session {
  let keelId = idIn(resumeFrom);
  const words = (more: readonly string[]): string =>
    [
      command,
      "-p",
      "--output-format",
      "stream-json",
      "--verbose",
      ...permissionFlags[permissionMode],
      ...(keelId ? ["--resume", keelId] : []),
      ...more,
    ]
      .map((word) => `'${word.replaceAll("'", "'\\''")}'`)
      .join(" ");
  const turn = async ({
    prompt,
    model,
    instructions,
    tools,
    emit,
    abortSignal,
  }: HarnessV1PromptTurnOptions): Promise<void> => {
    const flags = [
      ...(model ? ["--model", model] : []),
      ...(instructions ? ["--append-system-prompt", instructions] : []),
    ];
    const child = await sandboxSession.spawn({
      // After `--` nothing is an option.
      command: words([...flags, "--", textOf(prompt)]),
      workingDirectory: sessionWorkDir,
      env: { ...env },
      ...(abortSignal ? { abortSignal } : {}),
    });
    const stop = (): void => void child.kill();
    abortSignal?.addEventListener("abort", stop, { once: true });
    const warnings = tools.map(({ name }) => ({ type: "unsupported-tool", tool: name }) as const);
    const toolNames = new Map<string, string>();
    let ended = false;
    try {
      for await (const line of linesOf(child.stdout)) {
        const message = JSON.parse(line) as SDKMessage;
        if (message.type === "system" && message.subtype === "init") {
          keelId = message.session_id;
          emit({ type: "stream-start", warnings, modelId: message.model });
        }
        if (message.type === "result") ended = true;
        tell(message, toolNames, emit);
      }
      const { exitCode } = await child.wait();
      if (!ended) throw new Error(`keel ended with code ${exitCode} and without a result`);
    } finally {
      abortSignal?.removeEventListener("abort", stop);
    }
  };
  const parked = (): HarnessV1ResumeSessionState => ({
    type: "resume-session",
    harnessId,
    specificationVersion,
    data: { session: keelId ?? null },
  });
  const unsupported = async (what: string): Promise<never> => {
    throw new HarnessCapabilityUnsupportedError({
      harnessId,
      message: `keel: ${what} is not supported: a turn runs to its end.`,
    });
  };
  return {
    sessionId,
    isResume: resumeFrom !== undefined,
    doPromptTurn: async (options) => ({
      done: turn(options),
      submitToolResult: () => unsupported("a tool of the host"),
    }),
    async doCompact(more = "") {
      await sandboxSession.run({
        command: words(["--", `/compact ${more}`]),
        workingDirectory: sessionWorkDir,
        env: { ...env },
      });
    },
    doContinueTurn: () => unsupported("to go on within a turn"),
    doSuspendTurn: () => unsupported("to leave a turn"),
    doDetach: async () => parked(),
    doStop: async () => parked(),
    doDestroy: async () => undefined,
  };
}

/** One message of Keel's stream as parts of theirs. */
function tell(
  message: SDKMessage,
  toolNames: Map<string, string>,
  emit: HarnessV1PromptTurnOptions["emit"],
): void {
  if (message.type === "assistant") {
    for (const [index, block] of message.message.content.entries()) {
      const id = `${message.uuid}-${index}`;
      if (block.type === "text") {
        emit({ type: "text-start", id });
        emit({ type: "text-delta", id, delta: block.text });
        emit({ type: "text-end", id });
      } else if (block.type === "tool_use") {
        toolNames.set(block.id, block.name);
        const input = JSON.stringify(block.input);
        emit({
          type: "tool-call",
          toolCallId: block.id,
          toolName: block.name,
          input,
          providerExecuted: true,
          dynamic: true,
        });
      }
    }
  } else if (message.type === "user" && Array.isArray(message.message.content)) {
    for (const block of message.message.content) {
      if (block.type !== "tool_result") continue;
      const toolName = toolNames.get(block.tool_use_id) ?? "unknown";
      const result =
        typeof block.content === "string" ? block.content : JSON.parse(JSON.stringify(block.content ?? ""));
      emit({
        type: "tool-result",
        toolCallId: block.tool_use_id,
        toolName,
        result,
        isError: block.is_error === true,
        dynamic: true,
      });
    }
  } else if (message.type === "result") {
    const { input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens } =
      message.usage;
    const read = cache_read_input_tokens ?? 0;
    const written = cache_creation_input_tokens ?? 0;
    const totalUsage = {
      inputTokens: {
        total: input_tokens + read + written,
        noCache: input_tokens,
        cacheRead: read,
        cacheWrite: written,
      },
      outputTokens: { total: output_tokens, text: undefined, reasoning: undefined },
    };
    const finishReason = { unified: message.is_error ? "error" : "stop", raw: message.subtype } as const;
    if (message.is_error) emit({ type: "error", error: new Error(message.subtype) });
    const harnessMetadata = { [harnessId]: { session: message.session_id, costUsd: message.total_cost_usd } };
    emit({ type: "finish-step", finishReason, usage: totalUsage, harnessMetadata });
    emit({ type: "finish", finishReason, totalUsage, harnessMetadata });
  }
}

function textOf(prompt: HarnessV1PromptTurnOptions["prompt"]): string {
  if (typeof prompt === "string") return prompt;
  if (typeof prompt.content === "string") return prompt.content;
  return prompt.content
    .map((part) => {
      if (part.type === "text") return part.text;
      throw new HarnessCapabilityUnsupportedError({
        harnessId,
        message: "keel: a prompt is text; put files into the sandbox.",
      });
    })
    .join("\n");
}

function idIn(state: HarnessV1ResumeSessionState | undefined): string | undefined {
  const data = state?.data;
  const id = data && typeof data === "object" && "session" in data ? data.session : undefined;
  return typeof id === "string" ? id : undefined;
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let rest = "";
  const decoder = new TextDecoder();
  for await (const bytes of stream) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines.filter((line) => line !== "");
  }
}
