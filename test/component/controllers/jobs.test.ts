import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createWorkloadWorld, runningStatus } from './create-workload-world.ts'
import type { AnyObject, WorkloadWorld } from './create-workload-world.ts'

const template = (spec: object = {}) => ({
  spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'a' }], ...spec },
})
const job = (spec: object = {}) => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'work' },
  spec: { template: template(), ...spec },
})
const ended = (phase: string, exitCode = 0, finishedAt = new Date().toISOString()) => ({
  phase,
  containerStatuses: [
    {
      name: 'c',
      ready: false,
      restartCount: 0,
      image: 'a',
      imageID: '',
      state: { terminated: { exitCode, finishedAt, startedAt: finishedAt } },
    },
  ],
})
const conditionsOf = ({ status }: AnyObject): readonly string[] =>
  (status.conditions ?? [])
    .filter((each: AnyObject) => each.status === 'True')
    .map((each: AnyObject) => `${each.type} ${each.reason}`)
const finished = (world: WorkloadWorld, name = 'work'): Promise<AnyObject> =>
  world.until(
    'the job to finish',
    () => world.get('jobs', name),
    (each) => each !== undefined && conditionsOf(each).some((text) => /^(?:Complete|Failed) /.test(text)),
  )

describe('jobs', () => {
  test('run until enough pods have succeeded, a few at a time', async (t) => {
    const world = await createWorkloadWorld(t)
    world.kubelet = () => ended('Succeeded')
    await world.create('jobs', job({ completions: 5, parallelism: 2 }))
    const done = await finished(world)
    assert.deepEqual(conditionsOf(done), ['SuccessCriteriaMet CompletionsReached', 'Complete CompletionsReached'])
    assert.equal(done.status.succeeded, 5)
    assert.ok(done.status.completionTime)
    const pods = await world.list('pods')
    assert.equal(pods.length, 5)
    for (const { metadata } of pods) assert.deepEqual(metadata.finalizers ?? [], [])
    assert.deepEqual(
      await world.until(
        'the event',
        () => world.events('Completed'),
        (all) => all.length > 0,
      ),
      ['Job completed'],
    )
  })

  test('that are indexed give each pod its number', async (t) => {
    const world = await createWorkloadWorld(t)
    world.kubelet = () => ended('Succeeded')
    await world.create('jobs', job({ completions: 3, parallelism: 3, completionMode: 'Indexed' }))
    const { status } = await finished(world)
    assert.equal(status.completedIndexes, '0-2')
    const pod = (await world.list('pods')).find((each) => each.spec.hostname === 'work-1')
    assert.equal(pod.metadata.labels['batch.kubernetes.io/job-completion-index'], '1')
    assert.match(pod.metadata.name, /^work-1-/)
    assert.equal(pod.spec.containers[0].env[0].name, 'JOB_COMPLETION_INDEX')
  })

  test('fail when pods fail too often, after a wait each time', async (t) => {
    const world = await createWorkloadWorld(t)
    // Pods that ended long ago have been waited for.
    world.kubelet = () => ended('Failed', 1, '2020-01-01T00:00:00Z')
    await world.create('jobs', job({ backoffLimit: 2 }))
    const done = await finished(world)
    assert.deepEqual(conditionsOf(done), ['FailureTarget BackoffLimitExceeded', 'Failed BackoffLimitExceeded'])
    assert.equal(done.status.failed, 3)
    assert.deepEqual(
      await world.until(
        'the event',
        () => world.events('BackoffLimitExceeded'),
        (all) => all.length > 0,
      ),
      ['Job has reached the specified backoff limit'],
    )
  })

  test('wait before they try again', async (t) => {
    const world = await createWorkloadWorld(t)
    world.kubelet = () => ended('Failed', 1)
    await world.create('jobs', job())
    await world.until(
      'one failure',
      () => world.get('jobs', 'work'),
      ({ status }) => status.failed === 1,
    )
    assert.equal((await world.list('pods')).length, 1)
  })

  test('obey the policy for failures', async (t) => {
    const world = await createWorkloadWorld(t)
    const rules = [
      { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] },
      { action: 'FailJob', onExitCodes: { operator: 'In', values: [42] } },
    ]
    let count = 0
    world.kubelet = () => {
      count += 1
      const status = ended('Failed', 42, '2020-01-01T00:00:00Z')
      return count === 1 ? { ...status, conditions: [{ type: 'DisruptionTarget', status: 'True' }] } : status
    }
    await world.create('jobs', job({ podFailurePolicy: { rules } }))
    const done = await finished(world)
    assert.equal(count, 2)
    assert.equal(done.status.failed, 1)
    assert.match(done.status.conditions.at(-1).message, /failed with exit code 42 matching FailJob rule at index 1$/)
  })

  test('end early by the policy for success', async (t) => {
    const world = await createWorkloadWorld(t)
    world.kubelet = (pod) => (pod.spec.hostname === 'work-0' ? ended('Succeeded') : runningStatus(pod))
    const successPolicy = { rules: [{ succeededIndexes: '0' }] }
    await world.create('jobs', job({ completions: 3, parallelism: 3, completionMode: 'Indexed', successPolicy }))
    const done = await finished(world)
    assert.deepEqual(conditionsOf(done), ['SuccessCriteriaMet SuccessPolicy', 'Complete SuccessPolicy'])
    await world.until(
      'the other pods to go',
      () => world.list('pods'),
      (pods) => pods.length === 1,
    )
  })

  test('give up an index that fails too often, and go on with the others', async (t) => {
    const world = await createWorkloadWorld(t)
    world.kubelet = (pod) =>
      pod.spec.hostname === 'work-1' ? ended('Failed', 1, '2020-01-01T00:00:00Z') : ended('Succeeded')
    const spec = { completions: 3, parallelism: 3, completionMode: 'Indexed', backoffLimitPerIndex: 1 }
    await world.create('jobs', job(spec))
    const { status } = await finished(world)
    assert.deepEqual([status.completedIndexes, status.failedIndexes, status.failed], ['0,2', '1', 2])
    assert.equal(status.conditions.at(-1).reason, 'FailedIndexes')
  })

  test('are suspended and resumed', async (t) => {
    const world = await createWorkloadWorld(t)
    await world.create('jobs', job({ parallelism: 2, completions: 2 }))
    await world.until(
      'two pods',
      () => world.get('jobs', 'work'),
      ({ status }) => status.ready === 2,
    )
    await world.patch('jobs', 'work', { spec: { suspend: true } })
    await world.until(
      'no pods',
      () => world.list('pods'),
      (pods) => pods.length === 0,
    )
    const suspended = await world.until(
      'the condition',
      () => world.get('jobs', 'work'),
      (each) => conditionsOf(each).includes('Suspended JobSuspended'),
    )
    assert.equal(suspended.status.startTime, undefined)
    assert.equal(suspended.status.failed ?? 0, 0)
    world.kubelet = () => ended('Succeeded')
    await world.patch('jobs', 'work', { spec: { suspend: false } })
    assert.equal((await finished(world)).status.succeeded, 2)
  })

  test('end at their deadline', async (t) => {
    const world = await createWorkloadWorld(t)
    await world.create('jobs', job({ activeDeadlineSeconds: 1 }))
    const done = await finished(world)
    assert.equal(done.status.conditions.at(-1).reason, 'DeadlineExceeded')
    await world.until(
      'no pods',
      () => world.list('pods'),
      (pods) => pods.length === 0,
    )
  })

  test('go with their pods after their time', async (t) => {
    const world = await createWorkloadWorld(t)
    world.kubelet = () => ended('Succeeded')
    await world.create('jobs', job({ ttlSecondsAfterFinished: 0 }))
    await world.until(
      'nothing',
      async () => [await world.get('jobs', 'work'), await world.list('pods')],
      ([one, pods]) => one === undefined && pods.length === 0,
    )
  })

  test('that are deleted let their pods go, or run on', async (t) => {
    const world = await createWorkloadWorld(t)
    await world.create('jobs', job())
    await world.until(
      'a pod',
      () => world.get('jobs', 'work'),
      ({ status }) => status.ready === 1,
    )
    await world.remove('jobs', 'work')
    await world.until(
      'a free pod',
      () => world.list('pods'),
      ([pod]) => (pod.metadata.finalizers ?? []).length === 0,
    )
    await world.create('jobs', job())
    await world.until(
      'a pod',
      () => world.get('jobs', 'work'),
      ({ status }) => status.ready === 1,
    )
    await world.remove('jobs', 'work', { propagationPolicy: 'Background' })
    await world.until(
      'the free pod alone',
      () => world.list('pods'),
      (pods) => pods.length === 1,
    )
  })

  test('have the labels of their pods when they have none, and go with their CronJob, pods and all', async (t) => {
    const world = await createWorkloadWorld(t)
    const { metadata } = await world.create('cronjobs', {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name: 'tick' },
      spec: { schedule: '0 0 1 1 *', jobTemplate: { spec: { template: template() } } },
    })
    const owner = { apiVersion: 'batch/v1', kind: 'CronJob', name: 'tick', uid: metadata.uid, controller: true }
    const made = await world.create('jobs', { ...job(), metadata: { name: 'work', ownerReferences: [owner] } })
    assert.equal(made.metadata.labels['batch.kubernetes.io/job-name'], 'work')
    await world.until(
      'a pod',
      () => world.list('pods'),
      (pods) => pods.length === 1,
    )
    // Without a word about its Jobs they go too.
    await world.remove('cronjobs', 'tick')
    await world.until(
      'no pods',
      () => world.list('pods'),
      (pods) => pods.length === 0,
    )
    assert.deepEqual(await world.list('jobs'), [])
  })

  test('keep a pod that ended and was deleted while no controller ran, and let it go when it is counted', async (t) => {
    const world = await createWorkloadWorld(t)
    await world.create('jobs', job())
    const [pod] = await world.until(
      'a pod',
      () => world.list('pods'),
      (pods) => pods.length === 1 && pods[0].status.phase === 'Running',
    )
    await world.pause()
    world.kubelet = () => undefined
    await world.patch('pods', `${pod.metadata.name}/status`, { status: ended('Succeeded') })
    await world.remove('pods', pod.metadata.name, { gracePeriodSeconds: 0 })
    assert.ok((await world.get('pods', pod.metadata.name)).metadata.deletionTimestamp)
    await world.restart()
    assert.equal((await finished(world)).status.succeeded, 1)
    await world.until(
      'the pod to go',
      () => world.list('pods'),
      (pods) => pods.length === 0,
    )
  })

  test('count exactly, whenever the controllers are killed', async (t) => {
    const world = await createWorkloadWorld(t)
    world.kubelet = () => ended('Succeeded')
    await world.create('jobs', job({ completions: 30, parallelism: 10 }))
    for (let round = 0; round < 5; round += 1) await world.restart()
    assert.equal((await finished(world)).status.succeeded, 30)
    assert.equal((await world.list('pods')).length, 30)
  })
})

