import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createPod } from '../../../../test/builders/create-pod.ts'
import type { PodStatus } from '../../../model/generated/core-v1.ts'
import { PodStartup } from './pod-startup.ts'

const madeAt = Date.parse('2026-01-01T00:00:00Z')
const later = (seconds: number) => madeAt + seconds * 1000
const time = (seconds: number) => new Date(later(seconds)).toISOString()
const podWith = (status: PodStatus = {}, spec = {}) =>
  createPod({ metadata: { creationTimestamp: time(0) }, spec: { ...createPod().spec, ...spec }, status })
const running: PodStatus = {
  phase: 'Running',
  containerStatuses: [
    { name: 'a', ready: true, restartCount: 0, image: '', imageID: '', state: { running: { startedAt: time(8) } } },
  ],
}
const init = (from: number, to: number) => ({
  name: `i${from}`,
  ready: true,
  restartCount: 0,
  image: '',
  imageID: '',
  state: { terminated: { exitCode: 0, startedAt: time(from), finishedAt: time(to) } },
})

describe('PodStartup', () => {
  test('counts from the making of a pod until the API knows that it runs, once', () => {
    const startup = new PodStartup(podWith())
    assert.equal(startup.noteApi(podWith(), later(3)), undefined)
    assert.deepEqual(startup.noteApi(podWith(running), later(9)), { totalSeconds: 9, sliSeconds: 9, hasNetwork: true })
    assert.equal(startup.noteApi(podWith(running), later(10)), undefined)
  })

  test('takes off the time in which images are pulled or init containers run', async () => {
    const startup = new PodStartup(podWith())
    let now = later(1)
    const first = Promise.withResolvers<string>()
    const second = Promise.withResolvers<string>()
    const pulls = [startup.pulled(() => now, first.promise)]
    now = later(2)
    pulls.push(startup.pulled(() => now, second.promise))
    now = later(3)
    first.resolve('image')
    await pulls[0]
    now = later(4)
    second.reject(new Error('gone'))
    await assert.rejects(Promise.all(pulls))
    const status = { ...running, initContainerStatuses: [init(5, 6), init(6, 7.5)] }
    assert.deepEqual(startup.noteApi(podWith(status, { hostNetwork: true }), later(9)), {
      totalSeconds: 9,
      sliSeconds: 3.5,
      hasNetwork: false,
    })
  })

  test('reports only the whole time of a pod with volumes from elsewhere', () => {
    const volumes = [
      { name: 'a', emptyDir: {} },
      { name: 'b', hostPath: { path: '/b' } },
    ]
    const startup = new PodStartup(podWith())
    assert.deepEqual(startup.noteApi(podWith(running, { volumes }), later(9)), {
      totalSeconds: 9,
      sliSeconds: undefined,
      hasNetwork: true,
    })
  })

  for (const [about, first, then] of [
    ['was there before', podWith({ startTime: time(1) }), running],
    ['has ended', podWith(), { ...running, phase: 'Failed' }],
    ['had no room at first', podWith(), { conditions: [{ type: 'PodScheduled', status: 'False' }] }],
    ['is of the node itself', createPod({ metadata: { annotations: { 'kubernetes.io/config.source': 'file' } } }), {}],
  ] as const) {
    test(`does not count a pod that ${about}`, async () => {
      const startup = new PodStartup(first)
      assert.equal(await startup.pulled(() => 0, Promise.resolve('image')), 'image')
      assert.equal(startup.noteApi(podWith(then), later(9)), undefined)
      assert.equal(startup.noteApi(podWith(running), later(9)), undefined)
    })
  }
})
