import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { ETCD_KEY_ANNOTATION, parsePodUid } from '../../model/pod/pod.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { PodConfigMux } from './pod-config-mux.ts'

function pod(uid: string, name = uid): Pod {
  return { metadata: { name, namespace: 'default', uid: parsePodUid(uid) }, spec: { containers: [] } }
}

function createMux(sources = ['file', 'http']) {
  const journal: string[] = []
  const mux = new PodConfigMux({
    sources,
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

  test('reports a duplicate name once', () => {
    const { mux, journal } = createMux()
    mux.set('file', [pod('a', 'web'), pod('b', 'web')])
    mux.set('file', [pod('a', 'web'), pod('b', 'web')])
    assert.deepEqual(journal, [
      'FailedValidation: Error validating pod web_default(b) from file due to duplicate pod name "web", ignoring',
      'file ADD a',
    ])
  })

  test('reports a duplicate of etcd with its key', () => {
    const { mux, journal } = createMux(['etcd'])
    const at = (uid: string, key: string): Pod => {
      const { metadata, spec } = pod(uid, 'web')
      return { metadata: { ...metadata, annotations: { [ETCD_KEY_ANNOTATION]: key } }, spec }
    }
    mux.set('etcd', [at('a', '/boundpods/1'), at('b', '/boundpods/2')])
    assert.deepEqual(journal, [
      'FailedValidation: Error validating pod web_default(b) from etcd (key /boundpods/2) due to duplicate pod name "web", ignoring',
      'etcd ADD a',
    ])
  })

  describe('of a UID that two sources have', () => {
    const left = 'FailedValidation: Error validating pod a_default(a) from http due to duplicate pod UID "a", ignoring'

    test('the first source counts, the other goes on with the pod', () => {
      const { mux, journal } = createMux()
      mux.set('file', [pod('a')])
      mux.set('http', [pod('a')])
      mux.set('http', [{ ...pod('a'), spec: { containers: [], hostNetwork: true } }])
      mux.set('file', [])
      mux.set('http', [])
      assert.deepEqual(journal, ['file ADD a', left, 'http ADD ', 'http UPDATE a', 'http REMOVE a'])
    })

    test('the end of the other one means nothing', () => {
      const { mux, journal } = createMux()
      mux.set('file', [pod('a')])
      mux.set('http', [pod('a'), pod('b')])
      mux.set('http', [pod('b')])
      mux.set('file', [])
      assert.deepEqual(journal, ['file ADD a', left, 'http ADD b', 'file REMOVE a'])
    })

    test('another pod follows the first', () => {
      const { mux, journal } = createMux()
      mux.set('file', [pod('a')])
      mux.set('http', [pod('a', 'other')])
      mux.set('file', [])
      assert.deepEqual([journal[0], ...journal.slice(2)], ['file ADD a', 'http ADD ', 'file REMOVE a', 'http ADD a'])
    })

    test('it is ended when the one that goes on with it is being deleted', () => {
      const { mux, journal } = createMux()
      const { spec, metadata } = pod('a')
      mux.set('file', [pod('a')])
      mux.set('http', [{ spec, metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }])
      mux.set('file', [])
      assert.deepEqual(journal.slice(-1), ['http DELETE a'])
    })
  })

  test('refuses a source that is not configured', () => {
    const { mux } = createMux()
    assert.throws(() => mux.set('api', []), /Cannot take pods of source "api": expected one of file, http/)
  })
})
