import type { AnyObject, BehaviourCase } from '../behaviour-case.ts'
import type { CaseWorld } from '../case-world.ts'
import { ENDS } from '../pod-actor.ts'
import { job, template } from './objects.ts'

const isTrue = (object: AnyObject, type: string) =>
  object?.status?.conditions?.some((condition: AnyObject) => condition.type === type && condition.status === 'True') ===
  true
const isOver = (object: AnyObject) => isTrue(object, 'Complete') || isTrue(object, 'Failed')

const ends = (name: string, object: AnyObject, isSlow = false): BehaviourCase => ({
  name: `Job: ${name}`,
  ...(isSlow && { isSlow }),
  run: async (world) => {
    await world.create('jobs', object)
    await world.untilObject('jobs', 'work', isOver)
    await world.snap('over')
  },
})

async function running(world: CaseWorld, spec: object, does = 'ready', count = 2): Promise<readonly AnyObject[]> {
  await world.create('jobs', job('work', spec, does))
  return await world.untilPods(count, '', ({ status }) => status.phase === 'Running')
}

const indexed = { completionMode: 'Indexed', completions: 3, parallelism: 3 }
const onExitCodes = (action: string, values: readonly number[]) => ({
  action,
  onExitCodes: { containerName: 'main', operator: 'In', values },
})

