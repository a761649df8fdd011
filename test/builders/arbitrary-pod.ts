import * as fc from 'fast-check'
import type { Container } from '../../src/model/generated/core-v1.ts'
import type { ObservedContainer, ObservedPod } from '../../src/model/pod/observed-pod.ts'
import type { Pod } from '../../src/model/pod/pod.ts'
import { createInstance, createObservedPod, createObservedSandbox } from './create-observed-pod.ts'
import { createContainer, createPod } from './create-pod.ts'

const INIT_NAMES = ['i0', 'i1', 'i2']
const REGULAR_NAMES = ['r0', 'r1']
const EXIT_CODES = [0, 1, 42]

const policy = fc.constantFrom('Always', 'OnFailure', 'Never')
const ownPolicy = fc.oneof(
  { weight: 2, arbitrary: fc.constant<Partial<Container>>({}) },
  fc.record({ restartPolicy: policy }),
  fc
    .record({ restartPolicy: policy, action: fc.constantFrom('Restart', 'RestartAllContainers') })
    .map(({ restartPolicy, action }) => ({
      restartPolicy,
      restartPolicyRules: [{ action, exitCodes: { operator: 'In', values: [42] } }],
    })),
)

export interface PodChoices {
  /** Containers may have policies of their own; sidecars are such. */
  readonly ownPolicies: boolean
  /** All of one policy. */
  readonly policy?: string
  readonly deleted?: boolean
}

/** Pods with up to three init containers and sidecars, and one or two regular ones. */
export function arbitraryPod(choices: PodChoices): fc.Arbitrary<Pod> {
  const own = choices.ownPolicies ? ownPolicy : fc.constant<Partial<Container>>({})
  const list = (names: readonly string[], minLength: number) =>
    fc
      .array(own, { minLength, maxLength: names.length })
      .map((parts) => parts.map((part, index) => createContainer({ name: names[index] ?? '', ...part })))
  return fc
    .record({
      restartPolicy: choices.policy === undefined ? policy : fc.constant(choices.policy),
      initContainers: list(INIT_NAMES, 0),
      containers: list(REGULAR_NAMES, 1),
      deleted: choices.deleted === true ? fc.boolean() : fc.constant(false),
    })
    .map(({ deleted, ...spec }) =>
      createPod({ metadata: deleted ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}, spec }),
    )
}

export interface ObservedChoices {
  readonly states: readonly ObservedContainer['state'][]
  /** Instances may come from another image. */
  readonly changed: boolean
}

/** What a runtime may have of such a pod: up to two sandboxes, and instances in them, newest first. */
export function arbitraryObservedPod({ states, changed }: ObservedChoices): fc.Arbitrary<ObservedPod> {
  const sandbox = fc.record({ ready: fc.boolean(), hasIp: fc.boolean() })
  const container = fc.record({
    name: fc.constantFrom(...INIT_NAMES, ...REGULAR_NAMES),
    state: fc.constantFrom(...states),
    exitCode: fc.constantFrom(...EXIT_CODES),
    reason: fc.constantFrom('Error', 'OOMKilled'),
    isChanged: changed ? fc.boolean() : fc.constant(false),
    inOld: fc.boolean(),
  })
  return fc
    .record({ sandboxes: fc.array(sandbox, { maxLength: 2 }), containers: fc.array(container, { maxLength: 8 }) })
    .map((made) => {
      const sandboxes = made.sandboxes.map(({ ready, hasIp }, index) =>
        createObservedSandbox({
          id: `s${made.sandboxes.length - index - 1}`,
          attempt: made.sandboxes.length - index - 1,
          ready,
          ips: hasIp ? ['10.0.0.2'] : [],
        }),
      )
      const containers = made.containers.map(({ name, state, exitCode, reason, isChanged, inOld }, index) => {
        const restartCount = made.containers.slice(index + 1).filter((other) => other.name === name).length
        const sandboxId = (inOld ? sandboxes.at(-1) : sandboxes[0])?.id ?? ''
        const ended = state === 'exited' ? { exitCode, reason } : {}
        return createInstance({
          name,
          state,
          restartCount,
          sandboxId,
          createdAt: made.containers.length - index,
          ...ended,
          ...(isChanged ? { hash: 'old' } : {}),
        })
      })
      // Containers live in sandboxes: without any there are none.
      return createObservedPod({ sandboxes, containers: sandboxes.length === 0 ? [] : containers })
    })
}
