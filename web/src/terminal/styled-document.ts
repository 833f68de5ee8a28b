/**
 * The terminal writes style elements and style attributes, which the page's policy refuses: no style may come from text.
 * Here its elements take the same words through the object model, which the policy allows.
 */

/** Opens it with a stand-in for every style element that it makes, all of which it makes now. */
export function openStyled(open: () => void): void {
  const create = document.createElement.bind(document);
  const createStyled = (name: string): HTMLElement =>
    name === "style" ? standIn(create("span")) : create(name);
  Object.defineProperty(document, "createElement", { configurable: true, value: createStyled });
  try {
    open();
  } finally {
    Reflect.deleteProperty(document, "createElement");
  }
  Object.defineProperty(HTMLSpanElement.prototype, "setAttribute", {
    configurable: true,
    value: setAttribute,
  });
}

/** The cells of the terminal are spans, and get their true colours as an attribute. */
function setAttribute(this: HTMLElement, name: string, value: string): void {
  if (name === "style") this.style.cssText = value;
  else Element.prototype.setAttribute.call(this, name, value);
}

/** An element without words; what would be its text is a sheet of the document for as long as it lives. */
function standIn(element: HTMLElement): HTMLElement {
  const sheet = new CSSStyleSheet();
  element.hidden = true;
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  Object.defineProperties(element, {
    textContent: { set: (rules: string) => sheet.replaceSync(rules) },
    remove: {
      value: () => {
        document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet);
        Element.prototype.remove.call(element);
      },
    },
  });
  return element;
}
