/** The library that writes certificates. It is large, and most starts make none, so it is loaded when one is made. */
export async function loadX509() {
  return await import('./x509-library.ts')
}
