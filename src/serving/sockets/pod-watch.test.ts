import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createPod } from '../../../test/builders/create-pod.ts'
import { parsePodUid } from '../../model/pod/pod.ts'
import type { PodUid } from '../../model/pod/pod.ts'
import { PodWatch } from './pod-watch.ts'
import type { PodWithStatus } from './pod-watch.ts'

const [A, B] = [parsePodUid('a'), parsePodUid('b')]
const [podA, podB] = [createPod({ metadata: { uid: A } }), createPod({ metadata: { uid: B } })]

function create(isRoom: () => boolean = () => true) {
  const pods = new Map<PodUid, PodWithStatus>()
  const events: string[] = []
  const watch = new PodWatch({
    find: (uid) => pods.get(uid),
    encode: (pod) => Buffer.from(JSON.stringify(pod)),
    write({ type, pod }) {
      const { metadata, status } = pod.length === 0 ? {} : JSON.parse(Buffer.from(pod).toString())
      events.push([type, metadata?.uid, status?.phase].filter((part) => part !== undefined).join(' '))
      return isRoom()
    },
  })
  const put = (pod: PodWithStatus['pod'], phase: string) => {
    pods.set(pod.metadata.uid, { pod, status: { phase } })
    watch.changed(pod.metadata.uid)
  }
  return { pods, events, watch, put }
}

describe('PodWatch', () => {
  test('sends what is there, that this was all, and then what changes', () => {
    const { pods, events, watch, put } = create()
    pods.set(A, { pod: podA, status: { phase: 'Pending' } })
    watch.begin([A])
    put(podA, 'Running')
    put(podB, 'Pending')
    pods.delete(A)
    watch.changed(A)
    assert.deepEqual(events, ['1 a Pending', '4', '2 a Running', '1 b Pending', '3 a'])
  })

  test('says nothing about what is as it was, and about what came and went unseen', () => {
    const { events, watch, put } = create()
    watch.begin([])
    put(podA, 'Running')
    put(podA, 'Running')
    watch.changed(B)
    assert.deepEqual(events, ['4', '1 a Running'])
  })

  test('leaves out what a slow watcher missed: it gets the newest', () => {
    let isRoom = false
    const { pods, events, watch, put } = create(() => isRoom)
    pods.set(A, { pod: podA, status: { phase: 'Pending' } })
    watch.begin([A])
    for (let times = 0; times < 1000; times += 1) put(podA, `Phase${times}`)
    put(podB, 'Pending')
    assert.deepEqual(events, ['1 a Pending'])
    isRoom = true
    watch.resume()
    assert.deepEqual(events, ['1 a Pending', '2 a Phase999', '1 b Pending', '4'])
  })
})
