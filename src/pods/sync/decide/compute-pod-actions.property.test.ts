import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { arbitraryObservedPod, arbitraryPod } from '../../../../test/builders/arbitrary-pod.ts'
import { SimulatedPod } from '../../../../test/fakes/simulated-pod.ts'
import type { Endings } from '../../../../test/fakes/simulated-pod.ts'
import type { Container } from '../../../model/generated/core-v1.ts'
import { newestInstance } from '../../../model/pod/observed-pod.ts'
import type { ObservedPod } from '../../../model/pod/observed-pod.ts'
import { isSidecar } from '../../../model/pod/pod-containers.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import { mayRestart } from '../../../model/pod/restart-policy.ts'
import { computePodActions } from './compute-pod-actions.ts'
import type { PodActions } from './pod-actions.ts'

const anyPod = arbitraryPod({ ownPolicies: true, deleted: true })
const anyObserved = arbitraryObservedPod({ states: ['created', 'running', 'exited', 'unknown'], changed: true })
const anyEndings: fc.Arbitrary<Endings> = fc.dictionary(
  fc.constantFrom('i0', 'i1', 'i2', 'r0', 'r1'),
  fc.array(fc.constantFrom(0, 1, 42), { maxLength: 3 }),
)
// Five containers with at most three scripted ends each, each of which may restart all, a few kills and a few sandboxes.
const MOST_PASSES = 200

/** Lets decision and runtime take turns until nothing is left to do; checks each decision before it is carried out. */
function settle(simulated: SimulatedPod, pod: Pod, check: (actions: PodActions, observed: ObservedPod) => void): void {
  for (let pass = 0; pass < MOST_PASSES; pass += 1) {
    const { observed, backOff, now } = simulated
    const probes = { liveness: new Map(), startup: new Map() }
    const actions = computePodActions({
      pod,
      observed,
      probes,
      backOff,
      actuated: undefined,
      failedStarts: new Set(),
      now,
    })
    check(actions, observed)
    const does = actions.killPod || actions.createSandbox || actions.reset !== undefined
    if (does || actions.kill.length + actions.start.length > 0) {
      simulated.apply(actions)
    } else if (actions.backingOff.length > 0) {
      simulated.now = Math.min(...actions.backingOff.map(({ untilMs }) => untilMs))
    } else if (!simulated.finishInit()) return
  }
  assert.fail(`still at work after ${MOST_PASSES} passes`)
}

const findContainer = (pod: Pod, name: string): Container | undefined =>
  [...(pod.spec.initContainers ?? []), ...pod.spec.containers].find((container) => container.name === name)

describe('computePodActions() for any pod and any state of the runtime', () => {
  test('has an answer', () => {
    const verdicts = fc
      .dictionary(fc.constantFrom('i0-0', 'i1-0', 'r0-0', 'r1-1'), fc.boolean())
      .map((answers) => new Map(Object.entries(answers)))
    fc.assert(
      fc.property(
        anyPod,
        anyObserved,
        fc.record({ liveness: verdicts, startup: verdicts }),
        (pod, observed, probes) => {
          const backOff = new Map([['r0', { delayMs: 10_000, lastStartAt: 0 }]])
          const actions = computePodActions({
            pod,
            observed,
            probes,
            backOff,
            actuated: undefined,
            failedStarts: new Set(),
            now: 5000,
          })
          const names = [...actions.start, ...actions.backingOff].map(({ name }) => name)
          assert.equal(new Set(names).size, names.length, 'a container is named twice')
          if (actions.killPod) assert.deepEqual(actions.kill, [])
          if (!actions.createSandbox && actions.start.length > 0) assert.equal(actions.killPod, false)
        },
      ),
    )
  })

  test('comes to an end, with at most one instance of each container running', () => {
    fc.assert(
      fc.property(anyPod, anyObserved, anyEndings, (pod, observed, endings) => {
        const simulated = new SimulatedPod(pod, observed, endings)
        settle(simulated, pod, () => {})
        const running = simulated.observed.containers.filter(({ state }) => state === 'running').map(({ name }) => name)
        assert.equal(new Set(running).size, running.length)
      }),
      { numRuns: 500 },
    )
  })

  test('leaves every container of a pod that always restarts running', () => {
    const pods = arbitraryPod({ ownPolicies: false, policy: 'Always' })
    fc.assert(
      fc.property(pods, anyObserved, anyEndings, (pod, observed, endings) => {
        const simulated = new SimulatedPod(pod, observed, endings)
        settle(simulated, pod, () => {})
        for (const { name } of pod.spec.containers)
          assert.equal(newestInstance(simulated.observed, name)?.state, 'running')
      }),
    )
  })

  test('starts nothing that ended and may not start again', () => {
    fc.assert(
      fc.property(anyPod, anyObserved, anyEndings, (pod, initial, endings) => {
        settle(new SimulatedPod(pod, initial, endings), pod, (actions, observed) => {
          for (const { kind, name } of actions.start) {
            const instance = newestInstance(observed, name)
            const container = findContainer(pod, name)
            if (instance?.state !== 'exited' || container === undefined) continue
            const succeeded = kind === 'init' && instance.exitCode === 0
            if (!succeeded) assert.equal(mayRestart(pod, container, instance.exitCode), true, name)
          }
        })
      }),
      { numRuns: 500 },
    )
  })

  test('runs no init container again that ended well in the same sandbox', () => {
    fc.assert(
      fc.property(anyPod, anyObserved, anyEndings, (pod, initial, endings) => {
        settle(new SimulatedPod(pod, initial, endings), pod, (actions, observed) => {
          if (actions.createSandbox) return
          for (const { kind, name } of actions.start) {
            const container = findContainer(pod, name)
            if (kind !== 'init' || container === undefined || isSidecar(container)) continue
            const instance = newestInstance(observed, name)
            const endedWell = instance?.state === 'exited' && instance.exitCode === 0 && instance.reason !== 'OOMKilled'
            assert.equal(endedWell, false, name)
          }
        })
      }),
      { numRuns: 500 },
    )
  })

  test('starts no container twice in a pod that never restarts', () => {
    const pods = arbitraryPod({ ownPolicies: false, policy: 'Never' })
    const states = arbitraryObservedPod({ states: ['created', 'running', 'exited'], changed: false })
    // Such a pod never has two instances of one container.
    const isPossible = (observed: ObservedPod) =>
      observed.containers.every((container) => newestInstance(observed, container.name) === container)
    fc.assert(
      fc.property(pods, states, anyEndings, (pod, observed, endings) => {
        fc.pre(isPossible(observed))
        const simulated = new SimulatedPod(pod, observed, endings)
        settle(simulated, pod, () => {})
        const before = observed.containers.filter(({ state }) => state !== 'created').map(({ name }) => name)
        const starts = [...new Set(before), ...simulated.started]
        assert.equal(new Set(starts).size, starts.length, starts.join(' '))
      }),
      { numRuns: 500 },
    )
  })

  test('starts nothing in a pod that is being deleted', () => {
    const pods = anyPod.filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
    fc.assert(
      fc.property(pods, anyObserved, (pod, observed) => {
        const simulated = new SimulatedPod(pod, observed, {})
        settle(simulated, pod, ({ createSandbox }) => assert.equal(createSandbox, false))
        assert.deepEqual(simulated.started, [])
      }),
    )
  })
})
