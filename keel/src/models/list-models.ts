/** The models that a server says it has: a list that both common wires answer alike. */
import { fault } from "../kernel/fault.ts";
import { asObject, parseJson } from "../kernel/json.ts";
import { wireOf } from "./connect.ts";
import { type Http, readText } from "./http.ts";
import { type Endpoint, providerOf } from "./providers.ts";

const maxBytes = 1024 * 1024;

/** Throws a Fault when the server cannot be asked or answers something else. */
export async function listModels(endpoint: Endpoint, http: Http, signal: AbortSignal): Promise<string[]> {
  const url = `${endpoint.baseUrl}${providerOf(endpoint.provider)?.modelsPath ?? ""}`;
  const wire = await wireOf(endpoint.provider);
  const headers = { ...wire.headers(endpoint), accept: "application/json" };
  const response = await http({ method: "GET", url, headers }, signal);
  const text = await readText(response, maxBytes);
  const ids = response.status === 200 ? idsIn(text) : undefined;
  if (!ids)
    throw fault("no_model", {
      reason: `${endpoint.baseUrl} does not list its models; name one with --model.`,
    });
  return ids;
}

function idsIn(text: string): string[] | undefined {
  const { data } = asObject(parseJson(text));
  // A server that has no model yet may say so with nothing in place of a list.
  if (data === null) return [];
  if (!Array.isArray(data)) return undefined;
  return data.map((model: unknown) => asObject(model)["id"]).filter((id) => typeof id === "string");
}
