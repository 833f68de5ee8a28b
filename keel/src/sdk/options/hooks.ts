/** Callbacks of a program as hooks: the interface's shape in, the engine's out. */
import type { OpenOptions } from "../../app/options.ts";
import type { HookEvent, HookInput, HookMomentOf, HookOutput } from "../../protocol/hook.ts";

export type HookCallback = (
  input: HookInput,
  toolUseID: string | undefined,
  options: { signal: AbortSignal },
) => Promise<HookJSONOutput>;

export type HookJSONOutput = HookOutput;

export type HookCallbackMatcher = {
  /** Which tools, sources or kinds it is for; all when left out. */
  matcher?: string;
  hooks: HookCallback[];
  /** Seconds. */
  timeout?: number;
  /** `block`: when the callback fails, what it watches does not happen. */
  onFailure?: "continue" | "block";
};

/** What a callback of one point is told. */
export type HookInputOf<E extends HookEvent> = Extract<HookInput, { hook_event_name: E }> & HookMomentOf<E>;

/** Points that Keel does not have are accepted, since programs name them: nothing calls their hooks. */
export type HookMap = { [event in HookEvent]?: HookCallbackMatcher[] } & {
  [event: string]: HookCallbackMatcher[] | undefined;
};

type ProgramHook = NonNullable<OpenOptions["hooks"]>[number];

export function hooksOf(map: HookMap = {}): ProgramHook[] {
  return Object.entries(map).flatMap(([event, matchers = []]) =>
    matchers.flatMap(({ matcher, hooks, timeout, onFailure }) =>
      hooks.map(
        (callback, index): ProgramHook => ({
          event: event as HookEvent,
          matcher,
          name: callback.name || `number ${index + 1}`,
          timeoutMs: timeout === undefined ? undefined : timeout * 1000,
          onFailure,
          call: (input, { callId, signal }) => callback(input, callId, { signal }),
        }),
      ),
    ),
  );
}
