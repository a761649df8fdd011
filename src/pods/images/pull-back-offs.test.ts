import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parsePodUid } from '../../model/pod/pod.ts'
import { StartError } from '../../model/pod/start-error.ts'
import { PullBackOffs } from './pull-back-offs.ts'

const uid = parsePodUid('a')
const error = new StartError('ErrImagePull', 'no')

test('PullBackOffs keeps pods and images apart and forgets a pod whole', () => {
  const backOffs = new PullBackOffs()
  backOffs.fail({ uid, image: 'x:1' }, { error, waitedSince: 0 }, 0)
  const found = { failedAt: 0, delayMs: 10_000, reason: 'ErrImagePull', message: 'no' }
  assert.deepEqual(backOffs.find({ uid, image: 'x:1' }, 9999), found)
  assert.equal(backOffs.find({ uid, image: 'x:1' }, 10_000), undefined)
  assert.equal(backOffs.find({ uid, image: 'y:1' }, 0), undefined)
  assert.equal(backOffs.find({ uid: parsePodUid('b'), image: 'x:1' }, 0), undefined)
  assert.equal(backOffs.size, 1)
  backOffs.forget(uid)
  assert.equal(backOffs.size, 0)
})
