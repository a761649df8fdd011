// As Go names them, and with it all of Kubernetes.
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' }

/** The labels that every node gives itself; persistent volumes say by them where they can be used. */
export function nodeLabels(nodeName: string, architecture: string): Readonly<Record<string, string>> {
  const arch = ARCHITECTURES[architecture] ?? architecture
  return { 'kubernetes.io/hostname': nodeName, 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': arch }
}
