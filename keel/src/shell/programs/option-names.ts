/** Whether a word is an option of that name: whole, attached, or cut short. */
export function isOption(text: string, name: string): boolean {
  if (text === name) return true;
  if (!name.startsWith("--"))
    return name.length === 2
      ? /^-[A-Za-z]+/.test(text) && !text.startsWith("--") && text.includes(name[1] ?? "\0")
      : text.startsWith(`${name}=`);
  const given = text.split("=", 1)[0] ?? "";
  return given.length > 3 && given.startsWith("--") && name.startsWith(given);
}
