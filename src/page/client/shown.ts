// A browser has six connections for all pages of an origin, and keeps pages that were left with theirs: one that is not seen must not hold any.
const HIDDEN_MS = 3000

const listeners = new Set<() => void>()
let shown = true
let timer: number | undefined

/** Whether the page is seen, or was a moment ago. */
export function isShown(): boolean {
  return shown
}

/** Calls the listener at each change until the function that it gives is called. */
export function onShown(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export async function waitUntilShown(): Promise<void> {
  if (shown) return
  await new Promise<void>((resolve) => {
    const leave = onShown(() => {
      leave()
      resolve()
    })
  })
}

function set(isNow: boolean): void {
  clearTimeout(timer)
  if (shown === isNow) return
  shown = isNow
  for (const listener of listeners) listener()
}

/** Begins to watch; called once. */
export function watchShown(): void {
  // One may be opened in a tab behind.
  shown = !document.hidden
  document.addEventListener('visibilitychange', () => {
    clearTimeout(timer)
    if (document.hidden) timer = setTimeout(() => set(false), HIDDEN_MS)
    else set(true)
  })
  globalThis.addEventListener('pagehide', () => set(false))
  globalThis.addEventListener('pageshow', () => set(true))
}
