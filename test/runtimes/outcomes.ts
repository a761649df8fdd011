import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Pod } from '../../src/model/pod/pod.ts'
import { CriCallError } from '../../src/protocols/cri/cri-call-error.ts'
import type { TestNode } from '../e2e/support/test-node.ts'

/** True when the runtime has a method at all, whatever it answers. */
export async function hasMethod(call: () => Promise<unknown>): Promise<boolean> {
  try {
    await call()
    return true
  } catch (error) {
    return !(error instanceof CriCallError && error.code === 'Unimplemented')
  }
}

/** The runtime cannot do it, and the agent says so before anything is created: a case of its own in the count. */
export async function assertRejected(t: TestContext, node: TestNode, name: string, reason: RegExp): Promise<void> {
  const { status } = await node.podIs(name, 'rejected', (pod: Pod) => pod.status?.phase === 'Failed')
  assert.match(`${status?.reason}: ${status?.message}`, reason)
  assert.deepEqual(await node.containers(name), [])
  refused(t, status?.message ?? '')
}

/** Refused with a reason that the user sees. */
export function refused(t: TestContext, reason: string): void {
  t.skip(`refused: ${reason}`)
}

/** Nothing is refused and nothing is missing: the runtime has no such thing to show. */
export function notApplicable(t: TestContext, reason: string): void {
  t.skip(`not applicable: ${reason}`)
}
