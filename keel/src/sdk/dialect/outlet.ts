/** Where the messages of a session go: a queue of them, or of more than them. */
import type { Queue } from "../../kernel/queue.ts";
import type { SDKMessage } from "../messages/messages.ts";

export type Outlet = Pick<Queue<SDKMessage>, "push" | "fail" | "end">;
