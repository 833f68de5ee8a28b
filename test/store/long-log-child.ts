// Writes a long log, or opens one and holds all its events as a session would, and says what that took.
import { closeSync, fsyncSync, mkdirSync, openSync, writeSync } from "node:fs";
import path from "node:path";
import type { Durable, DurableEvent } from "../../keel/src/protocol/event/durable.ts";
import { noUsage } from "../../keel/src/protocol/usage.ts";
import { encodeHeader, encodeRecord } from "../../keel/src/store/jsonl/line.ts";
import { jsonlStore } from "../../keel/src/store/jsonl/store.ts";
import { envelopes, opened, said } from "../../keel/src/testing/store-suite-events.ts";

const [task = "", home = "", session = "", records = "0", bytes = "0"] = process.argv.slice(2);
process.stdout.write(`${JSON.stringify(task === "write" ? write() : await read())}\n`);

function write(): object {
  const folder = path.join(home, "projects", "project");
  mkdirSync(folder, { recursive: true });
  const file = openSync(path.join(folder, `${session}.jsonl`), "wx", 0o600);
  writeSync(file, encodeHeader({ session, cwd: "/srv/project", at: 1 }));
  const words = 'The quick brown fox "jumps" over\n'.repeat(Math.ceil(Number(bytes) / Number(records) / 36));
  let written = 0;
  for (let index = 0; index < Number(records); index++) {
    for (const event of envelopes(
      session,
      [eventAt(index, index % 20 === 0 ? `${words}日本` : words)],
      index,
    ))
      written += writeSync(file, encodeRecord(event));
  }
  // As every line of a real log was when it was written.
  fsyncSync(file);
  closeSync(file);
  return { written };
}

function eventAt(index: number, text: string): DurableEvent {
  if (index === 0) return opened("/srv/project");
  if (index % 3 === 1) return said(text);
  if (index % 3 === 2) {
    return {
      type: "tool.finished",
      callId: `call-${index}`,
      tool: "Bash",
      content: [{ type: "text", text: text.slice(0, text.length / 2) }],
      failed: false,
      display: { kind: "terminal", command: "ls", output: text.slice(text.length / 2), exitCode: 0 },
      ms: 1,
    };
  }
  return {
    type: "model.finished",
    requestId: `request-${index}`,
    messageId: `message-${index}`,
    model: "scripted-1",
    content: [
      { type: "text", text },
      { type: "tool_use", id: `call-${index}`, name: "Bash", input: { command: "ls" } },
    ],
    stop: "tool_use",
    usage: noUsage,
    costUsd: 0,
    ms: 1,
  };
}

async function read(): Promise<object> {
  const began = performance.now();
  const log = await jsonlStore({ home }).open(session);
  const openMs = performance.now() - began;
  const events: Durable[] = [];
  for await (const event of log.read()) events.push(event);
  const totalMs = performance.now() - began;
  await log.close();
  const rssMb = process.resourceUsage().maxRSS / 1024;
  return { events: events.length, notices: log.notices, openMs, totalMs, rssMb };
}
