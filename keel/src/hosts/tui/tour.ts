/** The few words with which a rehearsal on the screen begins. */
import { bold, dim, type PrintLine, span, words } from "./text/styled.ts";

export function tour({ project }: { readonly project: string }): PrintLine[] {
  return [
    words([
      bold("This is a rehearsal: "),
      span("the model is a script, everything else is real. No key, no network, no cost."),
    ]),
    words([dim(`It happens in ${project}`)]),
    { spans: [], wrap: "cut" },
    words([span("Press Enter to send what stands in the input. You will be asked before a command runs.")]),
    words([
      dim(
        "Try too: ? for the keys, / for commands, Ctrl-O for the whole transcript, Esc to interrupt, Ctrl-D to end.",
      ),
    ]),
  ];
}
