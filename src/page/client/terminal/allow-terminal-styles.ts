let isAllowed = false

/**
 * The library of the terminal writes styles as text, which the policy of this page does not allow, and takes the document where it finds it. From here on its
 * styles become style sheets and properties: those are values of our own program, not text that could come from elsewhere.
 */
export function allowTerminalStyles(): void {
  if (isAllowed) return
  isAllowed = true
  Object.defineProperty(document, 'createElement', { configurable: true, value: createElement })
}

function createElement(this: Document, name: string, options?: ElementCreationOptions): HTMLElement {
  if (name === 'style') return createStyleSheet()
  const element = Document.prototype.createElement.call(this, name, options)
  if (name === 'span') Object.defineProperty(element, 'setAttribute', { configurable: true, value: setAttribute })
  return element
}

function setAttribute(this: HTMLElement, name: string, value: string): void {
  if (name === 'style') this.style.cssText = value
  else Element.prototype.setAttribute.call(this, name, value)
}

/** An element that shows nothing, and a style sheet in its place until it is removed. */
function createStyleSheet(): HTMLElement {
  const element = Document.prototype.createElement.call(document, 'template')
  const sheet = new CSSStyleSheet()
  document.adoptedStyleSheets.push(sheet)
  Object.defineProperty(element, 'textContent', {
    set(text: string) {
      sheet.replaceSync(text)
    },
  })
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((each) => each !== sheet)
    Element.prototype.remove.call(element)
  }
  return element
}
