// Stands for `zod/mini` in the bundle of the command: a schema is written down as what would make it, and is made when it
// is first asked for something. Only `zod/mini` as Keel uses it: functions that are given schemas, texts and functions.
"use strict";

let loaded;
const library = () => {
  loaded ??= require("./schemas.mjs");
  return loaded;
};
const made = new WeakMap();

/** What the library itself must see. */
function real(value) {
  if (typeof value !== "object" || value === null) return value;
  const make = made.get(value);
  if (make) return make();
  if (Array.isArray(value)) return value.map(real);
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, real(inner)]));
}

/** `fields`: the schemas of an object's members, where they are known without making it. */
function later(make, fields) {
  let schema;
  const get = () => {
    schema ??= make();
    return schema;
  };
  const stand = new Proxy(
    {},
    {
      get(_, key) {
        if (key === "check") return (...checks) => later(() => get().check(...checks.map(real)));
        if (key === "shape" && fields) return fields(get);
        const value = get()[key];
        return typeof value === "function" ? value.bind(get()) : value;
      },
      has: (_, key) => key in get(),
      getPrototypeOf: () => Object.getPrototypeOf(get()),
    },
  );
  made.set(stand, get);
  return stand;
}

const standFor = (name) => {
  // The one that gives no schema.
  if (name === "toJSONSchema") return (...given) => library()[name](...given.map(real));
  const make = (given) => () => library()[name](...given.map(real));
  if (/^(object|looseObject|strictObject)$/.test(name))
    return (...given) => later(make(given), () => given[0]);
  // Each of them is another one, but they have the same names.
  if (name === "partial")
    return (...given) =>
      later(make(given), (get) =>
        Object.fromEntries(Object.keys(given[0].shape).map((key) => [key, later(() => get().shape[key])])),
      );
  return (...given) => later(make(given));
};

module.exports = { standFor };
