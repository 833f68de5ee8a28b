/** How a form hands on what was answered; `keep` names the file in which the rule of an option is kept. */
import type { Answer } from "keel/protocol";
import type { RuleFile } from "keel/view";

export type AnswerAsk = (answer: Answer, keep?: RuleFile) => Promise<void>;
