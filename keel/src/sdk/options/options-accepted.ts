/**
 * Options that programs written for the interface may pass and that change nothing here, each with the reason. They are
 * accepted so that such programs compile and run; `docs/guide/migrating.md` lists them.
 */

export type AcceptedOptions = {
  /** Summaries of what sub-agents do, written by a model: `task_progress` tells their last tool instead. */
  agentProgressSummaries?: boolean;
  /** Headers for one provider: what a model can do comes from the catalog and the settings. */
  betas?: string[];
  /** What a person should know goes to `stderr` and into `informational` messages. */
  debug?: boolean;
  debugFile?: string;
  /** There are no dialogs beside the questions that `canUseTool` gets. */
  onUserDialog?: (...given: never[]) => unknown;
  supportedDialogKinds?: string[];
  /** An interrupt never ends work in the background; `stopTask()` does. */
  perTaskStopAffordance?: boolean;
  /** Plan mode is described by Keel's own words. */
  planModeInstructions?: string;
  /** Plugins are read where they stand. */
  pluginDelivery?: "argv" | "initialize";
  /** No model is asked for what nobody said. */
  promptSuggestions?: boolean;
  /** `resumeSessionAt` goes on in a copy: nothing is lost that would have to be guarded. */
  resumeDropsTurn?: string;
  /** A budget that one provider keeps; `maxBudgetUsd` holds with every provider. */
  taskBudget?: { total: number };
  /** A preview is shown as it was given. */
  toolConfig?: { askUserQuestion?: { previewFormat?: "markdown" | "html" } };
};