describe('cron jobs', () => {
  test('start the latest job that is due, once, and keep some that have ended', async (t) => {
    const world = await createWorkloadWorld(t)
    world.kubelet = () => ended('Succeeded')
    const spec = {
      schedule: '* * * * *',
      jobTemplate: { spec: { template: template() } },
      successfulJobsHistoryLimit: 1,
    }
    await world.create('cronjobs', { apiVersion: 'batch/v1', kind: 'CronJob', metadata: { name: 'tick' }, spec })
    const at = new Date(Date.now() - 10 * 60_000).toISOString()
    await world.patch('cronjobs', 'tick/status', { status: { lastScheduleTime: at } })
    const minute = Math.floor(Date.now() / 60_000)
    const [started] = await world.until(
      'a job',
      () => world.list('jobs'),
      (jobs) => jobs.length === 1,
    )
    assert.ok([`tick-${minute}`, `tick-${minute + 1}`].includes(started.metadata.name), started.metadata.name)
    await finished(world, started.metadata.name)
    const saw = await world.until(
      'the event',
      () => world.events('SawCompletedJob'),
      (all) => all.length > 0,
    )
    assert.deepEqual(saw, [`Saw completed job: ${started.metadata.name}, condition: Complete`])
    await world.restart()
    const { status } = await world.get('cronjobs', 'tick')
    assert.equal(status.active, undefined)
    assert.ok(status.lastSuccessfulTime)
  })

  test('do nothing while an earlier job runs, where that is forbidden', async (t) => {
    const world = await createWorkloadWorld(t)
    const spec = { schedule: '* * * * *', concurrencyPolicy: 'Forbid', jobTemplate: { spec: { template: template() } } }
    await world.create('cronjobs', { apiVersion: 'batch/v1', kind: 'CronJob', metadata: { name: 'tick' }, spec })
    const back = (minutes: number) => ({
      status: { lastScheduleTime: new Date(Date.now() - minutes * 60_000).toISOString() },
    })
    await world.patch('cronjobs', 'tick/status', back(10))
    await world.until(
      'a job',
      () => world.get('cronjobs', 'tick'),
      ({ status }) => status.active?.length === 1,
    )
    await world.patch('cronjobs', 'tick/status', back(5))
    await world.until(
      'the event',
      () => world.events('JobAlreadyActive'),
      (all) => all.length > 0,
    )
    assert.equal((await world.list('jobs')).length, 1)
  })
})
