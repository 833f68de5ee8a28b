/** Asks the server of a home, over its unix socket, who it is. */
import { request } from "node:http";
import { fault } from "../../kernel/fault.ts";
import { type AnswerTo, operations } from "../../protocol/operation.ts";

const answerMs = 5_000;

/** Throws where nobody answers. */
export function askServer(socketPath: string): Promise<AnswerTo<"status">> {
  const { path, answer } = operations.status;
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, path, timeout: answerMs }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => {
        try {
          resolve(answer.parse(JSON.parse(Buffer.concat(chunks).toString("utf8"))));
        } catch (thrown) {
          reject(thrown);
        }
      });
    });
    asked.on("timeout", () => asked.destroy(fault("link_lost", { reason: "no answer" })));
    asked.on("error", reject);
    asked.end();
  });
}
