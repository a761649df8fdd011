import type { AnyObject, BehaviourCase } from '../behaviour-case.ts'
import type { CaseWorld } from '../case-world.ts'
import { ENDS } from '../pod-actor.ts'
import { daemonSet, template, templateOf } from './objects.ts'

/** A node for this case alone: others run beside it. */
async function withNode(
  world: CaseWorld,
  run: (node: string) => Promise<void>,
  taints?: readonly object[],
): Promise<void> {
  const name = `${world.namespace}-node`
  await world.addNode(name, { labels: { [world.namespace]: 'yes' }, ...(taints && { taints }) })
  try {
    await run(name)
  } finally {
    await world.send({ method: 'DELETE', path: world.path('nodes', name) })
  }
}

const set = (world: CaseWorld, spec: object = {}, does = 'ready', podSpec: object = {}, fields: object = {}) =>
  daemonSet('web', {
    template: template('web', does, fields, { nodeSelector: { [world.namespace]: 'yes' }, ...podSpec }),
    ...spec,
  })

const isDone = ({ metadata, status = {} }: AnyObject) =>
  status.observedGeneration === metadata.generation &&
  status.desiredNumberScheduled === 1 &&
  status.updatedNumberScheduled === 1 &&
  status.numberAvailable === 1

async function started(world: CaseWorld, ...rest: readonly [object?, string?, object?, object?]): Promise<void> {
  await world.create('daemonsets', set(world, ...rest))
  await world.untilObject('daemonsets', 'web', isDone)
}

/** Of two pods of one node the older one counts, and times have seconds. */
async function anotherSecond(world: CaseWorld): Promise<void> {
  const [{ metadata }] = await world.list('pods')
  const end = Date.parse(metadata.creationTimestamp) + 1000
  await world.until(
    'another second',
    async () => Date.now(),
    (now) => now >= end,
  )
}

const surge = { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } }
const taint = (effect: string, key = 'example.com/bad') => ({ spec: { taints: [{ key, effect }] } })
const toleration = { tolerations: [{ key: 'example.com/bad', operator: 'Exists' }] }

const onNode = (
  name: string,
  run: (world: CaseWorld, node: string) => Promise<void>,
  { isSlow = false, taints }: { readonly isSlow?: boolean; readonly taints?: readonly object[] } = {},
): BehaviourCase => ({
  name: `DaemonSet: ${name}`,
  ...(isSlow && { isSlow }),
  run: (world) => withNode(world, (node) => run(world, node), taints),
})

const tainted = (name: string, effect: string, key?: string): BehaviourCase =>
  onNode(`a running pod and a taint of ${name}`, async (world, node) => {
    await started(world)
    await world.patch('nodes', node, taint(effect, key))
    // The real one counts again only when something else happens.
    await world.patch('daemonsets', 'web', { metadata: { annotations: { touched: 'yes' } } })
    await world.snap('tainted')
  })

const neverMade = (name: string, effect: string, key?: string, podSpec: object = {}): BehaviourCase =>
  // Made with its taint: the real one could see the set before the taint of a node that it knows.
  onNode(
    `a new set and a taint of ${name}`,
    async (world) => {
      await world.create('daemonsets', set(world, {}, 'ready', podSpec))
      await world.untilObject('daemonsets', 'web', ({ status }) => status?.observedGeneration === 1)
      await world.snap('tainted')
    },
    { taints: taint(effect, key).spec.taints },
  )

