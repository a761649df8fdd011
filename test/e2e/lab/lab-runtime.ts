import process from 'node:process'

/** Names the runtime of labs: "docker", or containerd when it is not set. */
export const LAB_RUNTIME = 'DECKHAND_LAB_RUNTIME'

/** What labs run on here. */
export function labRuntimeKind(): 'containerd' | 'docker' {
  return process.env[LAB_RUNTIME] === 'docker' ? 'docker' : 'containerd'
}
