/** One conversation of many tool turns through the whole of Keel, every event durable. */
import { converse, type KeelPlace, openKeel } from "../open-keel.ts";
import { runProgram } from "../program.ts";

await runProgram(async (place: KeelPlace) => {
  const keel = openKeel(place);
  const session = await keel.openSession();
  await converse(session);
  await session.close("ended");
  keel.close();
  return { messages: session.state.history.length };
});
