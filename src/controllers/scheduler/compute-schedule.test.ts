import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import type { PodParts } from '../../../test/builders/create-pod.ts'
import type { Container, Node, PodAffinityTerm, PodSpec } from '../../model/generated/core-v1.ts'
import type { Pod } from '../../model/pod/pod.ts'
import type { ClusterView } from './cluster-view.ts'
import { computeSchedule } from './compute-schedule.ts'
import type { SchedulingDecision } from './compute-schedule.ts'

const VAIN = ' preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.'
const NONE = ' preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.'
const LABELS = { 'kubernetes.io/hostname': 'node-1', disk: 'ssd' }
const ready = { type: 'Ready', status: 'True' }
const node: Node = {
  metadata: { name: 'node-1', labels: LABELS },
  status: { allocatable: { cpu: '2', memory: '1Gi', pods: '3', 'example.com/gpu': '1' }, conditions: [ready] },
}
const view: ClusterView = { node, pods: [], claims: [], volumes: [], storageClasses: [], namespaces: [], budgets: [] }

function asking(requests: Record<string, string>, container: Partial<Container> = {}): Pick<PodSpec, 'containers'> {
  return { containers: [createContainer({ ...container, resources: { requests } })] }
}

function pod(name: string, { metadata, spec, status }: PodParts = {}): Pod {
  return createPod({
    metadata: { name, uid: `u-${name}`, labels: { app: name }, ...metadata },
    spec: { schedulerName: 'default-scheduler', ...spec },
    status: { phase: 'Pending', ...status },
  })
}

/** One that is on the node. */
function present(name: string, parts: PodParts = {}): Pod {
  return pod(name, {
    ...parts,
    spec: { nodeName: 'node-1', ...parts.spec },
    status: { phase: 'Running', ...parts.status },
  })
}

function decide(overrides: Partial<ClusterView>): readonly SchedulingDecision[] {
  return computeSchedule({ ...view, ...overrides })
}

/** "web bound", the claims that get volumes first, or the message that it waits with. */
function outcomes(overrides: Partial<ClusterView>): readonly string[] {
  return decide(overrides).map((decision) => {
    const { name } = decision.pod.metadata
    if (decision.kind === 'bind') return `${name} bound`
    if (decision.kind === 'wait') return decision.message
    const claims = decision.claims.map((each) => `${each.claim.metadata?.name}=${each.volume?.metadata?.name ?? 'new'}`)
    return `${name} claims ${claims.join()}`
  })
}

const port = (hostPort: number, more = {}) => ({
  containers: [createContainer({ ports: [{ containerPort: 80, hostPort, ...more }] })],
})
const taint = (effect: string) => ({ ...node, spec: { taints: [{ key: 'k', value: 'v', effect }] } })
const notReady = { ...node, status: { ...node.status, conditions: [{ type: 'Ready', status: 'False' }] } }
const terms = (kind: 'podAffinity' | 'podAntiAffinity', ...required: PodAffinityTerm[]) => ({
  affinity: { [kind]: { requiredDuringSchedulingIgnoredDuringExecution: required } },
})
const near = (app: string, more: Partial<PodAffinityTerm> = {}): PodAffinityTerm => ({
  topologyKey: 'kubernetes.io/hostname',
  labelSelector: { matchLabels: { app } },
  ...more,
})
const claimed = { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] }
const claim = (spec = {}, metadata = {}) => ({
  metadata: { name: 'c', namespace: 'shop', ...metadata },
  spec: { volumeName: 'pv', ...spec },
  status: { phase: 'Bound' },
})
const volume = (values: string[], more = {}) => ({
  metadata: { name: 'pv' },
  spec: {
    ...more,
    nodeAffinity: {
      required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'disk', operator: 'In', values }] }] },
    },
  },
})

