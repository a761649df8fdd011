import type { AnyObject, BehaviourCase } from '../behaviour-case.ts'
import type { CaseWorld } from '../case-world.ts'
import { template } from './objects.ts'

const cronJob = (spec: object, does = 'succeed') => ({
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { name: 'tick' },
  spec: {
    schedule: '@every 4s',
    jobTemplate: {
      metadata: { labels: { made: 'by-tick' } },
      spec: { backoffLimit: 0, template: template('tick', does, {}, { restartPolicy: 'Never' }) },
    },
    ...spec,
  },
})

const reasons = async (world: CaseWorld) => new Set((await world.list('events')).map(({ reason }) => reason as string))
const untilReason = (world: CaseWorld, reason: string) =>
  world.until(
    `an event ${reason}`,
    () => reasons(world),
    (found) => found.has(reason),
  )
const isOver = ({ status }: AnyObject) =>
  status?.conditions?.some(
    ({ type, status: is }: AnyObject) => ['Complete', 'Failed'].includes(type) && is === 'True',
  ) === true

/** Names of Jobs have their minute: two in one minute have one name. */
const instantiate = async (world: CaseWorld, name: string) => {
  const { metadata, spec } = await world.get('cronjobs', 'tick')
  const owner = { apiVersion: 'batch/v1', kind: 'CronJob', name: 'tick', uid: metadata.uid, controller: true }
  await world.create('jobs', {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, annotations: { 'cronjob.kubernetes.io/instantiate': 'manual' }, ownerReferences: [owner] },
    spec: spec.jobTemplate.spec,
  })
}

export const cronJobCases: readonly BehaviourCase[] = [
  {
    name: 'CronJob: is made, and waits',
    run: async (world) => {
      await world.create('cronjobs', cronJob({ schedule: '0 0 1 1 *' }))
      await world.snap('waits')
    },
  },
  {
    name: 'CronJob: runs when it is time',
    isSlow: true,
    run: async (world) => {
      await world.create('cronjobs', cronJob({}))
      await untilReason(world, 'SawCompletedJob')
      await world.patch('cronjobs', 'tick', { spec: { suspend: true } })
      await world.snapEnd('ran', ['jobs', 'cronjobs', 'pods'])
      const [made] = await world.list('jobs')
      world.note('its Job', [
        made.metadata.labels,
        Object.keys(made.metadata.annotations).toSorted(),
        made.metadata.ownerReferences,
      ])
    },
  },
  {
    name: 'CronJob: is suspended',
    isSlow: true,
    run: async (world) => {
      await world.create('cronjobs', cronJob({ suspend: true, schedule: '@every 2s' }))
      await new Promise((resolve) => setTimeout(resolve, 5000))
      await world.snap('nothing')
    },
  },
  ...['Forbid', 'Replace'].map((concurrencyPolicy): BehaviourCase => ({
    name: `CronJob: the last one still runs, ${concurrencyPolicy}`,
    isSlow: true,
    run: async (world) => {
      await world.create('cronjobs', cronJob({ concurrencyPolicy, schedule: '* * * * *' }, 'ready'))
      await world.until(
        'two minutes',
        () => reasons(world),
        (found) => found.has(concurrencyPolicy === 'Forbid' ? 'JobAlreadyActive' : 'SuccessfulDelete'),
        140_000,
      )
      await world.patch('cronjobs', 'tick', { spec: { suspend: true } })
      await world.snapEnd('second')
    },
  })),
  {
    name: 'CronJob: Jobs by hand are counted in the history',
    run: async (world) => {
      const limits = { successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 0 }
      await world.create('cronjobs', cronJob({ schedule: '0 0 1 1 *', ...limits }))
      for (const name of ['a-first', 'b-second', 'c-third']) {
        await instantiate(world, name)
        await world.until(
          `the end of ${name}`,
          () => world.list('jobs'),
          (jobs) => jobs.every(isOver),
        )
      }
      await world.until(
        'a short history',
        () => world.list('jobs'),
        (jobs) => jobs.length === 1,
      )
      await world.snapEnd('short')
    },
  },
  {
    name: 'CronJob: a Job by hand is unexpected while it runs',
    run: async (world) => {
      await world.create('cronjobs', cronJob({ schedule: '0 0 1 1 *' }, 'ready'))
      await instantiate(world, 'hand')
      await untilReason(world, 'UnexpectedJob')
      await world.snap('running')
      await world.let(await world.list('pods'), 'succeed')
      await world.untilObject('jobs', 'hand', isOver)
      await world.snap('over')
    },
  },
  {
    name: 'CronJob: a zone',
    run: async (world) => {
      await world.create('cronjobs', cronJob({ schedule: '0 0 1 1 *', timeZone: 'Europe/Berlin' }))
      await world.snap('waits')
    },
  },
  {
    name: 'CronJob: is deleted with its Jobs',
    run: async (world) => {
      await world.create('cronjobs', cronJob({ schedule: '0 0 1 1 *' }, 'ready'))
      await instantiate(world, 'hand')
      await world.untilPods(1, '', ({ status }) => status.phase === 'Running')
      await world.remove('cronjobs', 'tick')
      await world.untilPods(0)
      await world.untilObject('jobs', 'hand', (found) => found === undefined)
      await world.snapEnd('gone')
    },
  },
  {
    name: 'CronJob: missed its last time',
    run: async (world) => {
      // Due every minute, and each time is too late after no time at all.
      await world.create('cronjobs', cronJob({ schedule: '0 0 1 1 *', startingDeadlineSeconds: 1 }))
      await world.snap('waits')
    },
  },
]
