import { TaskGroup } from '../../../src/base/async/task-group.ts'
import type { KubeClient } from '../../../src/protocols/kube-api/kube-client.ts'
import { openClient } from '../../../src/standalone/node/api/open-client.ts'
import { addNode } from './add-node.ts'
import type { BehaviourCase, Outcome } from './behaviour-case.ts'
import { CaseWorld, SHOWN_KINDS } from './case-world.ts'
import { NamespaceObjects } from './namespace-objects.ts'
import { NODE, PodActor } from './pod-actor.ts'

/** A control plane whose controllers are compared. */
export interface ControlledApi extends AsyncDisposable {
  /** A kubeconfig file of an administrator. */
  readonly kubeconfig: string
  readonly quietMs: number
  /** How many cases run beside each other. */
  readonly atOnce: number
}

/** What came of the cases, by their names; an error where one did not get to its end. */
export async function runBehaviour(
  api: ControlledApi,
  cases: readonly BehaviourCase[],
): Promise<ReadonlyMap<string, Outcome | Error>> {
  const over = new AbortController()
  await using tasks = new TaskGroup(over.signal)
  const client = await openClient(Math.random, api.kubeconfig, tasks)
  await addNode(client, NODE, {}, over.signal)
  const objects = new NamespaceObjects()
  const loops = [new PodActor(client).run(over.signal), objects.run(client, SHOWN_KINDS, over.signal)]
  const running = Promise.all(loops).catch((error: unknown) => {
    if (!over.signal.aborted) throw error
  })
  const outcomes = new Map<string, Outcome | Error>()
  // Those that wait begin first.
  const left = cases
    .map((each, index) => ({ each, namespace: `behaviour-${index}q` }))
    .toSorted((a, b) => Number(b.each.isSlow ?? false) - Number(a.each.isSlow ?? false))
  const work = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const { each, namespace } = next
      const world = new CaseWorld({ client, objects, namespace, quietMs: api.quietMs, signal: over.signal })
      outcomes.set(each.name, await runCase(client, world, each, over.signal))
    }
  }
  await Promise.all(Array.from({ length: api.atOnce }, work))
  over.abort(new Error('all cases are over'))
  await running
  return outcomes
}

async function runCase(
  client: KubeClient,
  world: CaseWorld,
  { run, name }: BehaviourCase,
  signal: AbortSignal,
): Promise<Outcome | Error> {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: world.namespace } }
  try {
    await client.send({ method: 'POST', path: '/api/v1/namespaces', body: namespace }, signal)
    await world.untilObject('serviceaccounts', 'default', (account) => account !== undefined)
    await run(world)
    return world.outcome
  } catch (error) {
    return new Error(`${name}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  } finally {
    await client.send({ method: 'DELETE', path: `/api/v1/namespaces/${world.namespace}` }, signal).catch(() => {})
  }
}
