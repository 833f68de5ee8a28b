/** What an executable asks of this program, answered by the callbacks in its options. */
import { whenAborted } from "../../kernel/abort.ts";
import { present } from "../../kernel/json.ts";
import { never } from "../../kernel/result.ts";
import type { AnyHookInput, HookCallback } from "../options/hooks.ts";
import type { Options } from "../options/options.ts";
import { isOwn } from "../tools/mcp-server.ts";
import { type ControlAnswerer, ControlError } from "./channel.ts";
import type { InitializeRequest } from "./host-requests.ts";
import { CarriedServer, type HeardServer, LocalServer, type Tell } from "./local-server.ts";
import { type ProcessRequestOf, readProcessRequest } from "./process-requests.ts";

type ControlCall = Parameters<ControlAnswerer>[1];

export type WireHooks = {
  /** As the introduction names them. */
  readonly named: NonNullable<InitializeRequest["hooks"]>;
  readonly callbacks: ReadonlyMap<string, HookCallback>;
};

/** Every callback under an id of its own, numbered across all points. */
export function wireHooks({ hooks = {} }: Options): WireHooks {
  const callbacks = new Map<string, HookCallback>();
  const keep = (callback: HookCallback): string => {
    const id = `hook_${callbacks.size}`;
    callbacks.set(id, callback);
    return id;
  };
  const named = Object.entries(hooks).map(([event, matchers = []]) => [
    event,
    matchers.map(({ matcher, hooks: own, timeout, onFailure }) => ({
      hookCallbackIds: own.map(keep),
      ...present({ matcher, timeout, onFailure }),
    })),
  ]);
  return { named: Object.fromEntries(named), callbacks };
}

/** The servers of this program by name, ready to answer. */
export function localServers(
  { mcpServers = {} }: Pick<Options, "mcpServers">,
  tell: (server: string) => Tell,
): Map<string, HeardServer> {
  return new Map(
    Object.entries(mcpServers).flatMap(([name, config]): [string, HeardServer][] => {
      if (isOwn(config)) return [[name, new LocalServer(config.instance, tell(name))]];
      return config.type === "sdk" ? [[name, new CarriedServer(config.instance, tell(name))]] : [];
    }),
  );
}

export function answerWith(
  options: Options,
  { hooks, servers }: { hooks: WireHooks["callbacks"]; servers: ReadonlyMap<string, HeardServer> },
): ControlAnswerer {
  return async (asked, call) => {
    const request = readProcessRequest(asked);
    switch (request.subtype) {
      case "can_use_tool":
        return permission(options, request, call);
      case "hook_callback":
        return hook(hooks, request, call);
      case "mcp_message":
        return serve(servers, request, call);
      case "elicitation":
        return elicit(options, request, call);
      default:
        return never(request);
    }
  };
}

async function permission(
  { canUseTool }: Options,
  { tool_name, input, tool_use_id, ...told }: ProcessRequestOf<"can_use_tool">,
  { requestId, signal }: ControlCall,
): Promise<unknown> {
  if (!canUseTool) throw new ControlError("canUseTool callback is not provided.");
  const result = await canUseTool(tool_name, input, {
    signal,
    requestId,
    toolUseID: tool_use_id,
    ...present({
      title: told.title,
      displayName: told.display_name,
      description: told.description,
      suggestions: told.permission_suggestions,
      blockedPath: told.blocked_path,
      decisionReason: told.decision_reason,
      mcpServer: told.mcp_server,
      agentID: told.agent_id,
      defaultToNo: told.default_to_no,
      suppressAlwaysAllowRule: told.suppress_always_allow_rule,
      matchedAskRule: told.matched_ask_rule,
      decisionReasonType: told.decision_reason_type,
    }),
  });
  // Null: the program answers by another way, and nobody hears anything here.
  if (result === null) await whenAborted(signal);
  return { ...result, toolUseID: tool_use_id };
}

async function hook(
  callbacks: WireHooks["callbacks"],
  { callback_id, input, tool_use_id }: ProcessRequestOf<"hook_callback">,
  { signal }: ControlCall,
): Promise<unknown> {
  const callback = callbacks.get(callback_id);
  if (!callback) throw new ControlError(`No hook callback found for ID: ${callback_id}`);
  return (await callback(input as AnyHookInput, tool_use_id, { signal })) ?? {};
}

async function serve(
  servers: ReadonlyMap<string, HeardServer>,
  { server_name, message }: ProcessRequestOf<"mcp_message">,
  { signal }: ControlCall,
): Promise<unknown> {
  const server = servers.get(server_name);
  if (!server) throw new ControlError(`SDK MCP server not found: ${server_name}`);
  return { mcp_response: await server.hear(message, signal) };
}

async function elicit(
  { onElicitation }: Options,
  { mcp_server_name: serverName, message, ...more }: ProcessRequestOf<"elicitation">,
  { requestId, signal }: ControlCall,
): Promise<unknown> {
  const wanted = present({
    mode: more.mode,
    url: more.url,
    elicitationId: more.elicitation_id,
    requestedSchema: more.requested_schema,
  });
  const answer = await onElicitation?.({ serverName, message, ...wanted }, { signal, requestId });
  return answer ?? { action: "decline" };
}
