import type { AnyObject, BehaviourCase } from '../behaviour-case.ts'
import type { CaseWorld } from '../case-world.ts'
import { deployment } from './objects.ts'

const KINDS = ['horizontalpodautoscalers', 'deployments']

const autoscaler = (name: string, spec: object = {}, target: object = {}) => ({
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name },
  spec: {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', ...target },
    minReplicas: 2,
    maxReplicas: 4,
    metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } }],
    ...spec,
  },
})

async function startedWith(world: CaseWorld, replicas: number): Promise<void> {
  await world.create('deployments', deployment('web', { replicas }))
  await world.untilObject('deployments', 'web', ({ status }) => (status?.availableReplicas ?? 0) === replicas)
}

const conditionOf = ({ status }: AnyObject, type: string) =>
  status?.conditions?.find((condition: AnyObject) => condition.type === type)

async function untilJudged(world: CaseWorld, name: string, type: string): Promise<void> {
  await world.untilObject('horizontalpodautoscalers', name, (object) => conditionOf(object, type) !== undefined)
}

/**
 * What is decided without metrics, which a control plane without an agent does not have: the limits, and targets that cannot be scaled. A turn comes every 15 s.
 */
const limited = (name: string, replicas: number, spec: object): BehaviourCase => ({
  name: `HorizontalPodAutoscaler: ${name}`,
  isSlow: true,
  run: async (world) => {
    await startedWith(world, replicas)
    await world.create('horizontalpodautoscalers', autoscaler('web', spec))
    await world.untilObject('deployments', 'web', (object) => object.spec.replicas !== replicas)
    await world.snap('scaled', KINDS)
  },
})

export const autoscalerCases: readonly BehaviourCase[] = [
  limited('fewer than the least', 1, {}),
  limited('more than the most', 5, {}),
  limited('more than the most, whatever its behavior says', 5, {
    minReplicas: 1,
    maxReplicas: 2,
    behavior: {
      scaleDown: { stabilizationWindowSeconds: 0, policies: [{ type: 'Pods', value: 1, periodSeconds: 600 }] },
    },
  }),
  {
    name: 'HorizontalPodAutoscaler: a workload that is scaled to nothing is left alone',
    isSlow: true,
    run: async (world) => {
      await world.create('deployments', deployment('web', { replicas: 0 }))
      await world.create('horizontalpodautoscalers', autoscaler('web'))
      await untilJudged(world, 'web', 'ScalingActive')
      await world.snap('disabled', KINDS)
    },
  },
  {
    name: 'HorizontalPodAutoscaler: a target that is not there',
    isSlow: true,
    run: async (world) => {
      await world.create('horizontalpodautoscalers', autoscaler('web'))
      await untilJudged(world, 'web', 'AbleToScale')
      await world.snap('missing', KINDS)
    },
  },
  {
    name: 'HorizontalPodAutoscaler: two for the same pods',
    isSlow: true,
    run: async (world) => {
      await startedWith(world, 2)
      for (const name of ['one', 'two']) await world.create('horizontalpodautoscalers', autoscaler(name))
      // The first one may not know of the other in its first turn.
      for (const name of ['one', 'two']) {
        const { status } = await world.untilObject('horizontalpodautoscalers', name, (object) =>
          conditionOf(object, 'ScalingActive')?.reason.startsWith('Ambiguous'),
        )
        const { message, ...condition } = conditionOf({ status }, 'ScalingActive')
        // They come in any order.
        world.note(name, {
          ...condition,
          message: message.replace(/\[.*\]/, '[both]'),
          desired: status.desiredReplicas,
        })
      }
    },
  },
]
