import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parsePodUid } from '../model/pod/pod.ts'
import { createHub } from './hub.ts'
import type { Hints } from './hub.ts'

function createListeners() {
  const heard: string[] = []
  const listeners: Hints = {
    podObserved: (uid) => void heard.push(`observed ${uid}`),
    objectsChanged: (uid) => void heard.push(`objects ${uid}`),
    statusChanged: (uid) => void heard.push(`status ${uid}`),
    runtimeChanged: () => void heard.push('runtime'),
    nodeChanged: () => void heard.push('node'),
    roomChanged: () => void heard.push('room'),
    driversChanged: () => void heard.push('drivers'),
  }
  return { heard, listeners }
}

describe('createHub()', () => {
  const [first, second] = [parsePodUid('u-1'), parsePodUid('u-2')]

  test('keeps hints until somebody is connected, each once', () => {
    const { heard, listeners } = createListeners()
    const hub = createHub()
    hub.podObserved(first)
    hub.nodeChanged()
    hub.podObserved(second)
    hub.podObserved(first)
    hub.nodeChanged()
    hub.connect(listeners)
    assert.deepEqual(heard, ['observed u-1', 'node', 'observed u-2'])
  })

  test('hands every hint on at once from then on', () => {
    const { heard, listeners } = createListeners()
    const hub = createHub()
    hub.connect(listeners)
    hub.objectsChanged(first)
    hub.statusChanged(second)
    hub.runtimeChanged()
    hub.roomChanged()
    hub.driversChanged()
    hub.driversChanged()
    assert.deepEqual(heard, ['objects u-1', 'status u-2', 'runtime', 'room', 'drivers', 'drivers'])
  })
})
