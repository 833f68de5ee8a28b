/** Light or dark: as the system has it, unless the person chose one. */

export const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];
const note = "keel.theme";

export function themeIn(notes: Pick<Storage, "getItem">): Theme {
  const known = notes.getItem(note);
  return themes.find((theme) => theme === known) ?? "system";
}

export function startTheme(notes: Pick<Storage, "getItem">): void {
  const theme = themeIn(notes);
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}

export function chooseTheme(notes: Pick<Storage, "getItem" | "setItem">, theme: Theme): void {
  notes.setItem(note, theme);
  startTheme(notes);
}
