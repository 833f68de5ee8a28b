/** An address as it may be shown and kept: what people write into addresses besides the way may be a secret. */

/** Without user name and password, and with the names of a query only. */
export function shownUrl(address: string): string {
  const withoutPerson = address.replace(URL.canParse(address) ? person : anythingBeforeAt, "$1…@");
  const at = withoutPerson.search(/[?#]/);
  if (at === -1) return withoutPerson;
  const query = withoutPerson.slice(at).replace(/=[^&#]*/g, "=…");
  return withoutPerson.slice(0, at) + query;
}

/** A text such as a command, with every address in it as it may be shown. */
export const withShownUrls = (text: string): string =>
  text.replace(/[a-z][a-z0-9+.-]*:[/\\]{2}[^\s"'`<>]*/gi, shownUrl);

/** Behind the scheme any slashes do, of both kinds, and none at all. */
const person = /^(\s*[a-z][a-z0-9+.-]*:[/\\]*)[^/\\?#]*@/i;
/** Of what is no address nobody can say where the password ends. */
const anythingBeforeAt = /^(\s*(?:[a-z][a-z0-9+.-]*:[/\\]*)?).*@/is;