const free = { storageClassName: 'late', capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] }
/** A claim that gets its volume when a pod needs it. */
const later = (provisioner = 'example.com/disks') => ({
  storageClasses: [{ metadata: { name: 'late' }, provisioner, volumeBindingMode: 'WaitForFirstConsumer' }],
  claims: [
    {
      ...claim({ volumeName: '', ...free, resources: { requests: { storage: '1Gi' } } }),
      status: { phase: 'Pending' },
    },
  ],
})

const rows: readonly (readonly [what: string, expected: readonly string[], overrides: Partial<ClusterView>])[] = [
  ['fits', ['web bound'], { pods: [pod('web')] }],
  ['no node', ['no nodes available to schedule pods'], { node: undefined, pods: [pod('web')] }],
  ['has a node', [], { pods: [present('web')] }],
  ['is for another scheduler', [], { pods: [pod('web', { spec: { schedulerName: 'mine' } })] }],
  ['has gates', [], { pods: [pod('web', { spec: { schedulingGates: [{ name: 'g' }] } })] }],
  ['is being deleted', [], { pods: [pod('web', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })] }],
  ['has ended', [], { pods: [pod('web', { status: { phase: 'Failed' } })] }],
  [
    'cordon',
    [`0/1 nodes are available: 1 node(s) were unschedulable.${VAIN}`],
    { node: { ...node, spec: { unschedulable: true } }, pods: [pod('web')] },
  ],
  [
    'cordon that is tolerated',
    ['web bound'],
    {
      node: { ...node, spec: { unschedulable: true } },
      pods: [pod('web', { spec: { tolerations: [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }] } })],
    },
  ],
  [
    'taint NoSchedule',
    [`0/1 nodes are available: 1 node(s) had untolerated taint(s).${VAIN}`],
    { node: taint('NoSchedule'), pods: [pod('web')] },
  ],
  [
    'taint NoExecute',
    [`0/1 nodes are available: 1 node(s) had untolerated taint(s).${VAIN}`],
    { node: taint('NoExecute'), pods: [pod('web')] },
  ],
  ['taint PreferNoSchedule', ['web bound'], { node: taint('PreferNoSchedule'), pods: [pod('web')] }],
  [
    'taint that is tolerated',
    ['web bound'],
    { node: taint('NoSchedule'), pods: [pod('web', { spec: { tolerations: [{ key: 'k', value: 'v' }] } })] },
  ],
  [
    'node that is not ready',
    [`0/1 nodes are available: 1 node(s) had untolerated taint(s).${VAIN}`],
    { node: notReady, pods: [pod('web')] },
  ],
  [
    'node selector',
    [`0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.${VAIN}`],
    { pods: [pod('web', { spec: { nodeSelector: { disk: 'hdd' } } })] },
  ],
  [
    'host port in use',
    [`0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports.${NONE}`],
    { pods: [present('a', { spec: port(80) }), pod('web', { spec: port(80) })] },
  ],
  [
    'host port of a pod that has ended',
    ['web bound'],
    { pods: [present('a', { spec: port(80), status: { phase: 'Succeeded' } }), pod('web', { spec: port(80) })] },
  ],
  [
    'host port of two that wait: the first gets it',
    ['a bound', `0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports.${NONE}`],
    { pods: [pod('b', { spec: port(80) }), pod('a', { spec: port(80) })] },
  ],
  [
    'too little left',
    [`0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient memory.${NONE}`],
    {
      pods: [
        present('a', { spec: asking({ cpu: '1500m', memory: '900Mi' }) }),
        pod('web', { spec: asking({ cpu: '600m', memory: '200Mi' }) }),
      ],
    },
  ],
  [
    'more than the node has',
    [`0/1 nodes are available: 1 Insufficient cpu.${VAIN}`],
    { pods: [pod('web', { spec: asking({ cpu: '3' }) })] },
  ],
  [
    'too many pods',
    [`0/1 nodes are available: 1 Too many pods.${NONE}`],
    { pods: [present('a'), present('b'), present('c'), pod('web')] },
  ],
  [
    'an extended resource that is taken',
    [`0/1 nodes are available: 1 Insufficient example.com/gpu.${NONE}`],
    {
      pods: [
        present('a', { spec: asking({ 'example.com/gpu': '1' }) }),
        pod('web', { spec: asking({ 'example.com/gpu': '1' }) }),
      ],
    },
  ],
  [
    'an extended resource that the node does not know',
    [`0/1 nodes are available: 1 Insufficient example.com/fpga.${VAIN}`],
    { pods: [pod('web', { spec: asking({ 'example.com/fpga': '1' }) })] },
  ],
  [
    'a pod that is being made smaller holds what it still has',
    [`0/1 nodes are available: 1 Insufficient cpu.${NONE}`],
    {
      pods: [
        present('a', {
          spec: asking({ cpu: '500m' }),
          status: {
            containerStatuses: [
              {
                name: 'main',
                image: '',
                imageID: '',
                ready: true,
                restartCount: 0,
                allocatedResources: { cpu: '500m' },
                resources: { requests: { cpu: '1500m' } },
              },
            ],
          },
        }),
        pod('web', { spec: asking({ cpu: '1' }) }),
      ],
    },
  ],
  [
    'the most important goes first',
    ['b bound', `0/1 nodes are available: 1 Insufficient cpu.${NONE}`],
    {
      pods: [
        pod('a', { spec: asking({ cpu: '1500m' }) }),
        pod('b', { spec: { ...asking({ cpu: '1500m' }), priority: 10 } }),
      ],
    },
  ],
  [
    'pod affinity to none',
    [`0/1 nodes are available: 1 node(s) didn't match pod affinity rules.${VAIN}`],
    { pods: [pod('web', { spec: terms('podAffinity', near('db')) })] },
  ],
  ['pod affinity', ['web bound'], { pods: [present('db'), pod('web', { spec: terms('podAffinity', near('db')) })] }],
  ['pod affinity to itself', ['web bound'], { pods: [pod('web', { spec: terms('podAffinity', near('web')) })] }],
  [
    'pod affinity in another namespace',
    [`0/1 nodes are available: 1 node(s) didn't match pod affinity rules.${VAIN}`],
    { pods: [present('db', { metadata: { namespace: 'x' } }), pod('web', { spec: terms('podAffinity', near('db')) })] },
  ],
  [
    'pod affinity in namespaces by their labels',
    ['web bound'],
    {
      namespaces: [{ metadata: { name: 'x', labels: { team: 'a' } } }],
      pods: [
        present('db', { metadata: { namespace: 'x' } }),
        pod('web', { spec: terms('podAffinity', near('db', { namespaceSelector: { matchLabels: { team: 'a' } } })) }),
      ],
    },
  ],
  [
    'pod anti-affinity',
    [`0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules.${NONE}`],
    { pods: [present('db'), pod('web', { spec: terms('podAntiAffinity', near('db')) })] },
  ],
  [
    'anti-affinity of a pod that is there',
    [`0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules.${NONE}`],
    { pods: [present('db', { spec: terms('podAntiAffinity', near('web')) }), pod('web')] },
  ],
  [
    'spread over more domains than there are',
    ['a bound', `0/1 nodes are available: 1 node(s) didn't match pod topology spread constraints.${NONE}`],
    {
      pods: ['a', 'b'].map((name) =>
        pod(name, {
          metadata: { labels: { app: 'x' } },
          spec: {
            topologySpreadConstraints: [
              {
                maxSkew: 1,
                minDomains: 2,
                topologyKey: 'kubernetes.io/hostname',
                whenUnsatisfiable: 'DoNotSchedule',
                labelSelector: { matchLabels: { app: 'x' } },
              },
            ],
          },
        }),
      ),
    },
  ],
  [
    'claim that is missing',
    [`0/1 nodes are available: persistentvolumeclaim "c" not found.${VAIN}`],
    { pods: [pod('web', { spec: claimed })] },
  ],
  [
    'claim without a volume',
    [`0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims.${VAIN}`],
    { claims: [claim({ volumeName: '' })], pods: [pod('web', { spec: claimed })] },
  ],
  [
    'claim that waits for a pod, and for which a volume is made',
    ['web claims c=new'],
    { ...later(), pods: [pod('web', { spec: claimed })] },
  ],
  [
    'claim that waits for a pod, with a volume that is free',
    ['web claims c=pv'],
    { ...later(), volumes: [volume(['ssd'], free)], pods: [pod('web', { spec: claimed })] },
  ],
  [
    'claim that waits for a pod, without a provisioner and with a volume elsewhere',
    [`0/1 nodes are available: 1 node(s) didn't find available persistent volumes to bind.${VAIN}`],
    {
      ...later('kubernetes.io/no-provisioner'),
      volumes: [volume(['hdd'], free)],
      pods: [pod('web', { spec: claimed })],
    },
  ],
  [
    'claim that waits, and a pod that does not fit: nothing is made',
    [`0/1 nodes are available: 1 Insufficient cpu.${NONE}`],
    {
      ...later(),
      pods: [
        present('a', { spec: asking({ cpu: '2' }) }),
        pod('web', { spec: { ...claimed, ...asking({ cpu: '1' }) } }),
      ],
    },
  ],
  [
    'claim of another pod for an ephemeral volume',
    [`0/1 nodes are available: PVC shop/web-v was not created for pod shop/web (pod is not owner).${VAIN}`],
    {
      claims: [claim({}, { name: 'web-v' })],
      volumes: [volume(['ssd'])],
      pods: [pod('web', { spec: { volumes: [{ name: 'v', ephemeral: {} }] } })],
    },
  ],
  [
    'claim that is bound',
    ['web bound'],
    { claims: [claim()], volumes: [volume(['ssd'])], pods: [pod('web', { spec: claimed })] },
  ],
  [
    'volume of another node',
    [`0/1 nodes are available: 1 node(s) didn't match PersistentVolume's node affinity.${VAIN}`],
    { claims: [claim()], volumes: [volume(['hdd'])], pods: [pod('web', { spec: claimed })] },
  ],
  [
    'claim for one pod alone',
    [
      `0/1 nodes are available: 1 node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod.${NONE}`,
    ],
    {
      claims: [claim({ accessModes: ['ReadWriteOncePod'] })],
      volumes: [volume(['ssd'])],
      pods: [present('a', { spec: claimed }), pod('web', { spec: claimed })],
    },
  ],
  [
    'never preempts',
    ['0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to preemptionPolicy=Never.'],
    {
      pods: [
        present('a', { spec: asking({ cpu: '2' }) }),
        pod('web', { spec: { ...asking({ cpu: '1' }), priority: 10, preemptionPolicy: 'Never' } }),
      ],
    },
  ],
  [
    'preemption that does not help',
    ['0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Insufficient cpu.'],
    {
      pods: [
        present('a', { spec: { ...asking({ cpu: '1500m' }), priority: 100 } }),
        present('b', { spec: asking({ cpu: '100m' }) }),
        pod('web', { spec: { ...asking({ cpu: '1' }), priority: 10 } }),
      ],
    },
  ],
]

