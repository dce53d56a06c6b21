/**
 * <deniable-survey src="address of the survey"></deniable-survey>: a survey on a page of another site. The questions are in a frame
 * of the collector, so the page around it cannot read the answers. Its language is that of `lang`, or else the browser's. Fires `deniable-state` with "sent" when the report has arrived.
 */

const STYLE = "display:block;width:100%;border:0;min-height:20rem";

class DeniableSurvey extends HTMLElement {
  static observedAttributes = ["src", "title", "lang"];
  #frame = null;
  #title = "deniable"; // until the frame says its own
  #heard = (event) => this.#listen(event);

  connectedCallback() {
    addEventListener("message", this.#heard);
    this.#show();
  }

  disconnectedCallback() {
    removeEventListener("message", this.#heard);
    this.#frame?.remove();
    this.#frame = null;
  }

  attributeChangedCallback() {
    if (this.isConnected) this.#show();
  }

  #show() {
    const source = this.getAttribute("src");
    if (!source) return;
    const address = new URL(source, document.baseURI), language = this.getAttribute("lang");
    if (address.protocol !== "https:" && address.protocol !== "http:") return;
    if (language && !address.searchParams.has("lang")) address.searchParams.set("lang", language.split("-")[0]);
    const { href } = address;
    this.#frame ??= this.appendChild(document.createElement("iframe"));
    this.#frame.title = this.getAttribute("title") ?? this.#title;
    this.#frame.style.cssText = STYLE;
    this.#frame.referrerPolicy = "no-referrer";
    if (this.#frame.src !== href) this.#frame.src = href;
  }

  #listen({ source, origin, data }) {
    const frame = this.#frame;
    if (!frame || source !== frame.contentWindow || origin !== new URL(frame.src).origin || data?.deniable !== 1) return;
    if (data.height > 0 && data.height < 100_000) frame.style.height = `${data.height}px`;
    if (typeof data.title === "string") {
      this.#title = data.title.slice(0, 300);
      frame.title = this.getAttribute("title") ?? this.#title;
    }
    if (typeof data.state === "string") this.dispatchEvent(new CustomEvent("deniable-state", { detail: data.state, bubbles: true }));
  }
}

if (!customElements.get("deniable-survey")) customElements.define("deniable-survey", DeniableSurvey);
