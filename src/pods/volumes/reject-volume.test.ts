import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { rejectVolume } from './reject-volume.ts'
import type { VolumeSource } from './desired-volume.ts'

const inline = (kinds: object): VolumeSource => ({ kind: 'inline', volume: { name: 'data', ...kinds } })
const persistent = (kinds: object): VolumeSource => ({
  kind: 'persistent',
  volume: { metadata: { name: 'pv-1' }, spec: { accessModes: ['ReadWriteOnce'], ...kinds } },
  claim: { namespace: 'shop', name: 'data' },
})

const rows: readonly (readonly [VolumeSource, string])[] = [
  [
    inline({ gitRepo: { repository: 'r' }, emptyDir: undefined }),
    'Cannot use volume "data" of kind gitRepo: Kubernetes has switched this kind of volume off; clone into an emptyDir in an init container instead',
  ],
  [
    inline({ rbd: { image: 'i', monitors: [] } }),
    'Cannot use volume "data" of kind rbd: Kubernetes no longer has this kind of volume',
  ],
  [
    persistent({ flexVolume: { driver: 'd' } }),
    'Cannot use volume "pv-1" of kind flexVolume: drivers of this kind are not run here; use a CSI driver instead',
  ],
  [persistent({}), 'Cannot use volume "pv-1": it names no kind that is known here'],
]

describe('rejectVolume()', () => {
  for (const [source, expected] of rows) {
    test(expected, () => assert.equal(rejectVolume(source), expected))
  }
})
