/** What is said in a long run, and the command that the model then calls. */
export const words = "Show me all of it once more.";

/** 100 KB of lines. */
export const command = "seq -f 'line %08.0f of the output' 1 3572";
