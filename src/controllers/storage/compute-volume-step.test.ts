import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ObjectMeta, PersistentVolume, PersistentVolumeSpec } from '../../model/generated/core-v1.ts'
import type { Live } from '../engine/live-object.ts'
import { computeVolumeStep } from './compute-volume-step.ts'
import type { VolumeStep } from './compute-volume-step.ts'

const FINALIZER = 'external-provisioner.volume.kubernetes.io/finalizer'
const PROTECTION = 'kubernetes.io/pv-protection'
const OURS = { 'pv.kubernetes.io/provisioned-by': 'deckhand.local/folder' }

function volume(phase: string, spec: PersistentVolumeSpec = {}, metadata: ObjectMeta = {}): Live<PersistentVolume> {
  const identity = { name: 'pvc-1', namespace: '', uid: 'u', resourceVersion: '1' }
  return {
    metadata: { annotations: OURS, finalizers: [PROTECTION, FINALIZER], ...metadata, ...identity },
    spec: { persistentVolumeReclaimPolicy: 'Delete', local: { path: '/v/pvc-1' }, ...spec },
    status: { phase },
  }
}

function show(step: VolumeStep): string {
  if (step.kind === 'set finalizers') return step.finalizers.join()
  return step.kind === 'fail' ? `${step.reason}: ${step.message}` : step.kind
}

const LEAVING = { deletionTimestamp: '2026-01-01T00:00:00Z' }
const RETAIN = { persistentVolumeReclaimPolicy: 'Retain' }
const OTHERS = { annotations: { 'pv.kubernetes.io/provisioned-by': 'example.com/x' } }

const rows: readonly (readonly [what: string, volume: Live<PersistentVolume>, expected: string])[] = [
  ['in use', volume('Bound'), 'nothing'],
  ['released', volume('Released'), 'delete'],
  ['released, and its deletion failed before', volume('Failed'), 'delete'],
  ['released and kept', volume('Released', RETAIN, { finalizers: [PROTECTION] }), 'nothing'],
  ['deleted while in use', volume('Bound', {}, LEAVING), 'nothing'],
  [
    'deleted before its claim, which is gone now',
    volume('Released', {}, { ...LEAVING, finalizers: [FINALIZER] }),
    'delete',
  ],
  ['its data are gone', volume('Released', {}, { ...LEAVING, finalizers: [PROTECTION] }), 'nothing'],
  ['its policy was changed to keep it', volume('Bound', RETAIN), PROTECTION],
  [
    'its policy was changed to delete it',
    volume('Bound', {}, { finalizers: [PROTECTION] }),
    `${PROTECTION},${FINALIZER}`,
  ],
  [
    'a path outside',
    volume('Released', { local: { path: '/etc' } }),
    'VolumeFailedDelete: the path "/etc" is not the folder of this volume, "/v/pvc-1"; nothing is removed',
  ],
  [
    'the folder of another volume',
    volume('Released', { local: { path: '/v/pvc-2' } }),
    'VolumeFailedDelete: the path "/v/pvc-2" is not the folder of this volume, "/v/pvc-1"; nothing is removed',
  ],
  [
    'a way out of the folder',
    volume('Released', { local: { path: '/v/pvc-1/../../etc' } }),
    'VolumeFailedDelete: the path "/v/pvc-1/../../etc" is not the folder of this volume, "/v/pvc-1"; nothing is removed',
  ],
  ['of another provisioner', volume('Released', {}, OTHERS), 'nothing'],
  [
    'made by hand, to be deleted',
    volume('Released', {}, { annotations: {} }),
    'VolumeFailedDelete: error getting deleter volume plugin for volume "pvc-1": no deletable volume plugin matched',
  ],
  [
    'made by hand, to be recycled',
    volume('Released', { persistentVolumeReclaimPolicy: 'Recycle' }, { annotations: {} }),
    'VolumeFailedRecycle: No recycler plugin found for the volume!',
  ],
  ['made by hand and kept', volume('Released', RETAIN, { annotations: {} }), 'nothing'],
]

describe('computeVolumeStep()', () => {
  for (const [what, given, expected] of rows)
    test(what, () => assert.equal(show(computeVolumeStep(given, '/v')), expected))
})
