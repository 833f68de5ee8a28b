// Opens a session and says as one line of JSON what became of it. Run by a test as a user without rights.
import { Fault } from "../../keel/src/kernel/fault.ts";
import { jsonlStore } from "../../keel/src/store/jsonl/store.ts";
import { calls, envelopes } from "../../keel/src/testing/store-suite-events.ts";

const [home = "", session = ""] = process.argv.slice(2);
process.stdout.write(`${JSON.stringify(await open())}\n`);

async function open(): Promise<object> {
  try {
    const log = await jsonlStore({ home }).open(session);
    let events = 0;
    for await (const _ of log.read()) events += 1;
    const append = await codeOf(log.append(envelopes(session, calls(1), log.lastSeq)));
    const warnings = log.notices.map(({ text }) => text);
    await log.close();
    return { opened: true, events, warnings, append };
  } catch (thrown) {
    return { opened: false, code: thrown instanceof Fault ? thrown.code : String(thrown) };
  }
}

async function codeOf(work: Promise<void>): Promise<string> {
  try {
    await work;
    return "done";
  } catch (thrown) {
    return thrown instanceof Fault ? thrown.code : String(thrown);
  }
}
