/** Character references of HTML: numbers, and the names that pages really use. An unknown one stays as it is written. */

export function decodeEntities(text: string): string {
  return text.includes("&")
    ? text.replace(reference, (whole, body: string) => characterOf(body) ?? whole)
    : text;
}

const reference = /&(#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z][A-Za-z\d]{1,31});?/g;

function characterOf(body: string): string | undefined {
  if (!body.startsWith("#")) return names.get(body);
  const hex = body[1] === "x" || body[1] === "X";
  const code = hex ? Number.parseInt(body.slice(2), 16) : Number.parseInt(body.slice(1), 10);
  // What is no character, and half of a pair, becomes the mark for such things.
  return code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)
    ? "\ufffd"
    : String.fromCodePoint(code);
}

/** Name and code point, so that the source stays readable without its characters. */
const table = [
  "amp=26 lt=3c gt=3e quot=22 apos=27 nbsp=20 ensp=20 emsp=20 thinsp=20 shy=ad copy=a9 reg=ae trade=2122",
  "hellip=2026 mdash=2014 ndash=2013 lsquo=2018 rsquo=2019 sbquo=201a ldquo=201c rdquo=201d bdquo=201e",
  "laquo=ab raquo=bb lsaquo=2039 rsaquo=203a bull=2022 middot=b7 dagger=2020 Dagger=2021 prime=2032 Prime=2033",
  "times=d7 divide=f7 minus=2212 plusmn=b1 deg=b0 micro=b5 para=b6 sect=a7 frac12=bd frac14=bc frac34=be",
  "sup1=b9 sup2=b2 sup3=b3 ordf=aa ordm=ba iexcl=a1 iquest=bf not=ac cent=a2 pound=a3 yen=a5 euro=20ac curren=a4",
  "larr=2190 uarr=2191 rarr=2192 darr=2193 harr=2194 rArr=21d2 lArr=21d0 le=2264 ge=2265 ne=2260 asymp=2248",
  "infin=221e radic=221a sum=2211 prod=220f part=2202 int=222b isin=2208 forall=2200 exist=2203 empty=2205",
  "and=2227 or=2228 cap=2229 cup=222a sub=2282 sup=2283 check=2713 star=2606 phone=260e num=23 lowbar=5f",
  "alpha=3b1 beta=3b2 gamma=3b3 delta=3b4 epsilon=3b5 theta=3b8 lambda=3bb mu=3bc pi=3c0 rho=3c1 sigma=3c3",
  "tau=3c4 phi=3c6 chi=3c7 psi=3c8 omega=3c9 Delta=394 Sigma=3a3 Omega=3a9 Pi=3a0 Phi=3a6",
  "Agrave=c0 Aacute=c1 Acirc=c2 Atilde=c3 Auml=c4 Aring=c5 AElig=c6 Ccedil=c7 Egrave=c8 Eacute=c9 Ecirc=ca",
  "Euml=cb Igrave=cc Iacute=cd Icirc=ce Iuml=cf Ntilde=d1 Ograve=d2 Oacute=d3 Ocirc=d4 Otilde=d5 Ouml=d6",
  "Oslash=d8 Ugrave=d9 Uacute=da Ucirc=db Uuml=dc Yacute=dd szlig=df agrave=e0 aacute=e1 acirc=e2 atilde=e3",
  "auml=e4 aring=e5 aelig=e6 ccedil=e7 egrave=e8 eacute=e9 ecirc=ea euml=eb igrave=ec iacute=ed icirc=ee",
  "iuml=ef ntilde=f1 ograve=f2 oacute=f3 ocirc=f4 otilde=f5 ouml=f6 oslash=f8 ugrave=f9 uacute=fa ucirc=fb",
  "uuml=fc yacute=fd yuml=ff oelig=153 OElig=152 scaron=161 Scaron=160 colon=3a comma=2c period=2e lpar=28",
  "rpar=29 lsqb=5b rsqb=5d lbrack=5b rbrack=5d lcub=7b rcub=7d sol=2f bsol=5c vert=7c excl=21 quest=3f equals=3d",
].join(" ");

const names: ReadonlyMap<string, string> = new Map(
  table.split(" ").map((entry) => {
    const [name = "", code = ""] = entry.split("=");
    return [name, String.fromCodePoint(Number.parseInt(code, 16))];
  }),
);
