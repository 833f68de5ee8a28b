/** The official SDK as a program uses it: one query, in the process that it starts for it. Says when that was ready. */
import path from "node:path";
import { pathToFileURL } from "node:url";

type Options = { readonly sdk: string; readonly prompt: string };
type Running = AsyncIterable<unknown> & { initializationResult?(): Promise<unknown> };
type Sdk = { query(wish: { prompt: string; options: object }): Running };

const { sdk, prompt }: Options = JSON.parse(process.argv[2] ?? "{}");
const { query }: Sdk = await import(pathToFileURL(path.join(sdk, "sdk.mjs")).href);
const running = query({ prompt, options: { allowedTools: ["Read"], settingSources: [] } });
void running.initializationResult?.().then(() => process.stdout.write("ready\n"));
for await (const message of running) void message;