/** What each decision is: bound, or the victims, and who is promised the node. */
function preemptions(pods: readonly Pod[], budgets: ClusterView['budgets'] = []): readonly string[] {
  return decide({ pods, budgets }).map((decision) =>
    decision.kind !== 'wait'
      ? `${decision.pod.metadata.name} bound`
      : `${decision.pod.metadata.name}: ${decision.victims.map(({ metadata }) => metadata.name).join()} -> ${decision.nominatedNodeName ?? 'none'}`,
  )
}

const leaving = {
  metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' },
  status: { conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' }] },
}

describe('computeSchedule()', () => {
  for (const [what, expected, overrides] of rows) test(what, () => assert.deepEqual(outcomes(overrides), expected))

  test('preempts the least important pods, and no more of them than have to leave', () => {
    const pods = [
      present('low', { spec: { ...asking({ cpu: '1' }), priority: 1 } }),
      present('mid', { spec: { ...asking({ cpu: '500m' }), priority: 5 } }),
      present('high', { spec: { ...asking({ cpu: '500m' }), priority: 50 } }),
      pod('web', { spec: { ...asking({ cpu: '600m' }), priority: 10 } }),
    ]
    assert.deepEqual(preemptions(pods), ['web: low -> node-1'])
  })

  describe('with budgets of disruptions', () => {
    const asked = asking({ cpu: '1' })
    const pods = [
      present('db', { spec: { ...asked, priority: 1 } }),
      present('cache', { spec: { ...asked, priority: 5 } }),
      pod('web', { spec: { ...asked, priority: 10 } }),
    ]
    const budget = (name: string, disruptionsAllowed: number, more = {}) => ({
      metadata: { name, namespace: 'shop', ...more },
      spec: { selector: { matchLabels: { app: name } } },
      status: { disruptionsAllowed, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 },
    })
    const budgetRows: [title: string, budgets: ClusterView['budgets'], victim: string][] = [
      ['none: the least important', [], 'db'],
      ['of a pod that may not leave: the next one', [budget('db', 0)], 'cache'],
      ['of a pod that may leave', [budget('db', 1)], 'db'],
      ['of both: the least important', [budget('db', 0), budget('cache', 0)], 'db'],
      ['of another namespace', [budget('db', 0, { namespace: 'other' })], 'db'],
      ['for no pods', [{ ...budget('db', 0), spec: { selector: {} } }], 'db'],
      [
        'that count the leaving already',
        [{ ...budget('db', 0), status: { ...budget('db', 0).status, disruptedPods: { db: '' } } }],
        'db',
      ],
    ]
    for (const [title, budgets, victim] of budgetRows) {
      test(title, () => assert.deepEqual(preemptions(pods, budgets), [`web: ${victim} -> node-1`]))
    }

    test('a budget for one of two: the second one is protected', () => {
      const labels = { labels: { app: 'db' } }
      const two = [
        present('a', { metadata: labels, spec: { ...asked, priority: 5 } }),
        present('b', { metadata: labels, spec: { ...asked, priority: 1 } }),
        pod('web', { spec: { ...asked, priority: 10 } }),
      ]
      assert.deepEqual(preemptions(two, [budget('db', 1)]), ['web: a -> node-1'])
    })
  })

  test('preempts for a host port', () => {
    const pods = [present('a', { spec: port(80) }), pod('web', { spec: { ...port(80), priority: 1 } })]
    assert.deepEqual(preemptions(pods), ['web: a -> node-1'])
  })

  test('takes no other pod while the pods leave that were preempted for it, nor gives their room away', () => {
    const asked = { ...asking({ cpu: '1500m' }), priority: 10 }
    const pods = [
      present('low', { spec: asking({ cpu: '1' }), ...leaving }),
      present('other', { spec: asking({ cpu: '500m' }) }),
      pod('web', { spec: asked, status: { nominatedNodeName: 'node-1' } }),
      pod('small', { spec: { ...asking({ cpu: '500m' }), priority: 5 } }),
    ]
    const [first] = decide({ pods })
    assert.deepEqual(preemptions(pods), ['web:  -> node-1', 'small: other -> node-1'])
    assert.match(
      first?.kind === 'wait' ? first.message : '',
      /not eligible due to a terminating pod on the nominated node/,
    )
  })

  test('two that preempt at once do not count on the same room', () => {
    const asked = { ...asking({ cpu: '1' }), priority: 10 }
    const pods = [
      present('low', { spec: asking({ cpu: '1' }) }),
      present('next', { spec: asking({ cpu: '1' }), status: { startTime: '2026-01-01T00:00:00Z' } }),
      pod('a', { spec: asked }),
      pod('b', { spec: asked }),
    ]
    assert.deepEqual(preemptions(pods), ['a: next -> node-1', 'b: low -> node-1'])
  })
})