export const daemonSetCases: readonly BehaviourCase[] = [
  onNode('is created', async (world) => {
    await started(world)
    await world.snap('made')
  }),
  onNode('rolls to a new template, the old pod first', async (world) => {
    await started(world, {}, 'ready', {}, { annotations: { [ENDS]: 'linger' } })
    await world.patch('daemonsets', 'web', templateOf(2))
    await world.snap('waiting for the old pod')
    const [old] = await world.list('pods')
    await world.patch('pods', old.metadata.name, { metadata: { annotations: { [ENDS]: null } } })
    await world.untilObject('daemonsets', 'web', isDone)
    await world.snap('rolled')
  }),
  onNode('rolls with surge, the new pod first', async (world) => {
    await started(world, surge)
    await anotherSecond(world)
    await world.patch('daemonsets', 'web', templateOf(2, 'unready'))
    const [pod] = await world.untilPods(1, '', ({ metadata }) => metadata.annotations.version === '2')
    await world.snap('surged')
    await world.let([pod], 'ready')
    await world.untilObject('daemonsets', 'web', isDone)
    await world.untilPods(1)
    await world.snap('rolled')
  }),
  onNode('with surge an old pod that is not ready goes at once', async (world) => {
    await started(world, surge)
    await world.let(await world.list('pods'), 'unready')
    await world.untilObject(
      'daemonsets',
      'web',
      ({ status }) => status.numberReady === 0 || status.numberReady === undefined,
    )
    await world.patch('daemonsets', 'web', templateOf(2))
    await world.untilObject('daemonsets', 'web', isDone)
    await world.untilPods(1)
    await world.snapEnd('rolled')
  }),
  onNode('OnDelete', async (world) => {
    await started(world, { updateStrategy: { type: 'OnDelete' } })
    await world.patch('daemonsets', 'web', templateOf(2))
    await world.snap('nothing happens')
    const [old] = await world.list('pods')
    await world.remove('pods', old.metadata.name)
    await world.untilObject('daemonsets', 'web', isDone)
    await world.snap('deleted by hand')
  }),
  onNode('is undone, and its history kept short', async (world) => {
    await started(world, { revisionHistoryLimit: 1 })
    for (const version of [2, 3]) {
      await world.patch('daemonsets', 'web', templateOf(version))
      await world.untilObject('daemonsets', 'web', isDone)
    }
    await world.until(
      'the history',
      () => world.list('controllerrevisions'),
      (found) => found.length === 2,
    )
    await world.snapEnd('short')
    await world.patch('daemonsets', 'web', templateOf(2))
    await world.untilObject('daemonsets', 'web', isDone)
    await world.snapEnd('undone')
  }),
  tainted('no schedule', 'NoSchedule'),
  tainted('no execution', 'NoExecute'),
  tainted('no execution, not ready', 'NoExecute', 'node.kubernetes.io/not-ready'),
  neverMade('no schedule', 'NoSchedule'),
  neverMade('no schedule that is tolerated', 'NoSchedule', undefined, toleration),
  neverMade('being unschedulable', 'NoSchedule', 'node.kubernetes.io/unschedulable'),
  neverMade('pressure of memory', 'NoSchedule', 'node.kubernetes.io/memory-pressure'),
  neverMade('being not ready', 'NoSchedule', 'node.kubernetes.io/not-ready'),
  neverMade('having no network', 'NoSchedule', 'node.kubernetes.io/network-unavailable', { hostNetwork: true }),
  onNode('the node is selected no more, and again', async (world, node) => {
    await started(world)
    await world.patch('nodes', node, { metadata: { labels: { [world.namespace]: null } } })
    await world.untilPods(0)
    await world.snap('selected no more')
    await world.patch('nodes', node, { metadata: { labels: { [world.namespace]: 'yes' } } })
    await world.untilPods(1, '', ({ status }) => status.phase === 'Running')
    await world.snap('selected again')
  }),
  onNode('a cordoned node keeps and gets its pod', async (world, node) => {
    await world.patch('nodes', node, { spec: { unschedulable: true } })
    await started(world)
    await world.snap('cordoned')
  }),
  onNode('a failed pod is replaced', async (world) => {
    await started(world)
    await world.let(await world.list('pods'), 'fail:1')
    await world.untilPods(
      1,
      '',
      ({ metadata, status }) => status.phase === 'Running' && metadata.deletionTimestamp === undefined,
    )
    await world.snap('replaced')
  }),
  onNode('a pod that has succeeded is replaced', async (world) => {
    await started(world)
    await world.let(await world.list('pods'), 'succeed')
    await world.untilPods(
      1,
      '',
      ({ metadata, status }) => status.phase === 'Running' && metadata.deletionTimestamp === undefined,
    )
    await world.snap('replaced')
  }),
  onNode(
    'minReadySeconds',
    async (world) => {
      await world.create('daemonsets', set(world, { minReadySeconds: 6 }))
      await world.untilObject('daemonsets', 'web', ({ status }) => status?.numberReady === 1)
      await world.snap('ready')
      await world.untilObject('daemonsets', 'web', isDone)
      await world.snap('available')
    },
    { isSlow: true },
  ),
  onNode('an affinity of its own is replaced', async (world) => {
    const expression = { key: world.namespace, operator: 'In', values: ['yes'] }
    const required = { nodeSelectorTerms: [{ matchExpressions: [expression] }] }
    await started(world, {}, 'ready', {
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } },
    })
    await world.snap('made')
  }),
]
