/** The runtime version for the node status: a suffix after the version number is kept only where it is a semantic version. */
export function toRuntimeVersion({ name, version }: { readonly name: string; readonly version: string }): string {
  const semantic = /^v?(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?)$/.exec(version.trim())
  const plain = /^v?(\d+(?:\.\d+)+)/.exec(version.trim())
  return `${name}://${semantic?.[1] ?? plain?.[1] ?? 'Unknown'}`
}