export const jobCases: readonly BehaviourCase[] = [
  ends('one pod', job('work')),
  ends('five completions, two at a time', job('work', { completions: 5, parallelism: 2 })),
  ends('a queue of work, which one success ends', job('work', { parallelism: 3 })),
  ends('no completions', job('work', { completions: 0 })),
  ends('indexes', job('work', indexed)),
  ends('no retries', job('work', { backoffLimit: 0 }, 'fail:1')),
  ends('a retry after a while', job('work', { backoffLimit: 1 }, 'fail:1'), true),
  ends(
    'an index fails, the others succeed',
    job('work', { ...indexed, backoffLimitPerIndex: 0 }, '1=fail:1,*=succeed'),
  ),
  ends('an index is retried', job('work', { ...indexed, backoffLimitPerIndex: 1 }, '1=fail:1,*=succeed'), true),
  ends(
    'too many indexes fail',
    job('work', { ...indexed, backoffLimitPerIndex: 0, maxFailedIndexes: 0 }, '1=fail:1,*=ready'),
  ),
  ends(
    'a policy fails the Job',
    job('work', { podFailurePolicy: { rules: [onExitCodes('FailJob', [42])] } }, 'fail:42'),
  ),
  ends(
    'a policy fails an index',
    job(
      'work',
      { ...indexed, backoffLimitPerIndex: 5, podFailurePolicy: { rules: [onExitCodes('FailIndex', [42])] } },
      '2=fail:42,*=succeed',
    ),
  ),
  ends('restarts in place are counted', job('work', { backoffLimit: 2 }, 'restarts:2', { restartPolicy: 'OnFailure' })),
  {
    name: 'Job: a policy ignores a failure',
    run: async (world) => {
      const spec = { backoffLimit: 0, podFailurePolicy: { rules: [onExitCodes('Ignore', [42])] } }
      const [first] = await running(world, spec, 'ready', 1)
      await world.let([first], 'fail:42')
      const [second] = await world.untilPods(
        1,
        '',
        ({ metadata, status }) => status.phase === 'Running' && metadata.uid !== first.metadata.uid,
      )
      await world.snap('ignored')
      await world.let([second], 'succeed')
      await world.untilObject('jobs', 'work', isOver)
      await world.snap('over')
    },
  },
  {
    name: 'Job: a policy ignores a disruption',
    run: async (world) => {
      const rules = [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] }]
      const [first] = await running(world, { backoffLimit: 0, podFailurePolicy: { rules } }, 'ready', 1)
      const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: first.metadata.name } }
      await world.send({ method: 'POST', path: `${world.path('pods', first.metadata.name)}/eviction`, body })
      const read = async () => ({ pods: await world.list('pods'), job: (await world.get('jobs', 'work')).status })
      await world.until(
        'another',
        read,
        ({ pods }) =>
          pods.length === 1 && pods[0].metadata.uid !== first.metadata.uid && pods[0].status.phase === 'Running',
        20_000,
      )
      await world.snap('replaced')
    },
  },
  ...[{ succeededCount: 1 }, { succeededIndexes: '0,2' }, { succeededIndexes: '0-1', succeededCount: 1 }].map(
    (rule): BehaviourCase => ({
      name: `Job: success by ${JSON.stringify(rule)}`,
      run: async (world) => {
        const does = rule.succeededIndexes === '0,2' ? '1=ready,*=succeed' : '0=succeed,*=ready'
        await world.create('jobs', job('work', { ...indexed, successPolicy: { rules: [rule] } }, does))
        await world.untilObject('jobs', 'work', isOver)
        await world.snapEnd('over')
      },
    }),
  ),
  {
    name: 'Job: is created suspended, resumed and suspended',
    run: async (world) => {
      await world.create('jobs', job('work', { suspend: true, completions: 2, parallelism: 2 }, 'ready'))
      await world.untilObject('jobs', 'work', (found) => isTrue(found, 'Suspended'))
      await world.snap('suspended')
      await world.patch('jobs', 'work', { spec: { suspend: false } })
      await world.untilPods(2, '', ({ status }) => status.phase === 'Running')
      await world.snap('resumed')
      await world.patch('jobs', 'work', { spec: { suspend: true } })
      await world.untilPods(0)
      await world.snap('suspended again')
    },
  },
  {
    name: 'Job: goes a while after its end',
    isSlow: true,
    run: async (world) => {
      await world.create('jobs', job('work', { ttlSecondsAfterFinished: 5 }))
      await world.untilObject('jobs', 'work', isOver)
      await world.snap('over')
      await world.untilObject('jobs', 'work', (found) => found === undefined)
      await world.untilPods(0)
      await world.snap('gone')
    },
  },
  {
    name: 'Job: goes at once',
    run: async (world) => {
      await world.create('jobs', job('work', { ttlSecondsAfterFinished: 0 }))
      await world.until(
        'its end',
        () => world.list('events'),
        (events) => events.some(({ reason }) => reason === 'Completed'),
      )
      await world.untilObject('jobs', 'work', (found) => found === undefined)
      await world.untilPods(0)
      await world.snap('gone')
    },
  },
  {
    name: 'Job: takes too long',
    isSlow: true,
    run: async (world) => {
      await running(world, { activeDeadlineSeconds: 3, parallelism: 2 })
      await world.untilObject('jobs', 'work', isOver)
      await world.snap('over')
    },
  },
  {
    name: 'Job: belongs to another controller',
    run: async (world) => {
      await world.create('jobs', job('work', { managedBy: 'example.com/other' }))
      await world.snap('untouched')
    },
  },
  ...['TerminatingOrFailed', 'Failed'].map((podReplacementPolicy): BehaviourCase => ({
    name: `Job: a deleted pod that lingers, ${podReplacementPolicy}`,
    isSlow: true,
    run: async (world) => {
      const spec = {
        podReplacementPolicy,
        template: template('work', 'ready', { annotations: { [ENDS]: 'linger' } }, { restartPolicy: 'Never' }),
      }
      const [first] = await running(world, spec, 'ready', 1)
      await world.remove('pods', first.metadata.name)
      if (podReplacementPolicy === 'Failed') await world.snap('waits')
      else await world.untilPods(2)
      await world.snap('lingers')
      await world.patch('pods', first.metadata.name, { metadata: { annotations: { [ENDS]: null } } })
      await world.untilPods(
        1,
        '',
        ({ metadata, status }) => status.phase === 'Running' && metadata.uid !== first.metadata.uid,
      )
      await world.snap('replaced')
    },
  })),
  {
    name: 'Job: more and fewer at a time',
    run: async (world) => {
      await running(world, { parallelism: 2, completions: 4 })
      await world.patch('jobs', 'work', { spec: { parallelism: 4 } })
      await world.untilPods(4, '', ({ status }) => status.phase === 'Running')
      await world.snap('more')
      await world.patch('jobs', 'work', { spec: { parallelism: 1 } })
      await world.untilPods(1)
      await world.snap('fewer')
    },
  },
  {
    name: 'Job: an indexed one grows and shrinks',
    run: async (world) => {
      await running(world, { ...indexed, completions: 2, parallelism: 2 })
      await world.patch('jobs', 'work', { spec: { completions: 3, parallelism: 3 } })
      await world.untilPods(3, '', ({ status }) => status.phase === 'Running')
      await world.patch('jobs', 'work', { spec: { completions: 1, parallelism: 1 } })
      const [left] = await world.untilPods(1)
      await world.snap('one')
      await world.let([left], 'succeed')
      await world.untilObject('jobs', 'work', isOver)
      await world.snap('over')
    },
  },
  {
    name: 'Job: is deleted and leaves its pods',
    run: async (world) => {
      await running(world, { parallelism: 2 })
      await world.remove('jobs', 'work', 'Orphan')
      await world.untilObject('jobs', 'work', (found) => found === undefined)
      await world.until(
        'free pods',
        () => world.list('pods'),
        (pods) =>
          pods.every(({ metadata }) => metadata.ownerReferences === undefined && metadata.finalizers === undefined),
      )
      await world.snap('left')
    },
  },
  {
    name: 'Job: is deleted with its pods',
    run: async (world) => {
      await running(world, { parallelism: 2 })
      await world.remove('jobs', 'work', 'Foreground')
      await world.untilObject('jobs', 'work', (found) => found === undefined)
      await world.untilPods(0)
      await world.snap('gone')
    },
  },
  {
    name: 'Job: a pod of it is deleted while it runs',
    isSlow: true,
    run: async (world) => {
      const [first] = await running(world, {}, 'ready', 1)
      await world.remove('pods', first.metadata.name)
      await world.untilPods(
        1,
        '',
        ({ metadata, status }) => status.phase === 'Running' && metadata.uid !== first.metadata.uid,
      )
      await world.snap('replaced')
    },
  },
]
