import type { NodeLayout } from './node-layout.ts'

/** What commands about this node need to find it. */
export function stateOption({ state }: NodeLayout): string {
  return state === '/var/lib/deckhand' ? '' : ` --state ${state}`
}
