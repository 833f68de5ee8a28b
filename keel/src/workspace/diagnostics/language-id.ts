/** What the protocol calls the language of a file, by its name. */
const languages: Readonly<Record<string, string>> = {
  ts: "typescript",
  mts: "typescript",
  cts: "typescript",
  tsx: "typescriptreact",
  js: "javascript",
  mjs: "javascript",
  cjs: "javascript",
  jsx: "javascriptreact",
  py: "python",
  rs: "rust",
  rb: "ruby",
  kt: "kotlin",
  cs: "csharp",
  cc: "cpp",
  cxx: "cpp",
  hpp: "cpp",
  h: "c",
  sh: "shellscript",
  bash: "shellscript",
  yml: "yaml",
  md: "markdown",
  hs: "haskell",
  ex: "elixir",
  exs: "elixir",
};

/** Of most languages the ending is the name. */
export function languageOf(name: string): string {
  const ending = name.slice(name.lastIndexOf(".") + 1).toLowerCase();
  return Object.hasOwn(languages, ending) ? (languages[ending] ?? ending) : ending;
}
