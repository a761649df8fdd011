/** The library that writes certificates. It is large, and most starts make none, so it is loaded when one is made. */
export async function loadX509() {
  // Its decorators need this to be there first.
  await import('reflect-metadata')
  return await import('@peculiar/x509')
}
