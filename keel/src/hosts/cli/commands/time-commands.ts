/** The rows of commands that look at what was recorded, or run it once more. */
import { type CliCommand, type Define, json, yes } from "../command.ts";

export const timeCommands = (command: Define): readonly CliCommand[] => [
  command({
    usage:
      "keel replay [ID|FILE [--to SEQ | --environment]] [--all | --check FOLDER] [--prompt FILE] [--junit FILE] [--json]",
    says: "Plays recorded sessions through today's engine: the first request that differs",
    options: {
      ...json,
      to: { kind: "text", value: "SEQ", says: "Only up to this event" },
      all: { kind: "flag", says: "Every session that is kept" },
      check: { kind: "text", value: "FOLDER", says: "The exported sessions in this folder" },
      prompt: { kind: "text", value: "FILE", says: "A prompt to try in place of the recorded one" },
      junit: { kind: "text", value: "FILE", says: "Also as JUnit, for a check of every change" },
      environment: {
        kind: "flag",
        says: "Runs its calls once more, in a copy of the folder as it was: the first result that differs",
      },
      "as-answered": {
        kind: "flag",
        says: "With --environment: allows what would be asked; otherwise it does not run",
      },
      "permission-mode": {
        kind: "text",
        value: "MODE",
        says: "With --environment; acceptEdits when left out",
      },
      timeout: {
        kind: "text",
        value: "SECONDS",
        says: "With --environment, for all of it; 600 when left out",
      },
    },
    load: async () => (await import("./replay.ts")).replay,
  }),
  command({
    usage:
      "keel bisect ID [--text WORDS | --state FILE] [--twice] [--timeout SECONDS] [--json] [-- COMMAND...]",
    says: "With which message and change of a session a command began to fail",
    options: {
      ...json,
      text: { kind: "text", value: "WORDS", says: "The event with which these words came into the log" },
      state: { kind: "text", value: "FILE", says: "A function of yours: export default (state) => boolean" },
      twice: { kind: "flag", says: "Look twice at each moment, and say if that differs" },
      timeout: { kind: "text", value: "SECONDS", says: "For each run; 600 when left out" },
    },
    load: async () => (await import("./bisect.ts")).bisect,
  }),
  command({
    usage: "keel trace ID [--otlp | --send URL] [--contents] [--names 1.41|genai-main] [-o FILE]",
    says: "A session on a line of time: one page, or spans for a collector",
    options: {
      otlp: { kind: "flag", says: "As OpenTelemetry writes it, in JSON" },
      send: { kind: "text", value: "URL", says: "To this collector, by OTLP over HTTP" },
      contents: { kind: "flag", says: "With what was said, arguments and results, without secrets" },
      names: { kind: "text", value: "WHICH", says: "Which text of the conventions: 1.41 or genai-main" },
      output: { kind: "text", short: "o", value: "FILE", says: "Where to; standard output when left out" },
    },
    load: async () => (await import("./trace.ts")).trace,
  }),
  command({
    usage: "keel blame FILE:LINE [--json]",
    says: "Which session, message and call made a line of a file, or a range FROM-TO of lines",
    options: json,
    load: async () => (await import("./blame.ts")).blame,
  }),
  command({
    usage: "keel what-if ID --at MESSAGE|EVENT [OPTIONS] [-- COMMAND...]",
    says: "Runs a recorded session on from there once more, with one change, in a copy of its folder",
    options: {
      ...json,
      ...yes,
      at: {
        kind: "text",
        value: "WHERE",
        says: "Before this message, by its id; or behind this event, by its number",
      },
      model: { kind: "text", short: "m", value: "NAME", says: "Another model" },
      prompt: { kind: "text", value: "FILE", says: "Another system prompt" },
      instructions: { kind: "text", value: "FILE", says: "In place of the project's AGENTS.md or CLAUDE.md" },
      rules: { kind: "text", value: "FILE", says: "Permission rules that are laid over the settings" },
      message: { kind: "text", value: "WORDS", says: "In place of what was said" },
      result: {
        kind: "text",
        value: "FILE",
        says: "In place of the result of the call that ended with the event",
      },
      samples: { kind: "text", value: "N", says: "How often; once when left out" },
      messages: {
        kind: "text",
        value: "N",
        says: "How many recorded messages are said again; one when left out",
      },
      "permission-mode": { kind: "text", value: "MODE", says: "acceptEdits when left out; nobody is asked" },
      "max-budget-usd": {
        kind: "text",
        value: "USD",
        says: "For all samples together; three times the estimate when left out",
      },
      timeout: {
        kind: "text",
        value: "SECONDS",
        says: "For each sample and each run of the command; 600 when left out",
      },
      anyway: { kind: "flag", says: "Although today's Keel does not come to that moment as it was recorded" },
      output: { kind: "text", short: "o", value: "FILE", says: "Also as one HTML page" },
    },
    unheard: "goes-on",
    load: async () => (await import("./what-if.ts")).whatIf,
  }),
  command({
    usage: "keel eval FOLDER [OPTIONS]",
    says: "Runs cases with their checks, repeated over models and prompts, each in a folder of its own",
    options: {
      ...json,
      model: {
        kind: "text",
        short: "m",
        value: "NAMES",
        says: "With commas between them; scripted where a case is, when left out",
      },
      prompts: {
        kind: "text",
        value: "FILES",
        says: "System prompts to hold against each other, with commas between them",
      },
      only: { kind: "text", value: "WORD", says: "Cases with this in their name" },
      repeat: { kind: "text", value: "N", says: "How often each; once when left out" },
      judge: {
        kind: "text",
        value: "NAME",
        says: "The model that judges by rubrics; the case's own when left out",
      },
      record: { kind: "text", value: "FOLDER", says: "Record what the model answers, without keys" },
      replay: { kind: "text", value: "FOLDER", says: "Answer from what was recorded, at no cost" },
      compare: { kind: "text", value: "FILE", says: "Beside an earlier report" },
      "max-budget-usd": { kind: "text", value: "USD", says: "For all runs together" },
      timeout: { kind: "text", value: "SECONDS", says: "For each run and each command; 600 when left out" },
      junit: { kind: "text", value: "FILE", says: "Also as JUnit" },
      output: { kind: "text", short: "o", value: "FILE", says: "The report as JSON, to compare with later" },
    },
    unheard: "goes-on",
    load: async () => (await import("./eval.ts")).evaluate,
  }),
];
