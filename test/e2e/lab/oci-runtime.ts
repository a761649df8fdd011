import process from 'node:process'

/** Names what runs the containers of labs with containerd: "crun", or runc when it is not set. */
export const LAB_OCI_RUNTIME = 'DECKHAND_LAB_OCI_RUNTIME'

export function labOciRuntime(): string {
  return process.env[LAB_OCI_RUNTIME] ?? 'runc'
}
