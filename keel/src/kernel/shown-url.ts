/** An address as it may be shown and kept: what people write into addresses besides the way may be a secret. */

/** Without user name and password, and with the names of a query only. */
export function shownUrl(address: string): string {
  const withoutPerson = address.replace(/\/\/[^/?#]*@/, "//…@");
  const at = withoutPerson.search(/[?#]/);
  if (at === -1) return withoutPerson;
  const query = withoutPerson.slice(at).replace(/=[^&#]*/g, "=…");
  return withoutPerson.slice(0, at) + query;
}
