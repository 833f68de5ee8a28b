/** Vectors made by somebody else over HTTP: Ollama, Voyage, or any server that speaks as OpenAI does. */
import { fault } from "../kernel/fault.ts";
import { asObject, parseJson } from "../kernel/json.ts";
import type { Embedder } from "../ports/memory-index.ts";

export type HttpEmbedderKind = "ollama" | "voyage" | "openai";

export type HttpEmbedderOptions = {
  readonly kind: HttpEmbedderKind;
  readonly model: string;
  readonly baseUrl: string;
  readonly key?: string | undefined;
};

/** The usual address, model and variable of each kind. */
export const usualEmbedders: Readonly<
  Record<HttpEmbedderKind, { baseUrl: string; model: string; keyVariable?: string }>
> = {
  ollama: { baseUrl: "http://127.0.0.1:11434", model: "nomic-embed-text" },
  voyage: { baseUrl: "https://api.voyageai.com/v1", model: "voyage-3.5", keyVariable: "VOYAGE_API_KEY" },
  openai: {
    baseUrl: "https://api.openai.com/v1",
    model: "text-embedding-3-small",
    keyVariable: "OPENAI_API_KEY",
  },
};

/** A batch of sixteen vectors of a few thousand numbers is far less. */
const maxAnswerCharacters = 16 * 1024 * 1024;
const ownHosts = new Set(["localhost", "127.0.0.1", "[::1]"]);

export function httpEmbedder({ kind, model, baseUrl, key }: HttpEmbedderOptions): Embedder {
  const id = `${kind}:${model}`;
  const failed = (reason: string, cause?: unknown): Error =>
    fault("embedder_failed", { embedder: id, reason, cause });
  const url = URL.parse(`${baseUrl.replace(/\/+$/, "")}/${kind === "ollama" ? "api/embed" : "embeddings"}`);
  if (!url) throw failed(`${JSON.stringify(baseUrl)} is no address`);
  if (key !== undefined && url.protocol !== "https:" && !ownHosts.has(url.hostname))
    throw failed("a key goes over https only");
  const headers = {
    "content-type": "application/json",
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
  };
  return {
    id,
    async embed(texts, as, signal) {
      const type = kind === "voyage" ? { input_type: as === "question" ? "query" : "document" } : {};
      const body = JSON.stringify({ model, input: texts, ...type });
      const request = { method: "POST", headers, body, redirect: "error" as const, signal: signal ?? null };
      const response = await fetch(url, request).catch((cause: unknown) => {
        throw failed("it does not answer", cause);
      });
      const answer = await response.text();
      if (!response.ok) throw failed(`it answered ${response.status}`);
      if (answer.length > maxAnswerCharacters) throw failed("its answer is too long");
      const vectors = vectorsIn(parseJson(answer));
      if (vectors.length !== texts.length)
        throw failed("it answered something else than a vector for each text");
      return vectors;
    },
    close: async () => undefined,
  };
}

function vectorsIn(answer: unknown): Float32Array[] {
  const { embeddings, data } = asObject(answer);
  const lists: unknown[] = Array.isArray(embeddings)
    ? embeddings
    : Array.isArray(data)
      ? data
          .toSorted(
            (left, right) => Number(asObject(left)["index"] ?? 0) - Number(asObject(right)["index"] ?? 0),
          )
          .map((one) => asObject(one)["embedding"])
      : [];
  return lists.flatMap((list) =>
    Array.isArray(list) && list.length > 0 && list.every((value) => typeof value === "number")
      ? [Float32Array.from(list)]
      : [],
  );
}
