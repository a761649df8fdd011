import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { findPullSecret } from './find-pull-secret.ts'
import type { Secret } from '../../model/generated/core-v1.ts'
import { ObjectError } from './object-api.ts'

const never = new AbortController().signal

const find = (secret: () => Promise<Secret>) =>
  findPullSecret({ objects: { secret }, log: silentLogger }, { namespace: 'shop', name: 'login' }, never)

describe('findPullSecret()', () => {
  test('gives the bytes of a Secret, its type and its identity', async () => {
    const secret = { metadata: { uid: 'u' }, type: 'kubernetes.io/dockercfg', data: { '.dockercfg': 'e30=' } }
    assert.deepEqual(await find(async () => secret), {
      uid: 'u',
      type: 'kubernetes.io/dockercfg',
      data: new Map([['.dockercfg', Buffer.from('{}')]]),
    })
  })

  for (const reason of ['NotFound', 'Unavailable', 'Forbidden'] as const) {
    test(`does without one that is ${reason}`, async () => {
      assert.equal(await find(() => Promise.reject(new ObjectError(reason, 'planned'))), undefined)
    })
  }

  test('passes on what is no answer of the API', async () => {
    await assert.rejects(
      find(() => Promise.reject(new Error('shutdown'))),
      /shutdown/,
    )
  })
})
