import { each, get, patch, post, remove } from '../contract-case.ts'
import type { ContractCase, ContractTable } from '../contract-case.ts'
import { container, core, NODES, pod, PODS } from './objects.ts'

const POD_LEVEL = 'InPlacePodLevelResourcesVerticalScaling'
const INIT_CONTAINERS = 'InPlacePodVerticalScalingInitContainers'

const sized = (cpu: string, memory = '10Mi') => ({ requests: { cpu, memory }, limits: { cpu, memory } })
const SHOWN = [
  'spec.resources',
  'spec.initContainers.*.resources',
  'spec.containers.*.resources',
  'metadata.generation',
]

const resources = (cpu: string, memory?: string) => ({ spec: { resources: sized(cpu, memory) } })
const initContainer = (cpu: string, fields: object = {}) => ({ name: 'init', resources: sized(cpu), ...fields })
const resizingInit = (cpu: string, fields: object = {}) => ({ spec: { initContainers: [initContainer(cpu, fields)] } })

const wholePod = { resources: sized('200m') }
const withInit = (fields: object = {}) => ({
  containers: [container({ resources: sized('100m') })],
  initContainers: [{ ...container({ ...initContainer('100m'), ...fields }) }],
})

interface Resize {
  readonly spec: object
  /** What is sent to the subresource "resize", each after the other. */
  readonly changes: readonly object[]
}

const resizes: Readonly<Record<string, Resize>> = {
  'of a whole pod': { spec: wholePod, changes: [resources('300m'), resources('100m', '20Mi'), resources('2', '2Gi')] },
  'of an init container': { spec: withInit(), changes: [resizingInit('150m'), resizingInit('2')] },
  'of a sidecar': { spec: withInit({ restartPolicy: 'Always' }), changes: [resizingInit('150m')] },
  'of both': {
    spec: { ...withInit(), resources: sized('500m', '50Mi') },
    changes: [{ spec: { ...resizingInit('150m').spec, ...resources('600m', '50Mi').spec } }],
  },
  'of a container of a pod with resources of its own': {
    spec: { ...withInit(), resources: sized('500m', '50Mi') },
    changes: [{ spec: { containers: [{ name: 'main', resources: sized('200m') }] } }],
  },
  'of a whole pod to what it has': { spec: wholePod, changes: [resources('200m')] },
  'of a pod that had no resources of its own': { spec: withInit(), changes: [resources('300m', '30Mi')] },
}

const NODES_BY_FEATURES: Readonly<Record<string, readonly string[]>> = {
  'contract-declares-nothing': [],
  'contract-declares-both': [POD_LEVEL, INIT_CONTAINERS],
  'contract-declares-pods': [POD_LEVEL],
  'contract-declares-init': [INIT_CONTAINERS],
}

const declaring = (name: string, declaredFeatures: readonly string[]) =>
  core('Node', name, { status: { allocatable: { cpu: '1', memory: '1Gi', pods: '9' }, declaredFeatures } })

/** A resize of a pod that is bound to a node, or to none. */
function resize(name: string, { spec, changes }: Resize, node?: string): ContractCase {
  return each(
    node === undefined ? `${name}, without a node` : `${name}, on ${node}`,
    post(PODS, pod('p', { ...(node !== undefined && { nodeName: node }), ...spec }), { shows: SHOWN }),
    ...changes.map((change) => patch('strategic', `${PODS}/p/resize`, change, { shows: SHOWN })),
    get(`${PODS}/p`, { shows: SHOWN }),
    remove(`${PODS}/p?gracePeriodSeconds=0`, undefined, { shows: 'code' }),
  )
}

const again = { name: 'init', resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] }
const names = Object.keys(NODES_BY_FEATURES)

/** Resizes that a node has to declare. The nodes stay for all cases: the real server judges by what its watch of them has. */
export const declaredResizes: ContractTable = {
  name: 'declared-resizes',
  cases: [
    each(
      'the nodes',
      ...Object.entries(NODES_BY_FEATURES).map(([name, features]) =>
        post(NODES, declaring(name, features), { shows: ['status.declaredFeatures'] }),
      ),
    ),
    ...Object.entries(resizes).flatMap(([name, row]) => [...names, undefined].map((node) => resize(name, row, node))),
    resize('of a whole pod to less than its containers have', {
      spec: { ...withInit(), resources: sized('500m', '50Mi') },
      changes: [resources('50m', '50Mi')],
    }),
    resize('of an init container that would start again', {
      spec: withInit(again),
      changes: [resizingInit('150m', again)],
    }),
    resize('of a whole pod whose node is gone', { spec: wholePod, changes: [resources('300m')] }, 'contract-gone'),
    each('the nodes are removed', ...names.map((name) => remove(`${NODES}/${name}`, undefined, { shows: 'code' }))),
  ],
}
