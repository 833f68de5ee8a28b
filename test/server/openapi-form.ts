// The form of an OpenAPI 3.1 document, as far as ours uses it, in our own words after the specification. Closed: a member
// that it does not name is a mistake, except for `x-` ones.
const text = { type: "string" };
const list = (items: object) => ({ type: "array", items });
const map = (values: object, keys?: string) => ({
  type: "object",
  additionalProperties: values,
  ...(keys === undefined ? {} : { propertyNames: { pattern: keys } }),
});
const closed = (properties: object, required: readonly string[] = []) => ({
  type: "object",
  properties,
  required,
  patternProperties: { "^x-": true },
  additionalProperties: false,
});
const refTo = (what: string) =>
  closed({ $ref: { type: "string", pattern: `^#/components/${what}/[\\w.-]+$` } }, ["$ref"]);

/** Every embedded schema is compiled by a validator of its dialect beside this. */
const schema = { type: ["object", "boolean"] };
const content = map(closed({ schema }), "^[\\w.+-]+/[\\w.+*-]+$");

const parameter = closed(
  {
    name: text,
    in: { enum: ["query", "header", "path", "cookie"] },
    description: text,
    required: { type: "boolean" },
    schema,
  },
  ["name", "in", "schema"],
);
const response = closed({ description: text, content }, ["description"]);
const operation = closed(
  {
    operationId: text,
    summary: text,
    description: text,
    tags: list(text),
    parameters: list({
      allOf: [
        parameter,
        {
          if: { properties: { in: { const: "path" } } },
          then: { properties: { required: { const: true } }, required: ["required"] },
        },
      ],
    }),
    requestBody: closed({ description: text, required: { type: "boolean" }, content }, ["content"]),
    responses: {
      ...map({ anyOf: [response, refTo("responses")] }, "^([1-5]\\d\\d|default)$"),
      minProperties: 1,
    },
    security: list(map(list(text))),
  },
  ["operationId", "responses"],
);
const securityScheme = {
  oneOf: [
    closed({ type: { const: "http" }, scheme: text, description: text }, ["type", "scheme"]),
    closed(
      {
        type: { const: "apiKey" },
        in: { enum: ["query", "header", "cookie"] },
        name: text,
        description: text,
      },
      ["type", "in", "name"],
    ),
  ],
};

export const openApiForm = closed(
  {
    openapi: { type: "string", pattern: "^3\\.1\\.\\d+$" },
    info: closed(
      {
        title: text,
        version: text,
        description: text,
        license: closed({ name: text, identifier: text }, ["name"]),
      },
      ["title", "version"],
    ),
    servers: list(
      closed({ url: text, description: text, variables: map(closed({ default: text }, ["default"])) }, [
        "url",
      ]),
    ),
    security: list(map(list(text))),
    tags: list(closed({ name: text, description: text }, ["name"])),
    paths: map(
      closed({ get: operation, post: operation, put: operation, patch: operation, delete: operation }),
      "^/",
    ),
    components: closed({
      schemas: map(schema, "^[\\w.-]+$"),
      responses: map(response, "^[\\w.-]+$"),
      securitySchemes: map(securityScheme, "^[\\w.-]+$"),
    }),
  },
  ["openapi", "info", "paths"],
);
