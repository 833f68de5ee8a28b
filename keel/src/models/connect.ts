/** From a resolved model to the port that the engine asks. The one place that knows every wire. */
import { never } from "../kernel/never.ts";
import type { Model } from "../ports/model.ts";
import { anthropicModel, messagesHeaders } from "./anthropic/model.ts";
import { chatHeaders, openaiModel } from "./openai/model.ts";
import type { Endpoint } from "./providers.ts";
import type { ModelOptions } from "./read-answer.ts";
import type { ResolvedModel } from "./resolve.ts";

export type ConnectTools = Omit<ModelOptions, "endpoint">;

/** The port serves every model of the endpoint; `resolved.model` is only the one to start with. */
export function connectModel({ endpoint }: Pick<ResolvedModel, "endpoint">, tools: ConnectTools): Model {
  switch (endpoint.provider) {
    case "anthropic":
      return anthropicModel({ endpoint, ...tools });
    case "openai":
      return openaiModel({ endpoint, ...tools });
    default:
      return never(endpoint.provider);
  }
}

/** What a request to the endpoint says about itself, also one that asks for no reply. */
export function headersOf(endpoint: Endpoint): Record<string, string> {
  switch (endpoint.provider) {
    case "anthropic":
      return messagesHeaders(endpoint);
    case "openai":
      return chatHeaders(endpoint);
    default:
      return never(endpoint.provider);
  }
}
