/**
 * The least program that could go on with a session of a log: it reads the file, checks every line, parses it, and sends
 * the conversation. It folds nothing, decides nothing and keeps nothing.
 */
import { readFileSync } from "node:fs";
import http from "node:http";
import { crc32 } from "node:zlib";
import { bareAsk } from "../bare-loop.ts";

const { url, file, firstBytes } = JSON.parse(process.argv[2] ?? "{}");
const bytes = readFileSync(file);
const messages: string[] = [];
let from = 0;
for (let end = bytes.indexOf("\n", from); end !== -1; end = bytes.indexOf("\n", from)) {
  const { sum, ...record } = JSON.parse(bytes.toString("utf8", from, end));
  const body = bytes.subarray(from, end - ',"sum":"00000000"}'.length);
  if (crc32(body).toString(16).padStart(8, "0") !== sum) throw new Error("damaged");
  if (record.type === "input.accepted") messages.push(message("user", record.input.content));
  if (record.type === "model.finished") messages.push(message("assistant", record.content));
  from = end + 1;
}
messages.push(message("user", [{ type: "text", text: "Read the file." }]));
const head = `{"model":"scripted-model","max_tokens":32000,"stream":true,"system":"${"x".repeat(firstBytes)}","messages":[`;
await bareAsk(url, new http.Agent())(`${head}${messages.join(",")}]}`);

function message(role: string, content: unknown): string {
  return `{"role":"${role}","content":${JSON.stringify(content)}}`;
}
