// Node names little-endian PowerPC without saying so; Kubernetes knows no other.
const NAMES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386', ppc64: 'ppc64le' }

/** The architecture as Go names it, and with it all of Kubernetes. */
export function toGoArchitecture(architecture: string): string {
  return NAMES[architecture] ?? architecture
}
