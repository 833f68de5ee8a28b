/** The models that a server says it has: a list that both common wires answer alike. */
import { fault } from "../kernel/fault.ts";
import { asObject, parseJson } from "../kernel/json.ts";
import { wireOf } from "./connect.ts";
import { type Http, readText } from "./http.ts";
import { type Endpoint, modelsPaths, providerOf, type WireId, wireFor } from "./providers.ts";

const maxBytes = 1024 * 1024;

/** Throws a Fault when the server cannot be asked or answers something else. */
export async function listModels(endpoint: Endpoint, http: Http, signal: AbortSignal): Promise<string[]> {
  const wireId = wireFor(endpoint, "*");
  const path = providerOf(endpoint.provider)?.modelsPath ?? modelsPaths[wireId] ?? "/models";
  if (wireId === "package")
    throw fault("no_model", { reason: `${endpoint.provider} lists no models; name one with --model.` });
  const url = `${endpoint.baseUrl}${path}`;
  const wire = await wireOf(wireId);
  const headers = { ...wire.headers(endpoint), accept: "application/json" };
  const response = await http({ method: "GET", url, headers }, signal);
  const text = await readText(response, maxBytes);
  const ids = response.status === 200 ? idsIn(text, wireId) : undefined;
  if (!ids)
    throw fault("no_model", {
      reason: `${endpoint.baseUrl} does not list its models; name one with --model.`,
    });
  return ids;
}

function idsIn(text: string, wire: WireId): string[] | undefined {
  const { data, models } = asObject(parseJson(text));
  // A server that has no model yet may say so with nothing in place of a list.
  if (data === null) return [];
  if (Array.isArray(data)) return namesIn(data, "id");
  // One wire calls the list otherwise, and says of each what it is before its name.
  return wire === "gemini" && Array.isArray(models)
    ? namesIn(models, "name").map((name) => name.replace(/^models\//, ""))
    : undefined;
}

const namesIn = (models: readonly unknown[], field: string): string[] =>
  models.map((model) => asObject(model)[field]).filter((name) => typeof name === "string");
