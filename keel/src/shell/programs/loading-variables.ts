/** Variables that make whatever starts behind them run code before its own. */

export const loadsCode = (name: string): boolean =>
  /^(?:BASH_ENV|BASH_FUNC_.*|LD_AUDIT|LD_PRELOAD)$/.test(name);

/** `name=value` as a word, of which only the start may be known. */
export const givesLoading = (word: string): boolean =>
  word.includes("=") && loadsCode(word.slice(0, word.indexOf("=")));
