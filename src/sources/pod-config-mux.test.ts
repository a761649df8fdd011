import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeClock } from '../../test/fakes/fake-clock.ts'
import { parsePodUid } from '../model/pod.ts'
import type { Pod } from '../model/pod.ts'
import { PodConfigMux } from './pod-config-mux.ts'

function pod(uid: string, name = uid): Pod {
  return { metadata: { name, namespace: 'default', uid: parsePodUid(uid) }, spec: { containers: [] } }
}

function createMux() {
  const journal: string[] = []
  const mux = new PodConfigMux({
    sources: ['file', 'http'],
    clock: new FakeClock(),
    onEvent: ({ reason, message }) => journal.push(`${reason}: ${message}`),
    deliver: ({ operation, source, pods }) =>
      journal.push(`${source} ${operation} ${pods.map(({ metadata }) => metadata.uid).join(',')}`),
  })
  return { mux, journal }
}

describe('PodConfigMux', () => {
  test('keeps sources apart', () => {
    const { mux, journal } = createMux()
    mux.set('file', [pod('a')])
    mux.set('http', [pod('b')])
    mux.set('file', [])
    assert.deepEqual(journal, ['file ADD a', 'http ADD b', 'file REMOVE a'])
  })

  test('has seen all when each source has sent its first set, even an empty one', () => {
    const { mux, journal } = createMux()
    assert.equal(mux.allSeen(), false)
    mux.set('file', [])
    assert.equal(mux.allSeen(), false)
    mux.set('http', [])
    assert.equal(mux.allSeen(), true)
    assert.deepEqual(journal, ['file ADD ', 'http ADD '])
  })

  test('tells of a duplicate name once', () => {
    const { mux, journal } = createMux()
    mux.set('file', [pod('a', 'web'), pod('b', 'web')])
    mux.set('file', [pod('a', 'web'), pod('b', 'web')])
    assert.deepEqual(journal, [
      'FailedValidation: Pod web_default of source file is left out due to duplicate pod name "web" or UID "b"',
      'file ADD a',
    ])
  })

  test('refuses a source that is not configured', () => {
    const { mux } = createMux()
    assert.throws(() => mux.set('api', []), /Cannot take pods of source "api": expected one of file, http/)
  })
})
