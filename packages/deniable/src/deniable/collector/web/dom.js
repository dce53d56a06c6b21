/** Elements without markup: a text never becomes HTML. */

/** The address of the survey that this page belongs to. Everything is fetched from there, whatever path a proxy puts before it. */
export const base = new URL(".", location.href).href.replace(/\/$/, "");

const SVG = "http://www.w3.org/2000/svg";

function filled(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.flat(2).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

/** An element; attributes that are functions listen, as in { onclick: () => ... }. */
export const el = (name, attributes = {}, ...children) => filled(document.createElement(name), attributes, children);

/** The same for a drawing. */
export const svg = (name, attributes = {}, ...children) => filled(document.createElementNS(SVG, name), attributes, children);

export const byId = (id) => document.getElementById(id);

/** Say something to everybody, also to those who listen. */
export function say(text) {
  byId("status").textContent = text;
}

/** Replace what is on stage and move the focus to its heading, so that a screen reader begins there. */
export function stage(...children) {
  const place = byId("stage");
  place.replaceChildren(...children.flat().filter(Boolean));
  const heading = place.querySelector("h2[tabindex]");
  if (heading) heading.focus({ preventScroll: false });
}

/** A card with a heading that can take the focus. */
export const card = (title, kind, ...children) =>
  el("section", { class: `card ${kind}` }, el("h2", { tabindex: "-1" }, title), ...children);

/** Hand a file to the person. */
export function save(name, content, media) {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type: media }));
  const link = el("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
