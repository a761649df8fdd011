import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import type { PodParts } from '../../../test/builders/create-pod.ts'
import { parseAmounts } from '../../model/resources/compute-pod-requests.ts'
import { computeAdmission, isOnlyAgainstMarks } from './compute-admission.ts'
import type { AdmissionInfo } from './compute-admission.ts'

const PLAIN: AdmissionInfo = {
  allowedSysctls: [],
  supplementalGroupsPolicy: false,
  appArmor: false,
  node: { metadata: { name: 'node-1' } },
  allocatable: parseAmounts({ pods: '10', cpu: '1', memory: '1Gi' }),
  otherPods: [],
  endingPods: [],
  pressures: { memory: false, disk: false, pid: false },
  taintComparisons: false,
  isShuttingDown: false,
  podLevelResources: true,
  declaredFeatures: [],
}
const sysctls = [{ name: 'kernel.sem', value: '1' }]
const appArmorProfile = { type: 'RuntimeDefault' }
const windows = { metadata: { labels: { 'kubernetes.io/os': 'windows' } }, spec: { os: { name: 'windows' } } }
const asking = (cpu: string) => [createContainer({ resources: { requests: { cpu } } })]
const pressed = { pressures: { memory: false, disk: true, pid: false } }
const full = { otherPods: [createPod({ metadata: { uid: 'u-2' }, spec: { containers: asking('700m') } })] }
const restarting = createContainer({ restartPolicyRules: [{ action: 'RestartAllContainers' }] })
const enough = "Node didn't have enough resource: cpu, requested: 500, used: 700, capacity: 1000"
const label = "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label"
const os = "Failed to admit pod as the OS field doesn't match node OS"
const selector = "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"
const noVictims =
  'Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods to preempt: ' +
  'no set of running pods found to reclaim resources: [(res: cpu, q: 500), ]'

describe('computeAdmission()', () => {
  const rows: readonly (readonly [string, PodParts, Partial<AdmissionInfo>, string | undefined])[] = [
    ['a plain pod', {}, {}, undefined],
    [
      'a node under pressure',
      { spec: { securityContext: { sysctls } } },
      pressed,
      'Evicted: The node had condition: [DiskPressure]. ',
    ],
    [
      'a sysctl, before anything about the node',
      { spec: { securityContext: { sysctls } } },
      { node: undefined },
      'SysctlForbidden: forbidden sysctl: "kernel.sem" not allowlisted',
    ],
    ['nothing known of the node', windows, { node: undefined }, 'InvalidNodeInfo: Kubelet cannot get node info.'],
    ['a label for another system', windows, {}, `PodOSSelectorNodeLabelDoesNotMatch: ${label}`],
    ['another system', { spec: windows.spec }, {}, `PodOSNotSupported: ${os}`],
    [
      'this system',
      { metadata: { labels: { 'kubernetes.io/os': 'linux' } }, spec: { os: { name: 'linux' } } },
      {},
      undefined,
    ],
    [
      'groups that the runtime cannot keep apart',
      { spec: { securityContext: { supplementalGroupsPolicy: 'Strict' }, containers: asking('9') } },
      {},
      'SupplementalGroupsPolicyNotSupported: SupplementalGroupsPolicy=Strict is not supported in this node',
    ],
    [
      'too little room, before the rest',
      { spec: { containers: asking('500m'), nodeSelector: { a: 'b' } } },
      full,
      `OutOfcpu: ${enough}`,
    ],
    [
      'the wrong labels',
      { spec: { nodeSelector: { a: 'b' }, securityContext: { appArmorProfile } } },
      {},
      `NodeAffinity: ${selector}`,
    ],
    [
      'no AppArmor',
      { spec: { securityContext: { appArmorProfile }, containers: [restarting] } },
      {},
      'AppArmor: Cannot enforce AppArmor: AppArmor is not enabled on the host',
    ],
    [
      'a feature that the node does not have',
      { spec: { containers: [restarting] } },
      {},
      'PodFeatureUnsupported: Pod requires node features that are not available: RestartAllContainersOnContainerExits',
    ],
    [
      'a node that shuts down: no pod is preempted for a critical one',
      { spec: { containers: asking('500m'), priority: 2_000_000_000 } },
      { ...full, isShuttingDown: true },
      'NodeShutdown: Pod was rejected as the node is shutting down.',
    ],
    [
      'a critical pod that others could not make room for',
      { spec: { containers: asking('1500m'), priority: 2_000_000_000 } },
      full,
      `UnexpectedAdmissionError: ${noVictims}`,
    ],
    [
      'a critical pod in the wrong place: no pod is preempted for it',
      { spec: { containers: asking('500m'), priority: 2_000_000_000, nodeSelector: { a: 'b' } } },
      full,
      `NodeAffinity: ${selector}`,
    ],
    [
      'a critical pod that is rejected for something else: no pod is preempted for it',
      { spec: { containers: asking('500m'), priority: 2_000_000_000, securityContext: { appArmorProfile } } },
      full,
      'AppArmor: Cannot enforce AppArmor: AppArmor is not enabled on the host',
    ],
  ]
  for (const [name, parts, info, expected] of rows) {
    test(name, () => {
      const decision = computeAdmission(createPod(parts), { ...PLAIN, ...info })
      assert.deepEqual(
        decision.kind === 'reject' ? `${decision.rejection.reason}: ${decision.rejection.message}` : decision,
        expected ?? { kind: 'admit' },
      )
    })
  }

  test('others leave for a critical pod', () => {
    const pod = createPod({ spec: { containers: asking('500m'), priority: 2_000_000_000 } })
    assert.deepEqual(computeAdmission(pod, { ...PLAIN, ...full }), {
      kind: 'preempt',
      victims: full.otherPods,
      resource: 'cpu',
    })
  })
})

describe('isOnlyAgainstMarks()', () => {
  const tainted = { node: { ...PLAIN.node, spec: { taints: [{ key: 'k', effect: 'NoExecute' }] } } }
  const rows: readonly (readonly [PodParts, Partial<AdmissionInfo>, boolean])[] = [
    [{}, {}, false],
    [{ spec: { nodeSelector: { a: 'b' } } }, {}, true],
    [{ spec: { nodeSelector: { a: 'b' } } }, { node: undefined }, false],
    [{ spec: { nodeSelector: { a: 'b' }, nodeName: 'other' } }, {}, false],
    [{ spec: { nodeSelector: { a: 'b' }, containers: asking('2') } }, {}, false],
    [{ spec: { nodeName: 'other' } }, {}, false],
    [{}, tainted, true],
    [{ spec: { nodeSelector: { a: 'b' } } }, tainted, true],
    [{ spec: { nodeName: 'other' } }, tainted, false],
  ]
  for (const [parts, info, expected] of rows) {
    test(`${JSON.stringify(parts)} on ${JSON.stringify(info)}: ${expected}`, () => {
      assert.equal(isOnlyAgainstMarks(createPod(parts), { ...PLAIN, ...info }), expected)
    })
  }
})
