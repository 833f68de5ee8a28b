// Starts a session as a program does: through the built library, with all of its defaults.
import { pathToFileURL } from "node:url";

const [library = "", model = ""] = process.argv.slice(2);
const { query } = (await import(pathToFileURL(library).href)) as typeof import("../../keel/src/sdk/index.ts");
for await (const message of query({ prompt: "Look around", options: { model } }))
  if (message.type === "result") process.stdout.write(`${JSON.stringify(message)}\n`);
